/**
 * Makes the fields that the server refuses exactly as desired.
 *
 * Fields that others added may cause the refusal: a port without a name beside ours, or a field that belongs to another
 * type. The server names the refused fields, and there the additions of others are removed.
 */
import { ownField } from "../resource/any-key.ts";
import { type Fields, isFields, sameJson } from "../resource/json.ts";
import type { FieldsV1 } from "../resource/meta.ts";
import { Containment, itemOf } from "./containment.ts";
import { unite } from "./managed-fields.ts";

export interface Refusal {
  readonly desired: unknown;
  readonly live: unknown;
  /** The fields of `live` that we own. */
  readonly fields: FieldsV1 | undefined;
  /** The paths that the server refuses, such as `spec.ports[1].name`. */
  readonly places: Iterable<string>;
  /** Whether whole lists are replaced, instead of only their refused items. */
  readonly isWhole: boolean;
  readonly isBuiltIn: boolean;
}

/** Computes the merge patch. @returns `undefined` when no field of others is in the way. */
export function replacement({ desired, live, fields, places, isWhole, isBuiltIn }: Refusal): Fields | undefined {
  const merge = new Merge(isBuiltIn);
  const merged = merge.ofValue(desired, live, fields);
  let value = merged;
  for (const place of places) value = exactly(value, desired, { steps: stepsOf(place), isWhole, depth: 0 });
  return !merge.isLess && sameJson(value, merged) ? undefined : (patchOf(value, live) as Fields);
}

/** A merge patch with the maps and lists that are desired empty and that an apply has nevertheless left out. */
export function droppedOf(desired: unknown, live: unknown): Fields | undefined {
  if (!isFields(desired) || !isFields(live)) return undefined;
  const dropped = Object.create(null) as Record<string, unknown>;
  for (const name in desired) {
    const value = desired[name];
    const there = ownField(live, name);
    const isMissing = (there === undefined || there === null) && isNothing(value);
    const part = isMissing ? value : droppedOf(value, there ?? {});
    if (part !== undefined) dropped[name] = part;
  }
  return isNothing(dropped) ? undefined : dropped;
}

function isNothing(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.values(value).every((part) => part === undefined);
}

/** The desired value together with the additions of others. */
class Merge {
  /** Whether a list could not be merged. */
  isLess = false;
  readonly #isBuiltIn: boolean;

  constructor(isBuiltIn: boolean) {
    this.#isBuiltIn = isBuiltIn;
  }

  ofValue(desired: unknown, live: unknown, fields: FieldsV1 | undefined): unknown {
    if (desired === undefined || new Containment(this.#isBuiltIn).has(desired, live, fields)) return live;
    if (isFields(desired) && isFields(live)) {
      const merged = Object.assign(Object.create(null), live) as Record<string, unknown>;
      for (const name in desired) {
        const value = this.ofValue(desired[name], ownField(live, name), fields?.[`f:${name}`]);
        if (value !== undefined) merged[name] = value;
      }
      return merged;
    }
    if (!Array.isArray(desired) || !Array.isArray(live) || !desired.some(isFields)) return desired;
    const places = desired.map((item) => placeOf(item, live, fields));
    if (places.some((place, at) => place < 0 || place <= (places[at - 1] ?? -1))) {
      this.isLess = true;
      return desired;
    }
    const merged = [...live] as unknown[];
    for (const [at, place] of places.entries()) merged[place] = this.ofValue(desired[at], live[place], undefined);
    return merged;
  }
}

/** The index of an item of one list in another list: by the keys by which we own it, or by its name. */
function placeOf(item: unknown, list: readonly unknown[], fields: FieldsV1 | undefined): number {
  const { index } = fields === undefined ? { index: -1 } : itemOf(item, list, fields);
  if (index >= 0 || !isFields(item) || item["name"] === undefined) return index;
  return list.findIndex((other) => isFields(other) && other["name"] === item["name"]);
}

interface Way {
  readonly steps: readonly string[];
  readonly isWhole: boolean;
  readonly depth: number;
}

/** The deepest map that is never replaced as a whole: that of all fields, and `spec`. */
const TOP = 1;

/** The value with exactly the desired value at the end of the path; `undefined` for none. */
function exactly(value: unknown, desired: unknown, { steps, isWhole, depth }: Way): unknown {
  const [step, ...rest] = steps;
  if (step === undefined || (isWhole && desired === undefined)) return desired;
  if (Array.isArray(value)) {
    if (isWhole || !Array.isArray(desired)) return desired;
    // The number is the index of an item in the refused value, which is no longer known.
    return value.map((item: unknown) => {
      const own: unknown = desired.find((other) => isFields(other) && placeOf(other, [item], undefined) === 0);
      return own === undefined ? item : exactly(item, own, { steps: rest, isWhole, depth: depth + 1 });
    });
  }
  if (!isFields(value)) return value;
  const name = nameIn(value, step);
  const own = isFields(desired) ? ownField(desired, name) : undefined;
  // The refused part of the value is desired, so a field beside it must be removed.
  if (isWhole && own !== undefined && rest.length === 0 && depth > TOP) return desired;
  const part = exactly(ownField(value, name), own, { steps: rest, isWhole, depth: depth + 1 });
  const copy = Object.assign(Object.create(null), value) as Record<string, unknown>;
  if (part === undefined) delete copy[name];
  else copy[name] = part;
  return copy;
}

/** Some paths have Go's name of a field: `spec.LoadBalancerSourceRanges`. */
function nameIn(value: Fields, step: string): string {
  const name = `${step.charAt(0).toLowerCase()}${step.slice(1)}`;
  return Object.hasOwn(value, step) || !Object.hasOwn(value, name) ? step : name;
}

/** Selects the owned fields that the server refuses, in maps only: items of lists have other indexes by now. */
export function refusedOf(fields: FieldsV1, places: Iterable<string>): FieldsV1 | undefined {
  let refused: FieldsV1 | undefined;
  for (const place of places) {
    const steps = stepsOf(place).map((step) => `f:${step}`);
    let part: FieldsV1 | undefined = fields;
    for (const step of steps) part = part?.[step];
    const refusedPart = part && steps.reduceRight((inner, step) => ({ [step]: inner }), part);
    if (refusedPart !== undefined) refused = refused === undefined ? refusedPart : unite(refused, refusedPart);
  }
  return refused;
}

/** The steps of a path in the server's spelling, such as `spec.ports[1].name` and `spec.hard[limits.cpu]`. */
function stepsOf(place: string): readonly string[] {
  const steps: string[] = [];
  for (const [at, part] of place.split("[").entries()) {
    const end = at === 0 ? -1 : part.indexOf("]"); // a key may have dots
    if (end >= 0) steps.push(part.slice(0, end));
    steps.push(
      ...part
        .slice(end + 1)
        .split(".")
        .filter((step) => step !== ""),
    );
  }
  return steps;
}

/** A JSON merge patch from a live value to another one, in which lists are complete. */
export function patchOf(value: unknown, live: unknown): unknown {
  if (!isFields(value) || !isFields(live)) return value;
  const patch = Object.create(null) as Record<string, unknown>;
  for (const name in value) {
    const there = ownField(live, name);
    if (!sameJson(value[name], there)) patch[name] = patchOf(value[name], there);
  }
  for (const name in live) if (!Object.hasOwn(value, name)) patch[name] = null;
  return patch;
}
