/** Converts `metadata.managedFields` to sets by manager, and back in the server's order. */
import type { Fields } from "../hooks.ts";
import { type FieldsV1, FieldSet } from "./field-set.ts";

/** The fields of one manager. */
export interface Managed {
  readonly set: FieldSet;
  readonly apiVersion: string;
  readonly applied: boolean;
  readonly time: string | undefined;
}

/** Managers by {@link managerKey}. The map belongs to one request. */
export type Managers = Map<string, Managed>;

export interface ManagerName {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly subresource: string;
}

/** Returns the JSON by which the server identifies and orders managers; one that applies is the same in every version. */
export function managerKey({ manager, operation, apiVersion, subresource }: ManagerName): string {
  return JSON.stringify({
    ...(manager === "" ? {} : { manager }),
    operation,
    ...(operation === "Apply" ? {} : { apiVersion }),
    ...(subresource === "" ? {} : { subresource }),
  });
}

/** Parses a key that {@link managerKey} made. */
export function managerName(key: string): ManagerName {
  return { manager: "", apiVersion: "", subresource: "", ...(JSON.parse(key) as object) } as ManagerName;
}

/** Parses managedFields. @returns `undefined` when they are malformed */
export function decodeManagers(entries: readonly (Fields | null)[] | undefined): Managers | undefined {
  const managers: Managers = new Map();
  for (const entry of entries ?? []) {
    const { manager = "", operation, apiVersion, fieldsType, fieldsV1, subresource = "", time } = entry ?? {};
    if (operation !== "Apply" && operation !== "Update") return undefined;
    if (typeof apiVersion !== "string" || apiVersion === "" || fieldsType !== "FieldsV1") return undefined;
    if (!isWellFormed(fieldsV1 ?? {})) return undefined;
    const key = managerKey({ manager: String(manager), operation, apiVersion, subresource: String(subresource) });
    managers.set(key, {
      set: FieldSet.fromFieldsV1((fieldsV1 ?? {}) as FieldsV1),
      apiVersion,
      applied: operation === "Apply",
      time: typeof time === "string" ? time : undefined,
    });
  }
  return managers;
}

/**
 * Whether each path is a field, an item by its keys, value or index, or the whole. Unknown kinds of paths are ignored.
 */
function isWellFormed(fields: unknown): boolean {
  if (typeof fields !== "object" || fields === null) return false;
  return Object.entries(fields).every(([key, inner]) =>
    key === "." || /^[fkvi]:/.test(key) ? isWellFormed(inner) : /^.:/.test(key),
  );
}

/** Orders appliers first, then by time, name, version and subresource; `undefined` when there are none. */
export function encodeManagers(managers: Managers): Fields[] | undefined {
  if (managers.size === 0) return undefined;
  const entries = [...managers].map(([key, { set, apiVersion, applied, time }]) => {
    const { manager, subresource } = managerName(key);
    return {
      ...(manager === "" ? {} : { manager }),
      operation: applied ? "Apply" : "Update",
      apiVersion,
      ...(time === undefined ? {} : { time }),
      fieldsType: "FieldsV1",
      fieldsV1: set.toFieldsV1(),
      ...(subresource === "" ? {} : { subresource }),
    };
  });
  return entries.sort(
    (a, b) =>
      compare(a.operation, b.operation) ||
      seconds(a.time) - seconds(b.time) ||
      compare(a.manager ?? "", b.manager ?? "") ||
      compare(a.apiVersion, b.apiVersion) ||
      compare(a.subresource ?? "", b.subresource ?? ""),
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function seconds(time: string | undefined): number {
  return time === undefined ? 0 : Math.floor(Date.parse(time) / 1000);
}

/** Fields that no manager can own. */
export const neverOwned: FieldSet = FieldSet.of([
  ["f:apiVersion"],
  ["f:kind"],
  ["f:metadata"],
  ...[
    "name",
    "namespace",
    "creationTimestamp",
    "selfLink",
    "uid",
    "clusterName",
    "generation",
    "managedFields",
    "resourceVersion",
  ].map((field) => ["f:metadata", `f:${field}`]),
]);

const maxUpdaters = 10;

/** Merges the oldest updaters of each version when there are more than ten. */
export function capUpdaters(managers: Managers): void {
  const updaters = [...managers].filter(([, { applied }]) => !applied);
  let count = updaters.length;
  if (count <= maxUpdaters) return;
  updaters.sort(([a, { time }], [b, other]) => seconds(time) - seconds(other.time) || compare(a, b));
  const firsts = new Map<string, string>();
  for (const [key, managed] of updaters) {
    if (count <= maxUpdaters) return;
    const { apiVersion } = managed;
    const first = firsts.get(apiVersion);
    if (first === undefined) {
      firsts.set(apiVersion, key);
      continue;
    }
    const bucket = managerKey({ manager: "ancient-changes", operation: "Update", apiVersion, subresource: "" });
    if (!managers.has(bucket)) {
      managers.set(bucket, managers.get(first)!);
      managers.delete(first);
    }
    const set = managed.set.union(managers.get(bucket)!.set);
    managers.delete(key);
    managers.set(bucket, { ...managed, set });
    count--;
  }
}
