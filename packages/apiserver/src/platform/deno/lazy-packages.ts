/**
 * Packages that few servers need. They are loaded with the embedded API server, because Deno cannot load them synchronously
 * once modules are loaded through hooks.
 */
import * as cel from "@marcbachmann/cel-js";
import * as re2 from "re2js";
import * as yaml from "yaml";

/** The CEL interpreter. */
export function celLibrary(): typeof cel {
  return cel;
}

/** Regular expressions of RE2. */
export function re2Library(): typeof re2 {
  return re2;
}

/** The reader and writer of YAML. */
export function yamlLibrary(): typeof yaml {
  return yaml;
}
