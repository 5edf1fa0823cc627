/**
 * Packages that are loaded by their first use, and synchronously, because what needs them is: the bundler follows `require`
 * like an import.
 */
import type * as CelLibrary from "@marcbachmann/cel-js";
import type * as Re2Library from "re2js";

/** The CEL interpreter. */
export function celLibrary(): typeof CelLibrary {
  return require("@marcbachmann/cel-js") as typeof CelLibrary;
}

/** Regular expressions of RE2. */
export function re2Library(): typeof Re2Library {
  return require("re2js") as typeof Re2Library;
}
