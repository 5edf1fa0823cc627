/** In which requests others write what they want. */
import { annotationsOf, clone, equal, isMap, type Json, type JsonMap, jsonPatch, mergePatch, metaOf } from "./json.ts";
import { leavesOf, put } from "./leaves.ts";
import type { Random } from "./random.ts";
import { type Shape, shapeUnder } from "./schema.ts";

export interface Request {
  readonly method: "PUT" | "PATCH";
  readonly type: string;
  readonly body: Json;
  readonly manager: string | undefined;
  readonly force?: boolean;
}

interface From {
  readonly live: JsonMap;
  readonly edited: JsonMap;
  readonly shape: Shape;
  readonly random: Random;
  /** The field manager of the controller. */
  readonly ours: string;
}

/** The requests, one after the other; none where the form has no way to say it. */
type Form = (from: From) => readonly Request[];

/** The manager that our entries of managedFields are given to. */
export const RENAMED = "theirs";
/** The manager who creates a child anew from what was kept of it. */
export const BACKUP = "velero";

const managers = [
  "kubectl-edit",
  "kubectl-patch",
  "kubectl",
  "helm",
  "argocd-controller",
  "horizontal-pod-autoscaler",
  undefined,
];
const MERGE = "application/merge-patch+json";
const JSON_PATCH = "application/json-patch+json";
const STRATEGIC = "application/strategic-merge-patch+json";
const APPLY = "application/apply-patch+yaml";

/** An object without what the server keeps in it. */
function written(object: JsonMap): JsonMap {
  const copy = clone(object);
  const metadata = metaOf(copy);
  for (const name of ["managedFields", "resourceVersion", "creationTimestamp", "generation", "uid"])
    delete metadata[name];
  delete copy["status"];
  return copy;
}

const merge: Form = ({ live, edited, random }) => [
  { method: "PATCH", type: MERGE, body: mergePatch(written(live), written(edited)), manager: random.pick(managers) },
];

const json: Form = ({ live, edited, random }) => [
  {
    method: "PATCH",
    type: JSON_PATCH,
    body: jsonPatch(written(live), written(edited)),
    manager: random.pick(managers),
  },
];

const strategic: Form = ({ live, edited, shape, random }) => {
  const body = strategicPatch(written(live), written(edited), shape);
  return [{ method: "PATCH", type: STRATEGIC, body, manager: random.pick(managers) }];
};

/** As `kubectl apply` without `--server-side` does it. */
const kubectlApply: Form = ({ live, edited, shape }) => {
  const from = written(live);
  const to = written(edited);
  const metadata = metaOf(to);
  metadata["annotations"] = { ...annotationsOf(to), "kubectl.kubernetes.io/last-applied-configuration": "{}\n" };
  const body = strategicPatch(from, to, shape);
  return [{ method: "PATCH", type: STRATEGIC, body, manager: "kubectl-client-side-apply" }];
};

/** A patch of built-in kinds, which knows the keys of lists. */
function strategicPatch(from: JsonMap, to: JsonMap, shape: Shape): JsonMap {
  const patch: JsonMap = {};
  for (const key of Object.keys(from)) if (to[key] === undefined) patch[key] = null;
  for (const [key, value] of Object.entries(to)) {
    const old = from[key];
    if (equal(old, value)) continue;
    const inner = shapeUnder(shape, key);
    if (isMap(old) && isMap(value)) patch[key] = strategicPatch(old, value, inner);
    else if (inner.type === "keyed" && inner.mergeKey !== undefined && Array.isArray(old) && Array.isArray(value))
      patch[key] = listPatch(old as JsonMap[], value as JsonMap[], inner);
    else patch[key] = value;
  }
  return patch;
}

function listPatch(from: JsonMap[], to: JsonMap[], shape: Shape & { readonly type: "keyed" }): Json {
  const name = shape.mergeKey!;
  const keys = (list: readonly JsonMap[]): readonly Json[] => list.map((item) => item[name] ?? null);
  const unique = new Set(keys(from)).size === from.length && new Set(keys(to)).size === to.length;
  // Items that share the key of patches, and a new order, can only be said by the whole list.
  const order = keys(from).filter((key) => keys(to).includes(key));
  const common = keys(to).filter((key) => keys(from).includes(key));
  if (!unique || !Bun.deepEquals(order, common)) return [...to, { $patch: "replace" }];
  const items: JsonMap[] = from
    .filter((item) => !keys(to).includes(item[name] ?? null))
    .map((item) => ({ [name]: item[name] ?? null, $patch: "delete" }));
  for (const item of to) {
    const old = from.find((one) => equal(one[name], item[name]));
    if (old === undefined) items.push(item);
    else if (!equal(old, item)) items.push({ ...strategicPatch(old, item, shape.item), [name]: item[name] ?? null });
  }
  return items;
}

