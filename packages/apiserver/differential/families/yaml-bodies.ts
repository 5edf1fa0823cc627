/** What bodies in YAML mean: scalars of YAML 1.1, anchors, keys, several documents, and texts that are none. */
import type { Family, Probe } from "./family.ts";
import { collectionOf, gadget, prepareKinds } from "../kinds.ts";

const scalars = [
  ..."yes no on y True tRUE null ~ 0x1F 0o17 017 0b11 1_000 1e3 .5 +1 +.inf .nan 1:30 2020-01-02 2020-01-02T03:04:05Z 1.0".split(
    " ",
  ),
  "",
  "100000000000000000000000",
  "!!str 1",
  "!!int '1'",
  "!!float 1",
  "!!bool yes",
  "!!null ''",
  "!!binary aGk=",
  "'1'",
  '"a\\tb\\u0041\\x41\\n"',
  "a#b",
  "a #b",
  "[1, yes, 'x', ~]",
  "{1: 2, yes: no}",
  "|\n    one\n    two",
  "|-\n    one",
  ">\n    one\n    two",
];

/** The end of a body, which begins with the version, the kind and the name of an object. */
const ends = [
  "spec: {size: 1}\n---\nspec: {size: 2}",
  "spec: {size: 1}\n...",
  "spec: {size: 1, size: 2}",
  "spec:\n  free: &a {b: 1}\n  map: *a",
  "spec:\n  free:\n    <<: {a: 1}\n    b: 2",
  "spec:\n\tsize: 1",
  "spec: {size: 1",
  "spec: [",
  "- a",
  "1: a",
  "true: a",
  "? a\n: b",
];

async function yamlBodies(probe: Probe): Promise<void> {
  await prepareKinds(probe.session);
  const collection = collectionOf(gadget, probe.namespace);
  await probe.quietly("POST", collection, { apiVersion: gadget.apiVersion, kind: "Gadget", metadata: { name: "one" } });
  for (const end of [...scalars.map((scalar) => `spec:\n  free:\n   a: ${scalar}`), ...ends]) {
    const body = `apiVersion: ${gadget.apiVersion}\nkind: Gadget\nmetadata: {name: one}\n${end}\n`;
    await probe.patch(`apply ${end}`, `${collection}/one?fieldManager=m&dryRun=All`, body, "apply");
    const headers = { "content-type": "application/yaml" };
    const query = "?dryRun=All&fieldValidation=Strict";
    await probe.send(`create ${end}`, "POST", `${collection}${query}`, { body: body.replace("one", "two"), headers });
  }
  for (const body of ["", "null", "[]", "---", "# a comment", "text"]) {
    await probe.patch(`apply ${JSON.stringify(body)}`, `${collection}/one?fieldManager=m`, body, "apply");
  }
}

export const yaml: Family = { name: "bodies in YAML", run: yamlBodies };
