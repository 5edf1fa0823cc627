/**
 * Packs the types that a user's module is checked against into dist/sdk.json.zst, which the binary embeds. Unpacked,
 * one folder serves `check`, the editor and tests:
 *
 *     tsconfig.json         for a config that says `extends` and `include`; its paths lead into sdk/
 *     sdk/index.d.ts        what "binnacle" is; resources.d.ts and so on are "binnacle/resources" and so on
 *     sdk/src/, packages/   declarations of this project, as far as those reach
 *     sdk/zod.d.ts          what "zod" is; hono.d.ts, hono/jsx.d.ts and so on are the same
 *     sdk/node_modules/     declarations of zod, hono, @types/bun and what those reach
 *
 * `paths` carries no extensions: with `.js` TypeScript would ignore the `.d.ts` beside it. Packages lie in a folder called
 * node_modules because @types/bun looks for bun-types there.
 */

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { BYTECODE_ORDER, filesIn, pack } from "../src/platform/unpack.ts";
import { serverEntries } from "./house/files.ts";
import { parseModule } from "./house/module.ts";

const root = join(import.meta.dirname, "..");
const declarations = join(root, "dist", "types");
const packed = join(root, "dist", "sdk.json.zst");
/** Declares the matchers of `binnacle/testing` for Bun's `expect`. No module imports it, because JSR takes no ambient ones. */
const matcherTypes = "src/testing/bun-matchers.ts";
/** Where the program's code is in the pack. */
const program = "node_modules/binnacle";

/** Writes dist/sdk.json.zst and returns its size in bytes and its number of files. */
export async function packSdk(): Promise<{ bytes: number; files: number }> {
  await rm(declarations, { recursive: true, force: true });
  // The type check reports type errors, so that a build takes no longer than necessary.
  tsc(["-p", join(root, "tsconfig.sdk.json"), "--noCheck", "--noEmitOnError", "false"]);
  await nameServerByPath();
  const entries = { ...ownEntries(), ...packageEntries() };
  const files = {
    ...(await reached(entries)),
    ...entries,
    ...(await code()),
    // Tests use it if their folder has none.
    [`${program}/bunfig.toml`]: "",
    [`${program}/tsconfig.json`]: "{}",
    "tsconfig.json": config(Object.keys(entries)),
  };
  const sorted = Object.fromEntries(Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1)));
  const bytes = pack(sorted);
  await writeFile(packed, bytes);
  return { bytes: bytes.length, files: Object.keys(sorted).length };
}

/** Declarations name the API server's package by its path, because a user's folder has no package of that name. */
async function nameServerByPath(): Promise<void> {
  for await (const file of new Bun.Glob("src/**/*.d.ts").scan(declarations)) {
    const text = await readFile(join(declarations, file), "utf8");
    const byPath = text.replaceAll(/"(binnacle-apiserver[^"]*)"/g, (name, entry: string) => {
      const source = serverEntries[entry];
      return source === undefined ? name : `"${relative(dirname(file), source.replace(/\.ts$/, ".js"))}"`;
    });
    if (byPath !== text) await writeFile(join(declarations, file), byPath);
  }
}

/** Adds to dist/sdk.json.zst in which order the program uses its bytecode, for what `binnacle build` makes of it. */
export async function packOrder(order: string): Promise<void> {
  const files = { ...filesIn(await readFile(packed)), [`${program}/${BYTECODE_ORDER}`]: await readFile(order, "utf8") };
  await writeFile(packed, pack(Object.fromEntries(Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1)))));
}

/** Returns the program as it is loaded before tests, in a folder that coverage leaves out. */
async function code(): Promise<Record<string, string>> {
  const { outputs } = await Bun.build({
    // `binnacle build` makes executables of it, which need the code of the other thread too.
    entrypoints: [join(root, "src", "main.ts"), join(root, "src", "manager", "stall-thread.ts")],
    root: join(root, "src"),
    target: "bun",
    splitting: true,
    minify: { whitespace: true, syntax: true },
    external: ["*/sdk.json.zst"], // the pack itself
  });
  const files = outputs.map(async (output) => [join(program, output.path), await output.text()]);
  return Object.fromEntries(await Promise.all(files)) as Record<string, string>;
}

