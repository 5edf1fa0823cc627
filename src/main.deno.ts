/**
 * The entry for Deno, which runs the sources: `deno run src/main.deno.ts`.
 *
 * When it is loaded before tests, it prepares for them instead: see `cli/test.ts`.
 */
import { readOnlyPermittedVariables } from "./platform/deno/environment.ts";

readOnlyPermittedVariables();
// Packages read the environment when they are loaded.
const { offered, start } = await import("./program.ts");

if (import.meta.main) {
  await start({
    args: process.argv.slice(2),
    version: undefined,
    // The declarations are part of the sources.
    sdk: () => Promise.resolve(undefined),
    folder: new URL("./", import.meta.url).href,
    source: import.meta.filename,
  });
} else {
  (await import("./cli/test-preload.ts")).prepareTests(await offered());
}
