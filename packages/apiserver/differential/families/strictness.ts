/** Unknown and repeated fields under each `fieldValidation`, in each form of body and each verb. */
import { collectionOf, configMap, deployment, gadget, type Kind, pod, prepareKinds } from "./kinds.ts";
import { type Family, pairs, type Probe } from "./family.ts";

const validations = [
  "",
  "fieldValidation=Strict",
  "fieldValidation=Warn",
  "fieldValidation=Ignore",
  "fieldValidation=x",
  "fieldValidation=",
  "fieldValidation=Strict&fieldValidation=Ignore",
];

/** Bodies of a kind, in JSON after the kind and version; `#` is replaced by the name. */
const mistakes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "config map": {
    fine: '"metadata":{"name":"#"},"data":{"a":"1"}',
    "an unknown field": '"metadata":{"name":"#"},"nope":1',
    "unknown metadata": '"metadata":{"name":"#","nope":{"a":1}}',
    "the same key twice": '"metadata":{"name":"#"},"data":{"a":"1","a":"2"}',
    "the same field twice": '"metadata":{"name":"#"},"data":{},"data":{"b":"2"}',
    "metadata twice": '"metadata":{"name":"#"},"metadata":{"name":"#","labels":{"a":"b"}}',
    "kind twice": '"kind":"ConfigMap","metadata":{"name":"#"}',
    "another case": '"metadata":{"name":"#"},"Data":{"a":"1"}',
    "both cases": '"metadata":{"name":"#"},"data":{"a":"1"},"DATA":{"b":"1"}',
    "another case of metadata": '"Metadata":{"name":"#"}',
    "another case of name": '"metadata":{"name":"#","Name":"x"}',
    "many unknown": `"metadata":{"name":"#"},${Array.from({ length: 12 }, (_, index) => `"n${index}":${index}`).join(",")}`,
    "an empty name of a field": '"metadata":{"name":"#"},"":1',
    "a quoted name of a field": '"metadata":{"name":"#"},"a\\"b":1',
    "a dotted name of a field": '"metadata":{"name":"#"},"a.b[0]":1',
    "a null field": '"metadata":{"name":"#"},"nope":null',
    "an odd owner":
      '"metadata":{"name":"#","ownerReferences":[{"apiVersion":"v1","kind":"A","name":"b","uid":"c","nope":1}]}',
    "an unknown status": '"metadata":{"name":"#"},"status":{}',
  },
  deployment: {
    "unknown in a list":
      '"metadata":{"name":"#"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","nope":1},{"name":"d","image":"i","Nope":2,"ports":[{"containerPort":1,"port":2}]}]}}}',
    "repeated in a list":
      '"metadata":{"name":"#"},"spec":{"replicas":1,"replicas":2,"selector":{"matchLabels":{"a":"b","a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","name":"d","image":"i"}]}}}',
    "another case":
      '"metadata":{"name":"#"},"spec":{"Replicas":3,"selector":{"MatchLabels":{"a":"b"},"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}',
    "a wrong type and unknown":
      '"metadata":{"name":"#"},"spec":{"nope":1,"replicas":"2","selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}',
    "invalid and unknown":
      '"metadata":{"name":"#"},"spec":{"nope":1,"replicas":-2,"selector":{"matchLabels":{"a":"c"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"C","image":""}]}}}',
  },
  pod: {
    "unknown in volumes":
      '"metadata":{"name":"#"},"spec":{"volumes":[{"name":"v","emptyDir":{"nope":1},"nope":{}}],"containers":[{"name":"c","image":"i","env":[{"name":"A","value":"b","nope":1,"valueFrom":null}],"resources":{"limits":{"cpu":"1"},"nope":1}}],"securityContext":{"runAsUser":1,"nope":1}}',
    "unknown in a quantity":
      '"metadata":{"name":"#"},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":{"nope":1}}}}]}',
    "unknown in a probe":
      '"metadata":{"name":"#"},"spec":{"containers":[{"name":"c","image":"i","livenessProbe":{"httpGet":{"port":{"a":1},"nope":1},"tcpSocket":{"port":80,"port":81}}}]}',
  },
  gadget: {
    fine: '"metadata":{"name":"#"},"spec":{"size":1}',
    "an unknown field":
      '"metadata":{"name":"#"},"nope":1,"spec":{"nope":{"a":1},"parts":[{"key":"a","nope":1}],"map":{"a":"b"}}',
    "a repeated field": '"metadata":{"name":"#"},"spec":{"size":1,"size":2},"spec":{"size":3,"map":{"a":"b","a":"c"}}',
    "both of it": '"metadata":{"name":"#"},"nope":1,"nope":2,"spec":{"nope":1,"size":1,"size":1}',
    "unknown where anything goes": '"metadata":{"name":"#"},"spec":{"free":{"a":1,"b":{"c":1,"c":2}}}',
    "unknown metadata": '"metadata":{"name":"#","nope":1,"labels":{"a":"b","a":"c"}},"spec":{}',
    "wrong metadata": '"metadata":{"name":"#","labels":{"a":1}},"spec":{}',
    "metadata of a wrong type":
      '"metadata":{"name":"#","finalizers":"x","annotations":{"a":"b"},"generation":"1"},"spec":{}',
    "invalid and unknown": '"metadata":{"name":"#"},"spec":{"size":1000,"nope":1}',
    "another case": '"metadata":{"name":"#"},"Spec":{"size":1},"spec":{"Size":2}',
    "an unknown status": '"metadata":{"name":"#"},"spec":{},"status":{"nope":1,"replicas":1}',
  },
};

