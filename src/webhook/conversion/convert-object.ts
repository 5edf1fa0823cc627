/** Converts an object to another version of its kind, through the hub. */
import type { ResourceDefinition, VersionDefinition } from "../../resource/definition.ts";
import { sameJson } from "../../resource/json.ts";
import { completed, type Filling, isComplete } from "../../resource/schema/completion.ts";
import { withDefaults } from "../../resource/schema/defaults.ts";
import { convertPart } from "./convert-part.ts";
import type { RecentObjects } from "./recent-objects.ts";
import type { PartialObject, WireObject } from "./wire-object.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Thrown for an impossible conversion, and for a wrong result of an author's function. */
export class ConversionError extends Error {
  override readonly name = "ConversionError" as const;
}

/**
 * Converts an object of a kind with several versions. The argument does not change; the result may share parts of it.
 *
 * The author's functions receive the fields that their types promise: every required field and every field with a
 * default. So does the caller, because the API server adds no defaults after a conversion. For an object that lacks
 * such a field, the caller gets the fields that follow from the present ones.
 *
 * @param to the name of a version, such as `v1`.
 * @param recent the objects that were converted before, which help with parts of the same objects.
 * @throws ConversionError, and the errors of the author's functions.
 */
export function convertObject(
  definition: ResourceDefinition,
  input: PartialObject,
  { to, recent }: { readonly to: string; readonly recent?: RecentObjects | undefined },
): WireObject {
  const { group, names } = definition;
  const object = withMetadata(input);
  if (object.kind !== names.kind) throw new ConversionError(`the object is a ${object.kind}, and no ${names.kind}`);
  const prefix = `${group}/`;
  if (!object.apiVersion.startsWith(prefix)) {
    throw new ConversionError(`the object's apiVersion is ${object.apiVersion}, and its group must be ${group}`);
  }
  const from = object.apiVersion.slice(prefix.length);
  if (from === to) throw new ConversionError(`the object is in version ${to} already`);
  const way: Way = { definition, source: versionNamed(definition, from), target: versionNamed(definition, to) };
  const { schema } = way.source;
  if (isComplete(schema, object)) {
    recent?.keep(object);
    return throughHub(object, way);
  }
  const through = (filled: WireObject, filling: Filling) => throughHub(filled, { ...way, filling });
  return convertPart(object, { schema, target: way.target.schema, whole: recent?.wholeOf(object), through });
}

/** Completes the metadata. The API server omits a field from which it has removed everything, or sets it to `null`. */
function withMetadata(object: PartialObject): WireObject {
  const { labels, annotations, ...others } = object.metadata ?? {};
  if (object.metadata != null && labels !== null && annotations !== null)
    return { ...object, metadata: object.metadata };
  const metadata = {
    ...others,
    ...(labels != null && { labels }),
    ...(annotations != null && { annotations }),
  };
  return { ...object, metadata };
}

interface Way {
  readonly definition: ResourceDefinition;
  readonly source: VersionDefinition;
  readonly target: VersionDefinition;
  /**
   * The values for missing fields of an incomplete object at each step to the last version. @default the defaults of
   * each version
   */
  readonly filling?: Filling | undefined;
}

function throughHub(object: WireObject, { definition, source, target, filling }: Way): WireObject {
  const { group, hub } = definition;
  const filled = (object: WireObject, version: VersionDefinition): WireObject => {
    if (filling === undefined) return withDefaults(version.schema, object);
    return version === target
      ? object
      : (completed(version.schema, object, { ...filling, model: undefined }) as WireObject);
  };
  let converted = object;
  if (source.name !== hub) {
    const version = versionNamed(definition, hub);
    const step = { object, target: version, group, by: `versions.${source.name}.toHub` };
    converted = filled(complete(source.toHub!(object), step), version);
  }
  if (target.name === hub) return converted;
  const step = { object: converted, target, group, by: `versions.${target.name}.fromHub` };
  return filled(complete(target.fromHub!(converted), step), target);
}

function versionNamed({ names, versions }: ResourceDefinition, name: string): VersionDefinition {
  const match = versions.find((version) => version.name === name);
  if (match !== undefined) return match;
  const known = versions.map((version) => version.name).join(", ");
  throw new ConversionError(`${names.kind} has no version ${name}: its versions are ${known}`);
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
function complete(result: unknown, step: Step): WireObject {
  const { object, target, group, by } = step;
  if (!isFields(result)) throw new ConversionError(`${by} returned ${kindOfValue(result)}: expected { spec, … }`);
  for (const name in result) {
    if (FIELDS.has(name)) continue;
    throw new ConversionError(`${by} returned the field '${name}', which would be lost: an object has spec and status`);
  }
  for (const name of ["spec", "status"] as const) {
    if (result[name] === undefined || isFields(result[name])) continue;
    throw new ConversionError(`${by} returned ${kindOfValue(result[name])} as ${name}: expected an object`);
  }
  return {
    apiVersion: `${group}/${target.name}`,
    kind: object.kind,
    metadata: metadataOf(result["metadata"], step),
    ...(result["spec"] !== undefined && { spec: result["spec"] }),
    ...statusOf(result["status"], object),
  };
}

/** Keeps `observedGeneration`, which the runtime maintains and authors do not see. */
function statusOf(result: unknown, { status }: WireObject): { readonly status?: unknown } {
  const observed = isFields(status) ? status["observedGeneration"] : undefined;
  if (observed === undefined) return result === undefined ? {} : { status: result };
  return { status: { observedGeneration: observed, ...(result as Fields | undefined) } };
}

/** Combines an object's metadata with the author's labels and annotations; nothing else may change. */
function metadataOf(result: unknown, { object, by }: Step): Fields {
  const { metadata } = object;
  if (result === undefined || result === metadata) return metadata;
  if (!isFields(result))
    throw new ConversionError(`${by} returned ${kindOfValue(result)} as metadata: expected an object`);
  for (const name in result) {
    if (name === "labels" || name === "annotations" || sameJson(result[name], metadata[name])) continue;
    throw new ConversionError(`${by} changed metadata.${name}: a conversion may change only labels and annotations`);
  }
  const changed: Record<string, unknown> = { ...metadata };
  for (const name of ["labels", "annotations"] as const) {
    const texts = result[name];
    if (texts === undefined) continue;
    if (!isFields(texts)) throw new ConversionError(`${by} returned ${kindOfValue(texts)} as metadata.${name}`);
    const entries = Object.entries(texts).filter(([, text]) => text !== undefined);
    for (const [key, text] of entries) {
      if (typeof text === "string") continue;
      throw new ConversionError(`${by} returned ${kindOfValue(text)} as metadata.${name}["${key}"]: expected a text`);
    }
    if (entries.length > 0) changed[name] = Object.fromEntries(entries);
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

function kindOfValue(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (value === null || value === undefined) return String(value);
  if (typeof value === "object") return "a promise";
  return `a ${typeof value}`;
}
