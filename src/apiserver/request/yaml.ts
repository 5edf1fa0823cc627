/** YAML in requests and answers. */
import { parse, stringify } from "yaml";

/** @throws Error in the words of the parser. */
export function decodeYaml(text: string): unknown {
  return parse(text, { uniqueKeys: false, version: "1.1", schema: "core" });
}

/** What Go's parser says of text that is not YAML. */
export function yamlProblem(error: unknown): string {
  const message = error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
  if (message.startsWith("Nested mappings are not allowed")) return "mapping values are not allowed in this context";
  return message.replace(/ at line (\d+), column \d+:$/, "");
}

/** JSON as YAML. */
export function encodeYaml(json: string | Uint8Array): string {
  const text = typeof json === "string" ? json : new TextDecoder().decode(json);
  const yaml = stringify(JSON.parse(text), {
    lineWidth: 0,
    sortMapEntries: true,
    aliasDuplicateObjects: false,
    indentSeq: false,
    schema: "yaml-1.1", // quotes what older parsers would take for times and truth values
  });
  // A lone point is a number to that schema and to nobody else; managed fields are full of them.
  return yaml.replace(/^([ -]*)"\.":/gm, "$1.:");
}
