/** The CEL interpreter, which is loaded at its first use, so that a server without rules starts without it. */

import type * as Cel from "@marcbachmann/cel-js";

type CelLibrary = typeof Cel;

let library: CelLibrary | undefined;

export function celLibrary(): CelLibrary {
  // This is synchronous because objects are checked synchronously; the bundler follows it like an import.
  library ??= require("@marcbachmann/cel-js") as CelLibrary;
  return library;
}
