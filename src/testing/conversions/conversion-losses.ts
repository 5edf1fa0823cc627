/** Finds fields that the conversions of a kind lose, by converting generated objects to another version and back. */
import * as fc from "fast-check";
import { definitionOf, type ResourceDefinition, type VersionDefinition } from "../../resource/definition.ts";
import type { Resource } from "../../resource/handle.ts";
import type { WireObject } from "../../webhook/conversion/wire-object.ts";
import { AppliedParts } from "./applied-parts.ts";
import { valuesOf } from "./generated-values.ts";
import { type Difference, type LossReason, RoundTrip } from "./round-trip.ts";

/** A field that is lost on the way to another version and back. */
export interface ConversionLoss {
  /** The version of the object before and after. */
  readonly from: string;
  /** The version in between. */
  readonly through: string;
  readonly reason: LossReason;
  /** The path without the positions of list elements, such as `spec.ports[].name`. */
  readonly path: string;
  /** A sentence with the values of the smallest example. */
  readonly message: string;
  /** The smallest example. */
  readonly object: object;
}

export interface ConversionLossesOptions {
  /** How many objects of each version are generated. @default 200 */
  readonly objects?: number | undefined;
  /** Another seed generates other objects. @default 1 */
  readonly seed?: number | undefined;
}

export interface ConversionFindings {
  readonly losses: readonly ConversionLoss[];
  /** Versions without a valid object, about which nothing is known. */
  readonly unknown: readonly string[];
}

/** The number of generated objects of which at least one should be valid. */
const TRIES = 20;
/** The number of objects whose parts are applied, each of which takes dozens of conversions. */
const APPLIED = 10;
/** A conversion that loses everything need not be described completely. */
const MOST_LOSSES = 20;

/**
 * Converts objects of each version to the hub and back, and objects of the hub to each other version and back, and
 * applies parts of those that come back unchanged.
 */
export function findConversionLosses(resource: Resource, options: ConversionLossesOptions = {}): ConversionFindings {
  const definition = definitionOf(resource);
  if (definition === undefined || definition.versions.length < 2) return { losses: [], unknown: [] };
  const hub = definition.versions.find(({ name }) => name === definition.hub)!;
  const losses: ConversionLoss[] = [];
  const unknown = new Set<string>();
  for (const version of definition.versions) {
    if (version === hub) continue;
    for (const [from, through] of [
      [version, hub],
      [hub, version],
    ] as const) {
      const ofWay = lossesOf(definition, { from, through }, options);
      if (ofWay === undefined) unknown.add(from.name);
      else losses.push(...ofWay);
    }
  }
  return { losses, unknown: [...unknown] };
}

interface Way {
  readonly from: VersionDefinition;
  readonly through: VersionDefinition;
}

/** Finds the losses of one way. @returns undefined when no object was valid. */
function lossesOf(
  definition: ResourceDefinition,
  { from, through }: Way,
  { objects = 200, seed = 1 }: ConversionLossesOptions,
): readonly ConversionLoss[] | undefined {
  const trip = new RoundTrip(definition, from, through);
  const generated = objectsOf(definition, from);
  const valid: WireObject[] = [];
  for (let round = 0; round < TRIES && valid.length < objects; round++) {
    for (const object of fc.sample(generated, { numRuns: objects, seed: seed + round })) {
      const admitted = trip.begin(object);
      if (admitted !== undefined) valid.push(admitted);
    }
  }
  if (valid.length === 0) return undefined;
  const examples = new Map<string, WireObject>();
  const add = (object: WireObject, differences: readonly Difference[]): void => {
    for (const difference of differences) if (!examples.has(keyOf(difference))) examples.set(keyOf(difference), object);
  };
  const search = { trip, generated, seed };
  const losses = (differences: Search["differences"], runs: number): readonly ConversionLoss[] =>
    [...examples]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, object]) => smallest({ key, object }, { ...search, differences, runs }));
  for (const object of valid) {
    add(object, trip.differences(object));
    if (examples.size >= MOST_LOSSES) break;
  }
  if (examples.size > 0) return losses((object) => trip.differences(object), objects * TRIES);
  const parts = new AppliedParts({ definition, from, through });
  const isLossless = (object: WireObject): boolean => trip.all(object).length === 0;
  const ofParts = (object: WireObject) => (isLossless(object) ? parts.differences(object) : []);
  for (const object of valid.slice(0, APPLIED)) add(object, ofParts(object));
  return losses(ofParts, APPLIED);
}

/** Identifies a loss by its field and reason. */
function keyOf({ reason, path }: Difference): string {
  return `${path} ${reason}`;
}

interface Search {
  readonly trip: RoundTrip;
  readonly differences: (object: WireObject) => readonly Difference[];
  readonly generated: fc.Arbitrary<WireObject>;
  readonly seed: number;
  readonly runs: number;
}

/** Returns the loss with the smallest object that shows it. */
function smallest(
  { key, object }: { readonly key: string; readonly object: WireObject },
  { trip, differences, generated, seed, runs }: Search,
): ConversionLoss {
  const look = (given: WireObject) => {
    const admitted = trip.begin(given);
    const difference = admitted && differences(admitted).find((one) => keyOf(one) === key);
    return difference && { object: admitted, difference };
  };
  const property = fc.property(generated, (given) => look(given) === undefined);
  const { counterexample } = fc.check(property, { seed, numRuns: runs });
  const example = look(counterexample?.[0] ?? object)!;
  const { from, through } = trip;
  const { reason, path } = example.difference;
  return { from, through, reason, path, message: messageOf(example.difference, trip), object: example.object };
}

function messageOf({ reason, path, before, after, message, isPart }: Difference, { from, through }: RoundTrip): string {
  const way = `${from} → ${through} → ${from}${isPart ? ", as parts are applied," : ""}`;
  switch (reason) {
    case "failed":
      return `${way} fails: ${message}`;
    case "refused":
      return `${way} makes an invalid object: ${message}`;
    case "lost":
      return `${way} loses ${path}${message === undefined ? `: ${json(before)}` : `: ${message}`}`;
    case "added":
      return `${way} adds ${path}: ${json(after)}`;
    default:
      return `${way} changes ${path}: ${json(before)} becomes ${json(after)}`;
  }
}

function json(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

function objectsOf({ group, names, scope }: ResourceDefinition, version: VersionDefinition): fc.Arbitrary<WireObject> {
  const { spec, status } = version.schema.properties!;
  const texts = fc.dictionary(fc.constantFrom("team", "tier"), fc.constantFrom("a", "b"), { noNullPrototype: true });
  const metadata = {
    name: "generated",
    ...(scope === "Namespaced" && { namespace: "default" }),
    uid: "00000000-0000-4000-8000-000000000000",
    resourceVersion: "1",
    generation: 1,
    creationTimestamp: "2025-01-01T00:00:00Z",
  };
  return fc
    .record(
      { labels: texts, annotations: texts, spec: valuesOf(spec!), status: valuesOf(status!) },
      { requiredKeys: version.schema.required?.includes("spec") ? ["spec"] : [], noNullPrototype: true },
    )
    .map(({ labels, annotations, ...parts }) => ({
      apiVersion: `${group}/${version.name}`,
      kind: names.kind,
      metadata: { ...metadata, ...(labels && { labels }), ...(annotations && { annotations }) },
      ...parts,
    }));
}
