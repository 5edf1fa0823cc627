/** The paths that an apply would change, for logs. Values are left out, because they may be secret. */
import { isFields, sameJson } from "../resource/json.ts";
import { identityOf, isApplied, matches } from "./managed-fields.ts";
import type { FieldsV1 } from "../resource/meta.ts";

/** The most paths that are listed. */
const MOST = 20;

/**
 * Lists the paths at which `desired` differs from the live value, or at which we own a field that is no longer desired.
 *
 * @returns paths such as `spec.replicas` and `spec.template.spec.containers[{"name":"web"}].image`.
 */
export function differences(desired: unknown, live: unknown, fields: FieldsV1): readonly string[] {
  const paths: string[] = [];
  collect(paths, "", { desired, live, fields });
  return paths;
}

interface ValuePair {
  readonly desired: unknown;
  readonly live: unknown;
  readonly fields: FieldsV1 | undefined;
}

function collect(paths: string[], path: string, { desired, live, fields }: ValuePair): void {
  if (paths.length >= MOST) return;
  if (fields === undefined) return collectUnowned(paths, path, { desired, live });
  if (isApplied(desired, live, fields)) return;
  const before = paths.length;
  if (isFields(desired) && isFields(live)) {
    for (const name in desired) {
      if (desired[name] === undefined) continue;
      const at = path === "" ? name : `${path}.${name}`;
      collect(paths, at, { desired: desired[name], live: live[name], fields: fields[`f:${name}`] });
    }
    for (const name in fields) {
      const field = name.slice(2);
      if (name.startsWith("f:") && desired[field] === undefined) paths.push(path === "" ? field : `${path}.${field}`);
    }
  } else if (Array.isArray(desired) && Array.isArray(live)) {
    for (const name in fields) {
      if (!name.startsWith("k:")) continue;
      const keys = identityOf(name);
      const find = (list: readonly unknown[]): unknown => list.find((item) => matches(item, keys, "when given"));
      collect(paths, `${path}[${name.slice(2)}]`, { desired: find(desired), live: find(live), fields: fields[name] });
    }
  }
  if (paths.length === before) paths.push(path);
}

/** Somebody has taken over the whole value: its differing parts are listed. */
function collectUnowned(paths: string[], path: string, { desired, live }: Omit<ValuePair, "fields">): void {
  const before = paths.length;
  if (isFields(desired) && isFields(live)) {
    for (const name in desired) {
      if (desired[name] === undefined || sameJson(desired[name], live[name])) continue;
      collectUnowned(paths, `${path}.${name}`, { desired: desired[name], live: live[name] });
    }
  }
  if (paths.length === before) paths.push(path);
}
