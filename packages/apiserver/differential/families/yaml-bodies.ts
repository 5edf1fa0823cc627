/** Bodies in YAML: broken, odd and unusual ones, for creates and applies. */
import type { Family, Probe } from "./family.ts";
import { collectionOf, configMap, gadget, type Kind, prepareKinds } from "./kinds.ts";

const apply = "application/apply-patch+yaml";

/** Complete bodies. */
const bodies: readonly string[] = [
  "",
  " ",
  "\n\n",
  "null",
  "~",
  "[]",
  "{}",
  "1",
  "1.5",
  "text",
  '"text"',
  "true",
  "- a\n- b",
  "---",
  "---\n---\n",
  "# a comment",
  "{",
  "[",
  "}",
  "]",
  ",",
  ":",
  "?",
  "-",
  "&",
  "*",
  "!",
  "|",
  ">",
  "@",
  "`",
  "'",
  '"',
  "a",
  "a: b: c",
  "a:\n\tb: c",
  "\ta: b",
  "a: b\n c: d",
  "a: b\n  c: d",
  "a:\n  b: c\n d: e",
  "a: [b, c",
  "a: {b: c",
  "a: 'b",
  'a: "b',
  "a: b\nc",
  "a: b\nc\nd: e",
  "a: b\n- c",
  "- a\nb: c",
  "- a\n b",
  "a: *b",
  "a: &b 1\nc: *b",
  "a: &b\n  c: 1\nd: *b",
  "a: &b [*b]",
  "<<: 1",
  "<<: {a: 1}",
  "a: !!int x",
  "a: !!binary x",
  "a: !foo x",
  "!!map {a: b}",
  "%YAML 1.1\n---\na: b",
  "%YAML 1.1\na: b",
  "{{ template }}",
  "a: {{ template }}",
  "a: @b",
  "a: `b`",
  "a: %b",
  'a: "\\q"',
  'a: "\\x4"',
  'a: "\\u12"',
  "a: 'it''s",
  "? a\n: b",
  "? [a, b]\n: c",
  "1: a",
  "true: a",
  "null: a",
  "1.5: a",
  "[a]: b",
  "{a: b}: c",
  "a: b\r\nc: d\r\n",
  "\ufeffa: b",
  "a: \u0000b",
  "a: \u0007b",
  "a: |\n  b\n c",
  "a: |9\n  b",
  "a: |0\n  b",
  "a: |x\n  b",
  "a: >-\n\n  b\n\n  c\n",
  "a:b",
  "a : b",
  "a:\n- b\n- c",
  "a: - b",
  "a: [b\nc: d",
  "a: ]",
  "a: }",
  "a: b]",
  "a: [b}",
  "a: {b]",
  "a: [b, , c]",
  "a: [,]",
  "a: {,}",
  "a: {b, c}",
  "a: {b: c, b: d}",
  "a: b\na: c",
  "a: b\n\na: c\na: d",
  "a: {b: 1}\nc: {d: 1, d: 2}",
  "a: b #c\n#d\n e: f",
  "--- a: b",
  "---\na: b\n---\nc: d",
  "---\na: b\n...\nc: d",
  "a: b\n...",
  "a: b\n---\n{",
  "apiVersion: v1\nkind: ConfigMap\n metadata: {}",
  "apiVersion: v1\nkind: ConfigMap\nmetadata:\nname: one",
  "apiVersion: v1\nkind ConfigMap",
  "apiVersion: v1\nkind:ConfigMap\nmetadata:\n  name: one",
  '{"apiVersion": "v1", "kind": "ConfigMap"',
  '{"apiVersion": "v1",, "kind": "ConfigMap"}',
  "{'apiVersion': 'v1'}",
  '{"a": 01}',
  '{"a": .5}',
  '{"a": \t1}',
  '{\n\t"a": 1}',
];

