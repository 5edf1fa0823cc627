/**
 * The entry for Bun, which the executable is made of.
 *
 * When it is loaded before tests, it offers them the same packages instead: see `cli/test.ts`.
 */
import { compileReluctantly } from "#runtime/compilers";
import { commandIndex } from "./cli/commands.ts";
import { memoryGiven } from "./cli/memory-option.ts";
import { actingAs } from "./cli/envtest/asset-name.ts";
import { withCommand } from "./cli/operator.ts";
import { type BuiltInOperator, builtInModules } from "./loader/built-in.ts";
import { beginAnew } from "./platform/bun/begin-anew.ts";
import { memoryLimit } from "./platform/memory-limit.ts";
import { offered, start } from "./program.ts";

/** The version and its commit, which the build sets. */
declare const BUILD_VERSION: string | undefined;
/** The operator that `binnacle build` puts in place of this name. */
declare const BUILD_OPERATOR: BuiltInOperator | undefined;

/** Packed by `scripts/pack-sdk.ts` before the build; absent when the sources run without a build. */
async function sdk(): Promise<string | undefined> {
  try {
    return (await import("../dist/sdk.json.zst", { with: { type: "file" } })).default;
  } catch {
    return undefined;
  }
}

async function main(): Promise<void> {
  const version = typeof BUILD_VERSION === "string" ? BUILD_VERSION : undefined;
  const operator = typeof BUILD_OPERATOR === "object" ? BUILD_OPERATOR : undefined;
  const commandLine = process.argv.slice(2);
  const acting = operator === undefined ? actingAs(process.argv0, commandLine) : undefined;
  const args = acting ?? withCommand(commandLine, operator);
  if (version !== undefined) {
    const isTuned = args[commandIndex(args)] === "run";
    beginAnew(commandLine, { isTuned, memory: () => memoryLimit(memoryGiven(args, process.env))?.bytes });
    // When an operator starts, little is worth compiling; the other commands compute more.
    if (isTuned) compileReluctantly();
  }
  await start({
    args,
    version,
    sdk,
    folder: new URL("./", import.meta.url).href,
    source: version === undefined ? import.meta.path : undefined,
    operator: operator && { name: operator.name, modules: builtInModules(operator, import.meta.dirname) },
  });
}

if (import.meta.main) await main();
else (await import("./cli/test-preload.ts")).prepareTests(await offered());