const ofName = new Map<string, Kind>([configMap, deployment, pod, gadget].map((kind) => [kind.name, kind]));

/** Returns YAML that has the same fields, repeated ones included. */
function yamlOf(json: string): string {
  return `# in flow style\n${json}\n`;
}

/** Apply finds several unknown fields in the random order of a map. */
const several: ReadonlySet<string> = new Set(["many unknown", "unknown in a list", "unknown in volumes"]);

async function strict(probe: Probe): Promise<void> {
  await prepareKinds(probe);
  for (const [name, bodies] of Object.entries(mistakes)) {
    const kind = ofName.get(name)!;
    const collection = collectionOf(kind, probe.namespace);
    await probe.quietly("POST", collection, {
      apiVersion: kind.apiVersion,
      kind: kind.kind,
      metadata: { name: "base" },
      ...kind.rest,
    });
    for (const [[label, fields], [index, validation]] of pairs(Object.entries(bodies), [...validations.entries()])) {
      if (index > 3 && label !== "an unknown field" && label !== "both of it") continue;
      const json = (named: string): string =>
        `{"apiVersion":"${kind.apiVersion}","kind":"${kind.kind}",${fields.replaceAll("#", named)}}`;
      const what = `${name} with ${label} ${validation}`;
      const query = `dryRun=All&${validation}`;
      await probe.send(`create ${what}`, "POST", `${collection}?${query}`, { body: json("new") });
      await probe.send(`put ${what}`, "PUT", `${collection}/base?${query}`, { body: json("base") });
      await probe.send(`create yaml ${what}`, "POST", `${collection}?${query}`, {
        body: yamlOf(json("new")),
        headers: { "content-type": "application/yaml" },
      });
      if (!several.has(label)) {
        await probe.send(`apply ${what}`, "PATCH", `${collection}/base?${query}&fieldManager=m&force=true`, {
          body: json("base"),
          headers: { "content-type": "application/apply-patch+yaml" },
        });
        await probe.send(`apply new ${what}`, "PATCH", `${collection}/new?${query}&fieldManager=m`, {
          body: json("new"),
          headers: { "content-type": "application/apply-patch+yaml" },
        });
      }
      for (const type of ["merge", "strategic-merge"]) {
        if (type !== "merge" && kind === gadget) continue;
        await probe.send(`${type} ${what}`, "PATCH", `${collection}/base?${query}`, {
          body: json("base"),
          headers: { "content-type": `application/${type}-patch+json` },
        });
      }
      if (kind.subresources.includes("status"))
        await probe.send(`status ${what}`, "PUT", `${collection}/base/status?${query}`, { body: json("base") });
    }
  }
}

