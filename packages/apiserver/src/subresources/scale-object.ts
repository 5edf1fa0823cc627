/** The scale of an object: its number of replicas and what belongs to it. */
import type { Fields, KubeObject } from "../hooks.ts";
import { isInteger } from "../numbers.ts";
import type { Resource } from "../registry/resource.ts";

/** The kind of a scale, whatever it scales. */
export const scaleRow = { group: "autoscaling", version: "v1", kind: "Scale", custom: false };

/** Returns the scale of an object, and whether the object specifies its replicas. */
export function scaleOf(resource: Resource, object: KubeObject): { scale: KubeObject; isSaid: boolean } {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const { statusPath, selector } = statusOf(resource, object);
  const replicas = at(object, replicasPath(resource));
  const scale: KubeObject = {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: {
      ...(name === undefined ? {} : { name }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    },
    spec: !isInteger(replicas) || replicas === 0 ? {} : { replicas: Number(replicas) },
    status: { replicas: numberAt(object, statusPath), ...(selector === "" ? {} : { selector }) },
  };
  return { scale, isSaid: isInteger(replicas) };
}

/** Returns the path of the desired number of replicas. */
export function replicasPath({ scale }: Pick<Resource, "scale">): string[] {
  return scale === undefined ? ["spec", "replicas"] : path(scale.specReplicas);
}

/** Returns a copy of an object with another number of replicas. */
export function withReplicas(resource: Resource, object: KubeObject, replicas: number): KubeObject {
  const next = structuredClone(object);
  setAt(next, replicasPath(resource), replicas);
  return next;
}

function statusOf({ scale }: Resource, object: KubeObject): { statusPath: string[]; selector: string } {
  if (scale !== undefined) {
    const selector = scale.labelSelector === undefined ? "" : at(object, path(scale.labelSelector));
    return { statusPath: path(scale.statusReplicas), selector: typeof selector === "string" ? selector : "" };
  }
  const { selector } = (object["spec"] ?? {}) as { selector?: Fields };
  return { statusPath: ["status", "replicas"], selector: selectorText(selector ?? {}) };
}

/** Formats a label selector as text, ordered by key. */
function selectorText(selector: Fields): string {
  const { matchLabels, matchExpressions } = selector as {
    matchLabels?: Record<string, string>;
    matchExpressions?: { key: string; operator: string; values?: string[] }[];
  };
  const isPlain = matchLabels === undefined && matchExpressions === undefined;
  const labels = (isPlain ? selector : (matchLabels ?? {})) as Record<string, string>;
  const parts = Object.entries(labels).map(([key, value]) => [key, `${key}=${value}`] as [key: string, text: string]);
  const words: Readonly<Record<string, string>> = { In: "in", NotIn: "notin" };
  for (const { key, operator, values = [] } of matchExpressions ?? []) {
    const text =
      operator === "Exists"
        ? key
        : operator === "DoesNotExist"
          ? `!${key}`
          : `${key} ${words[operator]} (${values.toSorted().join(",")})`;
    parts.push([key, text]);
  }
  return parts
    .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([, text]) => text)
    .join(",");
}

function path(text: string): string[] {
  return text.split(".").filter((part) => part !== "");
}

function at(object: unknown, names: readonly string[]): unknown {
  let value = object;
  for (const name of names) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Fields)[name];
  }
  return value;
}

function numberAt(object: unknown, names: readonly string[]): number {
  const value = at(object, names);
  return isInteger(value) ? Number(value) : 0;
}

function setAt(object: Fields, names: readonly string[], value: unknown): void {
  let fields = object;
  for (const name of names.slice(0, -1)) {
    fields[name] ??= {};
    fields = fields[name] as Fields;
  }
  fields[names.at(-1) ?? ""] = value;
}
