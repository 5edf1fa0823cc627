/** The CEL interpreter, which is loaded at its first use, so that a server without rules starts without it. */

import type * as Cel from "@marcbachmann/cel-js";
import { celLibrary as load } from "#platform/lazy-packages";

type CelLibrary = typeof Cel;

let library: CelLibrary | undefined;

export function celLibrary(): CelLibrary {
  // The library is loaded synchronously because objects are checked synchronously.
  library ??= load();
  return library;
}