const oddBodies: Readonly<Record<string, string>> = {
  nothing: "",
  spaces: "  \n",
  null: "null",
  true: "true",
  "a number": "1",
  "a text": '"x"',
  "an empty object": "{}",
  "an empty list": "[]",
  "a list of null": "[null]",
  "a list of a list": "[[]]",
  "a list of an object": "[{}]",
  "half an object": '{"metadata":',
  "an object and more": '{"metadata":{"labels":{"a":"b"}}} x',
  "two objects": '{"metadata":{"labels":{"a":"b"}}}{"metadata":{"labels":{"a":"c"}}}',
  "a comma too many": '{"metadata":{"labels":{"a":"b",}}}',
  "single quotes": "{'metadata':{}}",
  yaml: "metadata:\n  labels:\n    a: b\n",
  "a bad escape": '{"metadata":{"labels":{"a":"\\x"}}}',
  "a bad unicode escape": '{"metadata":{"annotations":{"a":"\\ud800"}}}',
  "a control character": '{"metadata":{"annotations":{"a":"\u0001"}}}',
  "an escaped control character": '{"metadata":{"annotations":{"a":"\\u0000\\u001f\\u2028<&>"}}}',
  "a byte order mark": '\ufeff{"metadata":{"labels":{"a":"b"}}}',
  "a comment": '/* x */{"metadata":{}}',
  "null metadata": '{"metadata":null}',
  "metadata of a text": '{"metadata":"x"}',
  "metadata of a list": '{"metadata":[]}',
  "a null name": '{"metadata":{"name":null}}',
  "another name": '{"metadata":{"name":"other"}}',
  "a number as name": '{"metadata":{"name":1}}',
  "another namespace": '{"metadata":{"namespace":"other"}}',
  "another uid": '{"metadata":{"uid":"x"}}',
  "another version": '{"metadata":{"resourceVersion":"1"}}',
  "a version of letters": '{"metadata":{"resourceVersion":"x"}}',
  "a version of a number": '{"metadata":{"resourceVersion":1}}',
  "another creation": '{"metadata":{"creationTimestamp":"2001-01-01T00:00:00Z"}}',
  "a bad creation": '{"metadata":{"creationTimestamp":"yesterday"}}',
  "another deletion": '{"metadata":{"deletionTimestamp":"2001-01-01T00:00:00Z"}}',
  "another kind": '{"kind":"Secret"}',
  "a null kind": '{"kind":null}',
  "a kind of a number": '{"kind":1}',
  "another api version": '{"apiVersion":"v2"}',
  "a null api version": '{"apiVersion":null}',
  "deep nesting": `{"metadata":{"annotations":${'{"a":'.repeat(40)}1${"}".repeat(40)}}}`,
  "very deep nesting": `${'{"a":'.repeat(10_050)}1${"}".repeat(10_050)}`,
  "labels removed": '{"metadata":{"labels":null}}',
  "a bad label": '{"metadata":{"labels":{"a b":"c"}}}',
  "a null label": '{"metadata":{"labels":{"a":null,"keep":null,"none":null}}}',
  "a directive": '{"metadata":{"labels":{"$patch":"replace","z":"1"}}}',
  "a directive of a list": '{"metadata":{"finalizers":["a.b/c"],"$setElementOrder/finalizers":["a.b/c","d.e/f"]}}',
  "a deletion from a list": '{"metadata":{"$deleteFromPrimitiveList/finalizers":["a.b/c"]}}',
  "retained keys": '{"$retainKeys":["metadata"],"metadata":{"labels":{"a":"b"}}}',
  "an unknown directive": '{"$patch":"nope"}',
  "a directive to delete": '{"$patch":"delete"}',
  "managed fields": '{"metadata":{"managedFields":[{"manager":"x"}]}}',
  "no managed fields": '{"metadata":{"managedFields":null}}',
  "an empty key": '{"":1}',
  "a prototype": '{"__proto__":{"a":1},"constructor":{"b":1}}',
};

