/**
 * The binary's entry, the only file that knows what is embedded.
 *
 * When it is loaded before tests, it offers them the same packages instead: see `cli/test.ts`.
 */
import { cli } from "./cli/cli.ts";
import { commandIndex } from "./cli/commands.ts";
import { withCommand } from "./cli/operator.ts";
import { type BuiltInOperator, builtInModules } from "./loader/built-in.ts";
import { writeToStandardError } from "./observe/standard-error.ts";
import { writeToStandardOutput } from "./observe/standard-output.ts";
import { beginAnew } from "./platform/bun/begin-anew.ts";
import type { OfferedPackages } from "./platform/module-host.ts";
import project from "../package.json" with { type: "json" };

/** The version and its commit, which the build sets. */
declare const BUILD_VERSION: string | undefined;
/** What `binnacle build` makes of this program, put in place by it. */
declare const BUILD_OPERATOR: BuiltInOperator | undefined;

/** Returns what modules may import from inside the binary, by exact names. */
async function offered(): Promise<OfferedPackages> {
  const [binnacle, cache, resources, zod, hono] = await Promise.all([
    import("./index.ts"),
    import("./cache/index.ts"),
    import("./resource/builtin/index.ts"),
    import("zod"),
    import("hono"),
  ]);
  return {
    binnacle,
    "binnacle/cache": cache,
    "binnacle/resources": resources,
    // It brings an API server and a cluster, which only tests need, so controllers do not load it.
    "binnacle/testing": () => import("./testing/index.ts"),
    zod,
    hono,
    // Few modules make pages, so this is loaded with the first one that does.
    "hono/jsx": () => import("hono/jsx"),
    "hono/jsx/jsx-runtime": () => import("hono/jsx/jsx-runtime"),
    "hono/jsx/jsx-dev-runtime": () => import("hono/jsx/jsx-dev-runtime"),
  };
}

/** Packed by `scripts/pack-sdk.ts` before the build; absent when the sources run without a build. */
async function sdk(): Promise<string | undefined> {
  try {
    return (await import("../dist/sdk.json.zst", { with: { type: "file" } })).default;
  } catch {
    return undefined;
  }
}

async function main(): Promise<void> {
  const built = typeof BUILD_VERSION === "string";
  const operator = typeof BUILD_OPERATOR === "object" ? BUILD_OPERATOR : undefined;
  const given = process.argv.slice(2);
  const args = withCommand(given, operator);
  if (built) beginAnew(given, { isTuned: args[commandIndex(args)] === "run" });
  const status = await cli(args, {
    embedded: {
      version: built ? BUILD_VERSION : project.version,
      dependencies: project.dependencies,
      offered,
      sdk,
      stallThread: new URL("./manager/stall-thread.ts", import.meta.url).href,
      source: built ? undefined : import.meta.path,
      operator: operator && { name: operator.name, modules: builtInModules(operator, import.meta.dirname) },
    },
    env: process.env,
    out: writeToStandardOutput,
    err: writeToStandardError,
  });
  // A module's open handles must not keep the process alive, but its output must be written first.
  process.stdout.write("", () => process.exit(status));
}

if (import.meta.main) await main();
else (await import("./cli/test-preload.ts")).prepareTests(await offered());
