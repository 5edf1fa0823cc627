/** YAML in requests and answers. */
import { type Document, parseAllDocuments, type ScalarTag, stringify } from "yaml";

/** What the older YAML of the server's parser takes for truth values and numbers. */
const older: readonly ScalarTag[] = [
  {
    tag: "tag:yaml.org,2002:bool",
    default: true,
    test: /^(?:[Yy]|[Yy]es|YES|[Tt]rue|TRUE|[Oo]n|ON)$/,
    resolve: () => true,
  },
  {
    tag: "tag:yaml.org,2002:bool",
    default: true,
    test: /^(?:[Nn]|[Nn]o|NO|[Ff]alse|FALSE|[Oo]ff|OFF)$/,
    resolve: () => false,
  },
  {
    tag: "tag:yaml.org,2002:int",
    default: true,
    test: /^[-+]?0[0-7_]+$/,
    resolve: (text) => Number.parseInt(text.replaceAll("_", ""), 8),
  },
];

/** The first document of a text. @throws Error in the words of the parser. */
export function decodeYaml(text: string): unknown {
  const document = firstDocument(text, false);
  const [error] = document?.errors ?? [];
  if (error !== undefined) throw error;
  return document?.toJS() ?? null;
}

function firstDocument(text: string, uniqueKeys: boolean): Document.Parsed | undefined {
  const documents = parseAllDocuments(text, {
    uniqueKeys,
    version: "1.1",
    schema: "core",
    customTags: (tags) => [...older, ...tags],
  });
  return Array.isArray(documents) ? documents[0] : undefined;
}

/** The keys that a map has twice, as strict decoding names them: `line 7: key "a" already set in map`. */
export function repeatedKeys(text: string): string[] {
  const errors = firstDocument(text, true)?.errors ?? [];
  return errors
    .filter(({ code }) => code === "DUPLICATE_KEY")
    .map(({ pos: [start] }) => {
      const line = text.slice(0, start).split("\n").length;
      const key = /^("[^"]*"|'[^']*'|[^:\s]+)/.exec(text.slice(start))?.[0].replace(/^["']|["']$/g, "") ?? "";
      return `line ${line}: key ${JSON.stringify(key)} already set in map`;
    });
}

/** What Go's parser says of text that is not YAML. */
export function yamlProblem(error: unknown): string {
  const message = error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
  const line = /at line (\d+),/.exec(message)?.[1];
  // The first line has the number 0 there, which is not said.
  const at = line === undefined || line === "1" ? "" : `line ${line}: `;
  if (message.startsWith("Nested mappings are not allowed"))
    return `${at}mapping values are not allowed in this context`;
  if (message.startsWith("Tabs are not allowed")) return `${at}found character that cannot start any token`;
  if (message.startsWith("Flow ")) return `${at}did not find expected node content`;
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