const oddOperations: Readonly<Record<string, unknown>> = {
  none: [],
  "an unknown operation": [{ op: "nope", path: "/metadata" }],
  "no operation": [{ path: "/metadata/labels" }],
  "an operation of a number": [{ op: 1, path: "/metadata" }],
  "no path": [{ op: "add", value: 1 }],
  "a path of a number": [{ op: "add", path: 1, value: 1 }],
  "no value": [{ op: "add", path: "/metadata/labels/x" }],
  "a null value": [{ op: "add", path: "/metadata/labels", value: null }],
  "a null label": [{ op: "add", path: "/metadata/labels/x", value: null }],
  "a label": [{ op: "add", path: "/metadata/labels/x", value: "1" }],
  "the whole": [{ op: "replace", path: "", value: {} }],
  "the whole as a list": [{ op: "replace", path: "", value: [] }],
  "a removed whole": [{ op: "remove", path: "" }],
  "a tested whole": [{ op: "test", path: "", value: {} }],
  "an added whole": [{ op: "add", path: "", value: { kind: "ConfigMap" } }],
  "a path without slash": [{ op: "add", path: "metadata/labels/x", value: "1" }],
  "a root field": [{ op: "add", path: "/", value: "1" }],
  "a trailing slash": [{ op: "add", path: "/metadata/labels/", value: "1" }],
  escapes: [{ op: "add", path: "/metadata/labels/a.b~1c", value: "1" }],
  "a bad escape": [{ op: "add", path: "/metadata/labels/a~2c", value: "1" }],
  "removed but absent": [{ op: "remove", path: "/metadata/labels/nope" }],
  "removed below absent": [{ op: "remove", path: "/nope/nope" }],
  "replaced but absent": [{ op: "replace", path: "/metadata/labels/nope", value: "1" }],
  "added below absent": [{ op: "add", path: "/nope/nope", value: "1" }],
  "a test that fails": [{ op: "test", path: "/metadata/name", value: "x" }],
  "a test that holds": [{ op: "test", path: "/metadata/name", value: "base" }],
  "a test of absence": [{ op: "test", path: "/metadata/nope", value: null }],
  "a test without value": [{ op: "test", path: "/metadata/nope" }],
  "a test of an object": [{ op: "test", path: "/metadata/labels", value: { keep: "1" } }],
  "a test of an order": [{ op: "test", path: "/metadata/finalizers", value: ["d.e/f", "a.b/c"] }],
  "an index": [{ op: "add", path: "/metadata/finalizers/0", value: "x.y/z" }],
  "the end": [{ op: "add", path: "/metadata/finalizers/-", value: "x.y/z" }],
  "beyond the end": [{ op: "add", path: "/metadata/finalizers/9", value: "x.y/z" }],
  "a negative index": [{ op: "add", path: "/metadata/finalizers/-1", value: "x.y/z" }],
  "a very negative index": [{ op: "remove", path: "/metadata/finalizers/-9" }],
  "an index of letters": [{ op: "add", path: "/metadata/finalizers/x", value: "x.y/z" }],
  "a padded index": [{ op: "replace", path: "/metadata/finalizers/01", value: "x.y/z" }],
  "a removed end": [{ op: "remove", path: "/metadata/finalizers/-" }],
  "a replaced end": [{ op: "replace", path: "/metadata/finalizers/-", value: "x.y/z" }],
  "a copy": [{ op: "copy", from: "/metadata/name", path: "/metadata/labels/n" }],
  "a copy of an object": [{ op: "copy", from: "/metadata/labels", path: "/metadata/annotations" }],
  "a copy of nothing": [{ op: "copy", from: "/metadata/nope", path: "/metadata/labels/n" }],
  "a copy from nowhere": [{ op: "copy", path: "/metadata/labels/n" }],
  "a move": [{ op: "move", from: "/metadata/labels/keep", path: "/metadata/labels/kept" }],
  "a move into itself": [{ op: "move", from: "/metadata/labels", path: "/metadata/labels/x" }],
  "a move of nothing": [{ op: "move", from: "/metadata/labels/nope", path: "/metadata/labels/kept" }],
  "a move onto itself": [{ op: "move", from: "/metadata/labels", path: "/metadata/labels" }],
  "below a text": [{ op: "add", path: "/metadata/name/x", value: 1 }],
  "an extra field": [{ op: "add", path: "/metadata/labels/x", value: "1", nope: 1 }],
  "another name": [{ op: "replace", path: "/metadata/name", value: "x" }],
  "no name": [{ op: "remove", path: "/metadata/name" }],
  "another kind": [{ op: "replace", path: "/kind", value: "Secret" }],
  "no kind": [{ op: "remove", path: "/kind" }],
  "no api version": [{ op: "remove", path: "/apiVersion" }],
  "no metadata": [{ op: "remove", path: "/metadata" }],
  "no version": [{ op: "remove", path: "/metadata/resourceVersion" }],
  "a null operation": [null],
  "a text": ["x"],
};