const putOf = (body: JsonMap, managedFields: Json | undefined, random: Random): readonly Request[] => {
  delete body["status"];
  const metadata = metaOf(body);
  if (managedFields === undefined) delete metadata["managedFields"];
  else metadata["managedFields"] = managedFields;
  return [{ method: "PUT", type: "application/json", body, manager: random.pick(managers) }];
};

const putAsRead: Form = ({ edited, random }) => putOf(clone(edited), metaOf(edited)["managedFields"], random);
const putBare: Form = ({ edited, random }) => putOf(clone(edited), undefined, random);
const putReset: Form = ({ edited, random }) => putOf(clone(edited), random.pick<Json>([[{}], []]), random);

/** A patch that empties managedFields on the way. */
const patchReset: Form = ({ live, edited, random }) => {
  const body = mergePatch(written(live), written(edited));
  body["metadata"] = { ...metaOf(body), managedFields: [{}] };
  return [{ method: "PATCH", type: MERGE, body, manager: random.pick(managers) }];
};

const entriesOf = (object: JsonMap): JsonMap[] => (metaOf(object)["managedFields"] ?? []) as JsonMap[];

/** The controller's entries go from managedFields, and no others. */
const putWithoutOurs: Form = ({ live, edited, random, ours }) => {
  const left = entriesOf(live).filter(({ manager }) => manager !== ours);
  return putOf(clone(edited), left.length === 0 ? [{}] : left, random);
};

/** The controller's entries have another manager's name afterwards. */
const putRenamed: Form = ({ live, edited, random, ours }) => {
  const renamed = entriesOf(live).map((entry) => (entry["manager"] === ours ? { ...entry, manager: RENAMED } : entry));
  return putOf(clone(edited), renamed, random);
};

/** The part of the object that is otherwise, or new, as somebody would apply it. */
function applied({ live, edited, shape }: From): JsonMap | undefined {
  const was = leavesOf(written(live), shape).all;
  const body: JsonMap = { apiVersion: live["apiVersion"]!, kind: live["kind"]! };
  let count = 0;
  for (const [path, { steps, value }] of leavesOf(written(edited), shape).all) {
    if (equal(was.get(path)?.value, value)) continue;
    put(body, steps, value);
    count++;
  }
  const { name, namespace } = metaOf(live);
  body["metadata"] = { ...metaOf(body), name: name!, namespace: namespace! };
  return count === 0 ? undefined : body;
}

const apply: Form = (from) => {
  const body = applied(from);
  const manager = from.random.pick(["argocd", "flux", "kubectl"]);
  return body === undefined ? [] : [{ method: "PATCH", type: APPLY, body, manager, force: true }];
};

/** A field is taken by an apply, and goes with the next one. */
const applyAndDrop: Form = (from) => {
  const body = applied(from);
  if (body === undefined) return [];
  const { apiVersion, kind, metadata } = body as { apiVersion: string; kind: string; metadata: JsonMap };
  const bare: JsonMap = { apiVersion, kind, metadata: { name: metadata["name"]!, namespace: metadata["namespace"]! } };
  const rest = { method: "PATCH", type: APPLY, manager: "flux", force: true } as const;
  return [
    { ...rest, body },
    { ...rest, body: bare },
  ];
};

/** Somebody uses the controller's own name. */
const asUs: Form = (from) => {
  const { live, edited, ours } = from;
  if (from.random.chance(0.5)) {
    return [{ method: "PATCH", type: MERGE, body: mergePatch(written(live), written(edited)), manager: ours }];
  }
  const body = applied(from);
  return body === undefined ? [] : [{ method: "PATCH", type: APPLY, body, manager: ours, force: true }];
};

export const forms = {
  merge,
  json,
  strategic,
  kubectlApply,
  putAsRead,
  putBare,
  putReset,
  patchReset,
  putWithoutOurs,
  putRenamed,
  apply,
  applyAndDrop,
  asUs,
};
export type FormName = keyof typeof forms;

const weights: readonly (readonly [FormName, number])[] = [
  ["merge", 4],
  ["json", 3],
  ["strategic", 3],
  ["kubectlApply", 1],
  ["putAsRead", 2],
  ["putBare", 2],
  ["putReset", 2],
  ["patchReset", 1],
  ["putWithoutOurs", 1],
  ["putRenamed", 1],
  ["apply", 4],
  ["applyAndDrop", 1],
  ["asUs", 1],
];

export function someForm(random: Random, isCustom: boolean): FormName {
  const name = random.weighted(weights);
  if (!isCustom) return name;
  return name === "strategic" ? "merge" : name === "kubectlApply" ? "json" : name;
}