/** Scalars in place of a text, of a number and of an untyped field. */
const scalars: readonly string[] = [
  "yes",
  "no",
  "on",
  "y",
  "True",
  "TRUE",
  "tRUE",
  "null",
  "Null",
  "~",
  "",
  "0x1F",
  "0o17",
  "017",
  "0b11",
  "-0b11",
  "1_000",
  "1e3",
  "1.5e3",
  ".5",
  "5.",
  "+1",
  "-1",
  "+.inf",
  "-.INF",
  ".nan",
  "1:30",
  "190:20:30",
  "2020-01-02",
  "2020-01-02T03:04:05Z",
  "2020-01-02 03:04:05",
  "2020-1-2",
  "4294967296",
  "1e400",
  "0.1",
  "100000000000000000000000",
  "1.0",
  "!!str 1",
  "!!int '1'",
  "!!int 1.5",
  "!!float 1",
  "!!bool yes",
  "!!bool x",
  "!!null x",
  "!!null ''",
  "!!binary aGk=",
  "!!timestamp 2020-01-02",
  "!local 1",
  "'1'",
  '"1"',
  '"a\\tb\\u0041\\x41\\n"',
  "=",
  "<<",
  "a b",
  "a#b",
  "a #b",
  "- a",
  "[1, yes, 'x', ~]",
  "{1: 2, yes: no}",
  "|\n    one\n    two",
  "|-\n    one",
  "|+\n    one\n\n",
  ">\n    one\n    two\n\n    three",
  "one\n    two\n\n    three",
];

function around(kind: Kind, field: string, name = "one"): string {
  return `apiVersion: ${kind.apiVersion}\nkind: ${kind.kind}\nmetadata:\n  name: ${name}\n${field}\n`;
}

async function texts(kind: Kind, probe: Probe): Promise<void> {
  await prepareKinds(probe);
  const collection = collectionOf(kind, probe.namespace);
  const one = `${collection}/one?fieldManager=m&dryRun=All`;
  await probe.quietly("POST", collection, { apiVersion: kind.apiVersion, kind: kind.kind, metadata: { name: "one" } });
  const create = async (label: string, body: string, query = ""): Promise<void> => {
    const call = { headers: { "content-type": "application/yaml" }, body };
    await probe.send(`create ${label}`, "POST", `${collection}?dryRun=All${query}`, call);
  };
  const patch = async (label: string, body: string, query = ""): Promise<void> => {
    await probe.send(`apply ${label}`, "PATCH", one + query, { headers: { "content-type": apply }, body });
  };
  for (const body of bodies) {
    await create(JSON.stringify(body), body);
    await patch(JSON.stringify(body), body);
    await create(`strictly ${JSON.stringify(body)}`, body, "&fieldValidation=Strict");
    await patch(`strictly ${JSON.stringify(body)}`, body, "&fieldValidation=Strict");
    const inside = body.replaceAll(/^(?=.)/gm, "    ");
    const field = kind.kind === "ConfigMap" ? "data:\n" : "spec:\n  free:\n";
    await create(`inside ${JSON.stringify(body)}`, around(kind, `${field}${inside}`, "two"));
    await patch(`inside ${JSON.stringify(body)}`, around(kind, `${field}${inside}`));
  }
  const fields =
    kind.kind === "ConfigMap"
      ? ["data:\n  a: ", "immutable: "]
      : ["spec:\n  color: ", "spec:\n  size: ", "spec:\n  free:\n   a: "];
  for (const field of fields) {
    for (const scalar of scalars) {
      await create(`${field}${scalar}`, around(kind, `${field}${scalar}`, "two"));
      await patch(`${field}${scalar}`, around(kind, `${field}${scalar}`));
      await create(`strictly ${field}${scalar}`, around(kind, `${field}${scalar}`, "two"), "&fieldValidation=Strict");
    }
  }
}

export const yamlBodies: readonly Family[] = [configMap, gadget].map((kind) => ({
  name: `yaml ${kind.name}`,
  run: (probe) => texts(kind, probe),
}));