/** Returns `sdk/index.d.ts` and similar files, from the exports in package.json. */
function ownEntries(): Record<string, string> {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    exports: Record<string, string>;
  };
  const entries = Object.entries(exports).map(([name, file]) => {
    const target = join("sdk", name === "." ? "index" : name);
    const ambient = name === "./testing" ? `import "${emittedFor(target, matcherTypes)}";\n` : "";
    return [`${target}.d.ts`, `${ambient}${reexport(emittedFor(target, file))}`];
  });
  return Object.fromEntries(entries) as Record<string, string>;
}

/** Returns the declarations of a source as a file at `target` imports them. */
function emittedFor(target: string, source: string): string {
  const emitted = source.replace(/^\.\//, "").replace(/\.ts$/, ".d.ts");
  if (!existsSync(join(declarations, emitted)))
    throw new Error(`Cannot pack the SDK: no declarations came out of ${source}`);
  return `./${relative(dirname(target), join("sdk", emitted.replace(/\.d\.ts$/, ".js")))}`;
}

/** Returns `sdk/zod.d.ts` and similar files, for the packages that the binary's entry imports to offer them to modules. */
function packageEntries(): Record<string, string> {
  const { imports } = parseModule(readFileSync(join(root, "src", "program.ts"), "utf8"));
  const names = imports
    .filter(({ from, names }) => names.includes("*") && !from.startsWith("."))
    .map(({ from }) => from.replace(/^#/, "")); // the entry imports some by an alias of the same name
  const entries = names.map((name) => {
    const target = typesOf(name);
    const path = relative(dirname(`sdk/${name}`), join("sdk", target.replace(/\.d\.ts$/, ".js")));
    const hasDefault = parseModule(readFileSync(join(root, target), "utf8")).exports.some(
      (found) => found.name === "default",
    );
    return [`sdk/${name}.d.ts`, reexport(path, hasDefault)];
  });
  return Object.fromEntries(entries) as Record<string, string>;
}

/** The path is relative, because the package's own name leads back here. */
function reexport(path: string, hasDefault = false): string {
  const from = `from "${path.startsWith(".") ? path : `./${path}`}";\n`;
  return `export * ${from}${hasDefault ? `export { default } ${from}` : ""}`;
}

interface Conditions {
  readonly [condition: string]: Conditions | string | undefined;
}

/** Returns the declarations of a package's entry, relative to the project. */
function typesOf(name: string): string {
  const [scope = "", second = "", ...rest] = name.split("/");
  const scoped = scope.startsWith("@");
  const folder = join("node_modules", scoped ? `${scope}/${second}` : scope);
  const inside = [".", ...(scoped ? rest : [second, ...rest]).filter((part) => part !== "")].join("/");
  const manifest = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as {
    types?: string;
    exports?: Conditions;
  };
  const declaration =
    declarationIn(manifest.exports?.[inside], join(root, folder)) ?? (inside === "." ? manifest.types : undefined);
  if (!declaration || !existsSync(join(root, folder, declaration)))
    throw new Error(`Cannot pack the SDK: "${name}" has no declarations`);
  return join(folder, declaration);
}

/** Prefers declarations of `import` to those of `types`, which may be CommonJS. */
function declarationIn(entry: Conditions | string | undefined, folder: string): string | undefined {
  if (entry === undefined) return undefined;
  if (typeof entry === "string") {
    const beside = entry.replace(/\.js$/, ".d.ts");
    return /\.d\.[cm]?ts$/.test(beside) && existsSync(join(folder, beside)) ? beside : undefined;
  }
  const preferred = ["import", "types", "default"].map((condition) => declarationIn(entry[condition], folder));
  return preferred.find((file) => file !== undefined);
}

/** Returns every file that the compiler reads when a module imports everything that is offered, by its name in the pack. */
async function reached(entries: Record<string, string>): Promise<Record<string, string>> {
  const dir = await mkdtemp(join(root, "dist", "probe-"));
  try {
    for (const [name, text] of Object.entries(entries)) {
      const file = join(dir, name);
      await mkdir(dirname(file), { recursive: true });
      const here = relative(dirname(file), root);
      await writeFile(
        file,
        text.replaceAll(
          /"(?:\.\.?\/)+(src|node_modules)\//g,
          (_, top) => `"${here}/${top === "src" ? "dist/types/src" : top}/`,
        ),
      );
    }
    const compilerOptions = { ...options, types: ["bun"], typeRoots: [join(root, "node_modules", "@types")] };
    await writeFile(join(dir, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["sdk"] }));
    const listed = tsc(["-p", join(dir, "tsconfig.json"), "--listFilesOnly"]).split("\n");
    const files: Record<string, string> = {};
    const lib = join("node_modules", "@typescript");
    for (const file of listed) {
      const path = relative(root, file.trim());
      if (file.trim() === "" || path.startsWith(relative(root, dir)) || path.startsWith("..") || path.startsWith(lib))
        continue;
      await keep(files, path);
    }
    return files;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** Keeps the file and the manifest that describes the entries of its package. */
async function keep(files: Record<string, string>, path: string): Promise<void> {
  const own = relative(declarations, join(root, path));
  if (!own.startsWith("..")) {
    files[join("sdk", own)] = readFileSync(join(root, path), "utf8");
    return;
  }
  files[join("sdk", path)] = readFileSync(await realpath(join(root, path)), "utf8");
  for (let folder = dirname(path); !folder.endsWith("node_modules") && folder !== "."; folder = dirname(folder)) {
    const manifest = join(folder, "package.json");
    if (existsSync(join(root, manifest)))
      files[join("sdk", manifest)] ??= slim(readFileSync(join(root, manifest), "utf8"));
  }
}

/** Keeps what module resolution reads of a manifest. */
function slim(text: string): string {
  const { name, version, type, types, typings, main, exports, typesVersions } = JSON.parse(text) as Record<
    string,
    unknown
  >;
  return JSON.stringify({ name, version, type, types, typings, main, exports, typesVersions });
}

const options = {
  target: "esnext",
  module: "preserve",
  moduleResolution: "bundler",
  lib: ["esnext", "dom", "dom.iterable"],
  strict: true,
  noUncheckedIndexedAccess: true,
  verbatimModuleSyntax: true, // a type that is exported as a value fails at run time
  allowImportingTsExtensions: true,
  resolveJsonModule: true,
  jsx: "react-jsx",
  jsxImportSource: "hono/jsx",
  skipLibCheck: true,
  noEmit: true,
};

function config(entries: readonly string[]): string {
  const paths: Record<string, string[]> = {};
  for (const entry of entries) {
    const name = entry.slice("sdk/".length, -".d.ts".length);
    const own = !existsSync(join(root, "node_modules", name.split("/")[0] ?? ""));
    paths[own ? (name === "index" ? "binnacle" : `binnacle/${name}`) : name] = [`./sdk/${name}`];
  }
  const compilerOptions = { ...options, paths, types: ["bun"], typeRoots: ["./sdk/node_modules/@types"] };
  return JSON.stringify({ compilerOptions }, undefined, 2);
}

/** Runs the compiler and returns its output; `--noCheck` leaves only errors that make its output unusable. */
function tsc(args: readonly string[]): string {
  const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
  const { stdout, stderr, status } = spawnSync(process.execPath, [compiler, ...args], {
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  if (status !== 0 && !/error TS90\d\d/.test(stdout))
    throw new Error(`Cannot pack the SDK: tsc ended with ${status}: ${stdout}${stderr}`);
  return stdout;
}

if (import.meta.main) {
  const { bytes, files } = await packSdk();
  console.log(`dist/sdk.json.zst: ${files} files, ${Math.round(bytes / 1024)} KiB`);
}
