/** Converts an object to another version of its kind, through the hub. */
import type { ResourceDefinition, VersionDefinition } from "../../resource/definition.ts";
import { sameJson } from "../../resource/json.ts";
import { completed, isComplete } from "../../resource/schema/completion.ts";
import { withDefaults } from "../../resource/schema/defaults.ts";

type Fields = Readonly<Record<string, unknown>>;

/** An object of a custom kind, as the API server sends it. */
export interface WireObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Fields;
  readonly spec?: unknown;
  readonly status?: unknown;
}

/**
 * Thrown when a conversion is impossible, or when an author's function returned something other than an object of its
 * version.
 */
export class ConversionError extends Error {
  override readonly name = "ConversionError" as const;
}

/**
 * Converts an object of a kind with several versions. The given object does not change; the result may share parts of
 * it.
 *
 * The author's functions get what their types promise: every required field and every field with a default. So does
 * the caller, because the API server adds no defaults after a conversion.
 *
 * @param to the name of a version, such as `v1`.
 * @throws ConversionError, and whatever the author's functions throw.
 */
export function convertObject(definition: ResourceDefinition, object: WireObject, to: string): WireObject {
  const { group, names } = definition;
  if (object.kind !== names.kind) throw new ConversionError(`the object is a ${object.kind}, and no ${names.kind}`);
  const prefix = `${group}/`;
  if (!object.apiVersion.startsWith(prefix)) {
    throw new ConversionError(`the object's apiVersion is ${object.apiVersion}, and its group must be ${group}`);
  }
  const from = object.apiVersion.slice(prefix.length);
  if (from === to) throw new ConversionError(`the object is in version ${to} already`);
  const way: Way = { definition, source: versionNamed(definition, from), target: versionNamed(definition, to) };
  return isComplete(way.source.schema, object) ? throughHub(object, way) : convertPart(object, way);
}

interface Way {
  readonly definition: ResourceDefinition;
  readonly source: VersionDefinition;
  readonly target: VersionDefinition;
}

function throughHub(object: WireObject, { definition, source, target }: Way): WireObject {
  const { hub } = definition;
  const inHub = source.name === hub ? object : toHub(definition, source, object);
  return target.name === hub ? inHub : fromHub(definition, target, inHub);
}

/**
 * Converts a part of an object. While the API server computes a server-side apply in one version of an object that is
 * managed in another, it has parts of it converted, even an object without a spec, to learn which of their fields
 * correspond.
 *
 * The author's functions get the part with empty values for everything that is missing, and the result omits what
 * follows only from empty values.
 */
function convertPart(part: WireObject, way: Way): WireObject {
  const { schema } = way.source;
  const { spec: _, status: __, ...nothing } = part;
  const converted = throughHub(completed(schema, part) as WireObject, way);
  const empty = throughHub(completed(schema, nothing) as WireObject, way);
  const { apiVersion, kind, metadata } = converted;
  const spec = difference(converted.spec, empty.spec);
  const status = difference(converted.status, empty.status);
  return { apiVersion, kind, metadata, ...(spec !== undefined && { spec }), ...(status !== undefined && { status }) };
}

/** Returns the parts of a value that another one lacks; `undefined` when there are none. */
function difference(value: unknown, other: unknown): unknown {
  if (sameJson(value, other)) return undefined;
  if (!isFields(value) || !isFields(other)) return value;
  const fields = Object.entries(value).map(([name, field]) => [name, difference(field, other[name])] as const);
  return Object.fromEntries(fields.filter(([, field]) => field !== undefined));
}

function versionNamed({ names, versions }: ResourceDefinition, name: string): VersionDefinition {
  const found = versions.find((version) => version.name === name);
  if (found !== undefined) return found;
  const known = versions.map((version) => version.name).join(", ");
  throw new ConversionError(`${names.kind} has no version ${name}: its versions are ${known}`);
}

function toHub(definition: ResourceDefinition, source: VersionDefinition, object: WireObject): WireObject {
  const made = source.toHub!(object);
  const target = versionNamed(definition, definition.hub);
  return complete(made, { object, target, group: definition.group, by: `versions.${source.name}.toHub` });
}

function fromHub(definition: ResourceDefinition, target: VersionDefinition, object: WireObject): WireObject {
  const made = target.fromHub!(object);
  return complete(made, { object, target, group: definition.group, by: `versions.${target.name}.fromHub` });
}

interface Step {
  /** The object that was converted. */
  readonly object: WireObject;
  readonly target: VersionDefinition;
  readonly group: string;
  /** The author's function, for messages. */
  readonly by: string;
}

/** The fields of every object; a custom kind has `spec` and `status` besides them. */
const FIELDS: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata", "spec", "status"]);

/** Completes the result of an author's function to a whole object. */
function complete(made: unknown, step: Step): WireObject {
  const { object, target, group, by } = step;
  if (!isFields(made)) throw new ConversionError(`${by} returned ${shown(made)}: expected { spec, … }`);
  for (const name in made) {
    if (FIELDS.has(name)) continue;
    throw new ConversionError(`${by} returned the field '${name}', which would be lost: an object has spec and status`);
  }
  for (const name of ["spec", "status"] as const) {
    if (made[name] === undefined || isFields(made[name])) continue;
    throw new ConversionError(`${by} returned ${shown(made[name])} as ${name}: expected an object`);
  }
  const converted: WireObject = {
    apiVersion: `${group}/${target.name}`,
    kind: object.kind,
    metadata: metadataOf(made["metadata"], step),
    ...(made["spec"] !== undefined && { spec: made["spec"] }),
    ...statusOf(made["status"], object),
  };
  return withDefaults(target.schema, converted);
}

/** The runtime maintains the generation that a status describes, so authors do not see it. */
function statusOf(made: unknown, { status }: WireObject): { readonly status?: unknown } {
  const observed = isFields(status) ? status["observedGeneration"] : undefined;
  if (observed === undefined) return made === undefined ? {} : { status: made };
  return { status: { observedGeneration: observed, ...(made as Fields | undefined) } };
}

/** Combines the metadata of the given object with the author's labels and annotations; the API server rejects other changes. */
function metadataOf(made: unknown, { object, by }: Step): Fields {
  const { metadata } = object;
  if (made === undefined || made === metadata) return metadata;
  if (!isFields(made)) throw new ConversionError(`${by} returned ${shown(made)} as metadata: expected an object`);
  for (const name in made) {
    if (name === "labels" || name === "annotations" || sameJson(made[name], metadata[name])) continue;
    throw new ConversionError(`${by} changed metadata.${name}: a conversion may change only labels and annotations`);
  }
  const changed: Record<string, unknown> = { ...metadata };
  for (const name of ["labels", "annotations"] as const) {
    const texts = made[name];
    if (texts === undefined) continue;
    if (!isFields(texts)) throw new ConversionError(`${by} returned ${shown(texts)} as metadata.${name}`);
    const kept = Object.entries(texts).filter(([, text]) => text !== undefined);
    for (const [key, text] of kept) {
      if (typeof text === "string") continue;
      throw new ConversionError(`${by} returned ${shown(text)} as metadata.${name}["${key}"]: expected a text`);
    }
    if (kept.length > 0) changed[name] = Object.fromEntries(kept);
    else delete changed[name];
  }
  return changed;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isThenable(value);
}

function isThenable(value: object): boolean {
  return "then" in value && typeof value.then === "function";
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (value === null || value === undefined) return String(value);
  if (typeof value === "object") return "a promise";
  return `a ${typeof value}`;
}
