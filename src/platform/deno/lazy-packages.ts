/** Packages that are loaded by their first use, and synchronously, because what needs them is. */
import { createRequire } from "node:module";
import type * as CelLibrary from "@marcbachmann/cel-js";
import type * as Re2Library from "re2js";

const load = createRequire(import.meta.url);

/** The CEL interpreter. */
export function celLibrary(): typeof CelLibrary {
  return load("@marcbachmann/cel-js") as typeof CelLibrary;
}

/** Regular expressions of RE2. */
export function re2Library(): typeof Re2Library {
  return load("re2js") as typeof Re2Library;
}
