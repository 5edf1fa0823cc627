/**
 * Both runtimes implement the same: what is imported as `#runtime/<part>` is in a file of each, with the same exports.
 */
import { expect, expectTypeOf, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type * as bunAbout from "./bun/about.ts";
import type * as bunBundler from "./bun/bundler.ts";
import type * as bunCollectGarbage from "./bun/collect-garbage.ts";
import type * as bunCompression from "./bun/compression.ts";
import type * as bunCurrentModule from "./bun/current-module.ts";
import type * as bunFileLock from "./bun/file-lock.ts";
import type * as bunDigest from "./bun/digest.ts";
import type * as bunExitNow from "./bun/exit-now.ts";
import type * as bunFetchSession from "./bun/fetch-session.ts";
import type * as bunGuard from "./bun/guard.ts";
import type * as bunHttpServer from "./bun/http-server.ts";
import type * as bunLoadedFiles from "./bun/loaded-files.ts";
import type * as bunModuleHost from "./bun/module-host.ts";
import type * as bunRegistry from "./bun/registry.ts";
import type * as bunSecureSocket from "./bun/secure-socket.ts";
import type * as bunSelf from "./bun/self.ts";
import type * as bunTestHooks from "./bun/test-hooks.ts";
import type * as bunTestRunner from "./bun/test-runner.ts";
import type * as bunTypeChecker from "./bun/type-checker.ts";
import type * as bunVersions from "./bun/versions.ts";
import type * as bunYaml from "./bun/yaml.ts";
import type * as denoAbout from "./deno/about.ts";
import type * as denoBundler from "./deno/bundler.ts";
import type * as denoCollectGarbage from "./deno/collect-garbage.ts";
import type * as denoCompression from "./deno/compression.ts";
import type * as denoCurrentModule from "./deno/current-module.ts";
import type * as denoFileLock from "./deno/file-lock.ts";
import type * as denoDigest from "./deno/digest.ts";
import type * as denoExitNow from "./deno/exit-now.ts";
import type * as denoFetchSession from "./deno/fetch-session.ts";
import type * as denoGuard from "./deno/guard.ts";
import type * as denoHttpServer from "./deno/http-server.ts";
import type * as denoLoadedFiles from "./deno/loaded-files.ts";
import type * as denoModuleHost from "./deno/module-host.ts";
import type * as denoRegistry from "./deno/registry.ts";
import type * as denoSecureSocket from "./deno/secure-socket.ts";
import type * as denoSelf from "./deno/self.ts";
import type * as denoTestHooks from "./deno/test-hooks.ts";
import type * as denoTestRunner from "./deno/test-runner.ts";
import type * as denoTypeChecker from "./deno/type-checker.ts";
import type * as denoVersions from "./deno/versions.ts";
import type * as denoYaml from "./deno/yaml.ts";

const PARTS: readonly string[] = [
  "about",
  "bundler",
  "collect-garbage",
  "compilers",
  "compression",
  "current-module",
  "digest",
  "exit-now",
  "fetch-session",
  "file-lock",
  "guard",
  "heap-snapshot",
  "http-server",
  "loaded-files",
  "module-host",
  "registry",
  "secure-socket",
  "self",
  "test-hooks",
  "test-runner",
  "type-checker",
  "versions",
  "yaml",
];

test("each runtime has every part", () => {
  const filesOf = (runtime: string) => readdirSync(join(import.meta.dirname, runtime));
  const missing = ["bun", "deno"].flatMap((runtime) => {
    const files = filesOf(runtime);
    return PARTS.filter((part) => !files.includes(`${part}.ts`)).map((part) => `${runtime}/${part}`);
  });
  expect(missing).toEqual([]);
  // What is begun anew is Bun alone; everything else that it has, Deno has too.
  const own = filesOf("bun").filter((file) => !file.endsWith(".test.ts") && file !== "begin-anew.ts");
  expect(own.map((file) => file.replace(/\.ts$/, "")).sort()).toEqual([...PARTS].sort());
});

test("deno.json and jsr.json name the parts, and the packages in the versions of package.json", () => {
  const read = (file: string) => JSON.parse(readFileSync(join(import.meta.dirname, "../..", file), "utf8")) as Manifest;
  const { dependencies, devDependencies, exports, version } = read("package.json");
  const versions = { ...dependencies, ...devDependencies, ...read("packages/apiserver/package.json").dependencies };
  const jsr = read("jsr.json");
  for (const { imports = {} } of [read("deno.json"), jsr]) {
    for (const target of Object.values(imports)) {
      const [, name = "", named] = /^npm:(@?[^@]+)@([^/]+)/.exec(target) ?? [];
      if (named !== undefined) expect(`${name} ${named}`).toBe(`${name} ${versions?.[name]}`);
    }
  }
  expect(Object.keys(jsr.imports ?? {})).toEqual(expect.arrayContaining(PARTS.map((part) => `#runtime/${part}`)));
  expect([jsr.exports, jsr.version]).toEqual([exports, version]);
});

test("nothing that the entries of jsr.json reach declares a module of Bun, which JSR refuses", () => {
  const root = join(import.meta.dirname, "../..");
  const { exports = {}, imports = {} } = JSON.parse(readFileSync(join(root, "jsr.json"), "utf8")) as Manifest;
  const files = new Set(Object.values(exports).map((file) => join(root, file)));
  const ambient: string[] = [];
  // A set takes in the files that are added while it is walked.
  for (const file of files) {
    const source = readFileSync(file, "utf8");
    if (/^\s*declare module "bun/m.test(source)) ambient.push(file);
    for (const [, from = ""] of source.matchAll(/^(?:import|export|\}).*?"([.#][^"]+\.ts|#[^"]+)";$/gm)) {
      const own = imports[from];
      files.add(own === undefined ? join(dirname(file), from) : join(root, own));
    }
  }
  expect(files.size).toBeGreaterThan(100);
  expect(ambient).toEqual([]);
});

interface Manifest {
  readonly version?: string;
  readonly exports?: Readonly<Record<string, string>>;
  readonly imports?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

test("each part has the same exports in both, of the same types", () => {
  expectTypeOf<typeof bunAbout>().toEqualTypeOf<typeof denoAbout>();
  expectTypeOf<typeof bunBundler>().toEqualTypeOf<typeof denoBundler>();
  expectTypeOf<typeof bunCollectGarbage>().toEqualTypeOf<typeof denoCollectGarbage>();
  expectTypeOf<typeof bunCompression>().toEqualTypeOf<typeof denoCompression>();
  expectTypeOf<typeof bunCurrentModule>().toEqualTypeOf<typeof denoCurrentModule>();
  expectTypeOf<typeof bunFileLock>().toEqualTypeOf<typeof denoFileLock>();
  expectTypeOf<typeof bunDigest>().toEqualTypeOf<typeof denoDigest>();
  expectTypeOf<typeof bunExitNow>().toEqualTypeOf<typeof denoExitNow>();
  expectTypeOf<typeof bunFetchSession>().toEqualTypeOf<typeof denoFetchSession>();
  expectTypeOf<typeof bunGuard>().toEqualTypeOf<typeof denoGuard>();
  expectTypeOf<typeof bunHttpServer>().toEqualTypeOf<typeof denoHttpServer>();
  expectTypeOf<typeof bunLoadedFiles>().toEqualTypeOf<typeof denoLoadedFiles>();
  expectTypeOf<typeof bunModuleHost>().toEqualTypeOf<typeof denoModuleHost>();
  expectTypeOf<typeof bunRegistry>().toEqualTypeOf<typeof denoRegistry>();
  expectTypeOf<typeof bunSecureSocket>().toEqualTypeOf<typeof denoSecureSocket>();
  expectTypeOf<typeof bunSelf>().toEqualTypeOf<typeof denoSelf>();
  expectTypeOf<typeof bunTestHooks>().toEqualTypeOf<typeof denoTestHooks>();
  expectTypeOf<typeof bunTestRunner>().toEqualTypeOf<typeof denoTestRunner>();
  expectTypeOf<typeof bunTypeChecker>().toEqualTypeOf<typeof denoTypeChecker>();
  expectTypeOf<typeof bunVersions>().toEqualTypeOf<typeof denoVersions>();
  expectTypeOf<typeof bunYaml>().toEqualTypeOf<typeof denoYaml>();
});
