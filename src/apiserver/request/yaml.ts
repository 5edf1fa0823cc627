/** YAML in answers. */
import { stringify } from "yaml";

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