const types = [
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
  "application/apply-patch+yaml",
  "application/json-patch+json",
  "application/json",
  "application/yaml",
  "application/apply-patch+cbor",
  "application/vnd.kubernetes.protobuf",
  "text/plain",
  "",
  "application/merge-patch+json; charset=utf-8",
  "APPLICATION/MERGE-PATCH+JSON",
];

async function oddPatches(probe: Probe): Promise<void> {
  await prepareKinds(probe);
  for (const kind of [configMap, gadget, deployment]) {
    const collection = collectionOf(kind, probe.namespace);
    const metadata = { name: "base", labels: { keep: "1" }, finalizers: ["a.b/c", "d.e/f"] };
    await probe.quietly("POST", collection, { apiVersion: kind.apiVersion, kind: kind.kind, metadata, ...kind.rest });
    for (const [[label, body], [index, type]] of pairs(Object.entries(oddBodies), [...types.entries()])) {
      if (index > 2 && label.length % 4 !== 1) continue;
      const query = type.includes("apply") ? "dryRun=All&fieldManager=m&force=true" : "dryRun=All";
      await probe.send(`${kind.name} ${label} as ${type}`, "PATCH", `${collection}/base?${query}`, {
        body,
        headers: { "content-type": type },
      });
    }
    for (const [label, body] of Object.entries(oddOperations))
      await probe.send(`${kind.name} operations ${label}`, "PATCH", `${collection}/base?dryRun=All`, {
        body: JSON.stringify(body),
        headers: { "content-type": "application/json-patch+json" },
      });
    for (const [label, body] of Object.entries(oddBodies)) {
      await probe.send(`${kind.name} post ${label}`, "POST", `${collection}?dryRun=All`, { body });
      await probe.send(`${kind.name} put ${label}`, "PUT", `${collection}/base?dryRun=All`, { body });
      if (kind === configMap)
        await probe.send(`${kind.name} delete ${label}`, "DELETE", `${collection}/base?dryRun=All`, { body });
    }
    for (const [method, type] of pairs(["POST", "PUT", "DELETE"], types)) {
      const path = method === "POST" ? `${collection}?dryRun=All` : `${collection}/base?dryRun=All`;
      const body = JSON.stringify({
        apiVersion: kind.apiVersion,
        kind: kind.kind,
        metadata: { name: "base" },
        ...kind.rest,
      });
      await probe.send(`${kind.name} ${method} as ${type}`, method, path, {
        body: method === "DELETE" ? "{}" : body,
        headers: { "content-type": type },
      });
    }
    await probe.merge(`${collection}/base`, { metadata: { finalizers: null } });
  }
}

export const strictness: readonly Family[] = [
  { name: "strictness", run: strict },
  { name: "odd patches", run: oddPatches },
];
