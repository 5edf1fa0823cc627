/** YAML in requests and answers. */
import { parse, stringify } from "yaml";

/** @throws Error in the words of the parser. */
export function decodeYaml(text: string): unknown {
  return parse(text, { uniqueKeys: false, version: "1.1", schema: "core" });
}

/** JSON as YAML. */
export function encodeYaml(json: string | Uint8Array): string {
  const text = typeof json === "string" ? json : new TextDecoder().decode(json);
  return stringify(JSON.parse(text), { lineWidth: 0, sortMapEntries: true, aliasDuplicateObjects: false });
}
