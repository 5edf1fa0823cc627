/** The entry for Deno, which runs the sources: `deno run src/main.deno.ts`. */
import { start } from "./program.ts";

await start({
  args: process.argv.slice(2),
  version: undefined,
  // The declarations are those of the sources.
  sdk: () => Promise.resolve(undefined),
  folder: new URL("./", import.meta.url).href,
  source: import.meta.filename,
});
