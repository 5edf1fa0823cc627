/** The CEL interpreter, loaded at first use: a server without rules does not wait for it to start. */

import type * as Cel from "@marcbachmann/cel-js";

type CelLibrary = typeof Cel;

let library: CelLibrary | undefined;

export function celLibrary(): CelLibrary {
  // Synchronous, since objects are checked synchronously; the bundler follows it like an import.
  library ??= require("@marcbachmann/cel-js") as CelLibrary;
  return library;
}
