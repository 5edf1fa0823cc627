/** Removes from a value what a manager owns and no longer wants, as an apply without it would. */
import type { FieldsV1 } from "../resource/meta.ts";
import { partOf } from "./field-changes.ts";
import { isLeaf, matches } from "./managed-fields.ts";

type Fields = Readonly<Record<string, unknown>>;

export interface Removal {
  readonly live: unknown;
  readonly desired: unknown;
  /** The fields that the manager owns. */
  readonly fields: FieldsV1;
  /** The fields that others own, which are not removed. */
  readonly others: readonly FieldsV1[];
}

/** Makes a copy without what is owned and not desired; what others own too stays. */
export function withoutUnwanted({ live, desired, fields, others }: Removal): unknown {
  if (isLeaf(fields) || typeof live !== "object" || live === null) return live;
  const copy: Fields | unknown[] = Array.isArray(live)
    ? [...(live as unknown[])]
    : (Object.assign(Object.create(null), live) as Fields);
  for (const element in fields) {
    if (element === ".") continue;
    const place = placeOf(copy, element);
    if (place === undefined) continue;
    const claims = others.flatMap((one) => one[element] ?? []);
    const part = partOf(desired, element);
    if (part === undefined && claims.length === 0) {
      if (Array.isArray(copy)) copy.splice(place as number, 1);
      else delete (copy as Record<string, unknown>)[place];
    } else {
      const values = copy as Record<string | number, unknown>;
      values[place] = withoutUnwanted({ live: values[place], desired: part, fields: fields[element]!, others: claims });
    }
  }
  return copy;
}

/** Whether a map or list is desired empty of which the manager owns parts: where others have none, an apply leaves nothing of it. */
export function empties(desired: unknown, fields: FieldsV1): boolean {
  if (typeof desired !== "object" || desired === null || isLeaf(fields)) return false;
  if (Object.values(desired as Fields).every((part) => part === undefined)) return true;
  return Object.keys(fields).some((element) => element !== "." && empties(partOf(desired, element), fields[element]!));
}

/** Where a path element is in a map or a list. */
function placeOf(value: unknown, element: string): string | number | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (!Array.isArray(value)) {
    const name = element.slice(2);
    return element.startsWith("f:") && Object.hasOwn(value, name) ? name : undefined;
  }
  if (element.startsWith("f:")) return undefined;
  const identity: unknown = JSON.parse(element.slice(2));
  const index = value.findIndex((item) => (element.startsWith("v:") ? item === identity : matches(item, identity)));
  return index < 0 ? undefined : index;
}
