/**
 * Packages that are loaded at their first use, and synchronously, because their users are synchronous. The bundler
 * follows `require` like an import.
 */
import type * as CelLibrary from "@marcbachmann/cel-js";
import type * as Re2Library from "re2js";
import type * as YamlLibrary from "yaml";

/** The CEL interpreter. */
export function celLibrary(): typeof CelLibrary {
  return require("@marcbachmann/cel-js") as typeof CelLibrary;
}

/** Regular expressions of RE2. */
export function re2Library(): typeof Re2Library {
  return require("re2js") as typeof Re2Library;
}

/** The reader and writer of YAML. */
export function yamlLibrary(): typeof YamlLibrary {
  return require("yaml") as typeof YamlLibrary;
}
