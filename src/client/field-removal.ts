/** Removes the fields from a value that a manager owns and no longer wants, like an apply without them. */
import type { FieldsV1 } from "../resource/meta.ts";
import { partOf } from "./field-changes.ts";
import type { Fields } from "../resource/json.ts";
import { identityOf, isLeaf, matches, pathOf } from "./managed-fields.ts";

export interface Removal {
  readonly live: unknown;
  readonly desired: unknown;
  /** The fields that the manager owns. */
  readonly fields: FieldsV1;
  /** The fields that others own, which are not removed. */
  readonly others: readonly FieldsV1[];
  /** Whether fields without an owner stay in a map or list that is not desired. @default in none */
  readonly isOpen?: ((element: string) => boolean) | undefined;
}

/** Makes a copy without fields that are owned and not desired; fields that others own too stay. */
export function withoutUnwanted({ live, desired, fields, others, isOpen }: Removal): unknown {
  if (isLeaf(fields) || typeof live !== "object" || live === null) return live;
  const copy: Fields | unknown[] = Array.isArray(live)
    ? [...(live as unknown[])]
    : (Object.assign(Object.create(null), live) as Fields);
  const values = copy as Record<string | number, unknown>;
  for (const element in fields) {
    if (element === ".") continue;
    const place = placeOf(copy, element);
    if (place === undefined) continue;
    const claims = others.flatMap((one) => one[element] ?? []);
    const part = partOf(desired, element);
    const inner = { live: values[place], desired: part, fields: fields[element]!, others: claims, isOpen };
    const isKept = claims.length > 0 || isOpenPart(element, inner);
    if (part !== undefined || isKept) values[place] = withoutUnwanted(inner);
    if (part !== undefined || (isKept && !isEmptied(values[place]))) continue;
    if (Array.isArray(copy)) copy.splice(place as number, 1);
    else delete values[place];
  }
  return copy;
}

/** Maps whose keys anybody may choose: other keys in them stay, even without an owner. */
const OPEN: ReadonlySet<string> = new Set(["f:labels", "f:annotations", "f:data", "f:binaryData", "f:hard"]);

export function isOpenName(element: string): boolean {
  return OPEN.has(element);
}

function isOpenPart(element: string, { live, fields, isOpen }: Omit<Removal, "others" | "desired">): boolean {
  return (
    element.startsWith("f:") &&
    isOpen?.(element) === true &&
    !isLeaf(fields) &&
    typeof live === "object" &&
    live !== null
  );
}

/**
 * Whether an apply would remove too much: it empties a map or list that is desired empty once our parts go, and removes
 * an open map that is not desired together with keys that have no owner.
 */
export function removesTooMuch({ desired, live, fields, isOpen }: Omit<Removal, "others">): boolean {
  if (isLeaf(fields)) return false;
  const isDesired = typeof desired === "object" && desired !== null;
  if (isDesired && Object.values(desired as Fields).every((part) => part === undefined)) return true;
  for (const element in fields) {
    const place = element === "." ? undefined : placeOf(live, element);
    if (place === undefined) continue;
    const below = (live as Record<string | number, unknown>)[place];
    const inner = { desired: partOf(desired, element), live: below, fields: fields[element]!, isOpen };
    const isDeep = inner.desired !== undefined || isOpenPart(element, inner);
    if ((inner.desired === undefined && hasMore(element, inner)) || (isDeep && removesTooMuch(inner))) return true;
  }
  return false;
}

/** Whether an open map or list has more than the parts that we own. */
function hasMore(element: string, { live, fields, isOpen }: Omit<Removal, "others" | "desired">): boolean {
  if (!isOpenPart(element, { live, fields, isOpen })) return false;
  if (Array.isArray(live)) return live.length > Object.keys(fields).filter((item) => item !== ".").length;
  return Object.keys(live as Fields).some((name) => fields[pathOf(name)] === undefined);
}

/** Whether a map or list has lost all its parts. */
function isEmptied(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

/** The key or index of a path element in a map or a list. */
function placeOf(value: unknown, element: string): string | number | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (!Array.isArray(value)) {
    const name = element.slice(2);
    return element.startsWith("f:") && Object.hasOwn(value, name) ? name : undefined;
  }
  if (element.startsWith("f:")) return undefined;
  const identity = identityOf(element);
  const index = value.findIndex((item) => (element.startsWith("v:") ? item === identity : matches(item, identity)));
  return index < 0 ? undefined : index;
}
