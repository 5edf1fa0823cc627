/** Applies parts of an object through two versions in turns, and finds values that do not stay as they were applied. */
import { AppliedVersions, VersionSchema } from "binnacle-apiserver";
import type { ResourceDefinition, VersionDefinition } from "../../resource/definition.ts";
import { isFields, sameJson } from "../../resource/json.ts";
import type { StructuralSchema } from "../../resource/schema/structural.ts";
import { convertObject } from "../../webhook/conversion/convert-object.ts";
import { RecentObjects } from "../../webhook/conversion/recent-objects.ts";
import type { WireObject } from "../../webhook/conversion/wire-object.ts";
import type { Difference } from "./round-trip.ts";

type Fields = Readonly<Record<string, unknown>>;
type Convert = (object: WireObject, version: string) => WireObject;

const MANAGER = "somebody";
const REQUIRED = /(?:^|[\s,]|\s\[)([^\s:[,]+(?:\[[^\][]*\][^\s:,[]*)*): Required value/;

export interface AppliedPartsOptions {
  readonly definition: ResourceDefinition;
  readonly from: VersionDefinition;
  readonly through: VersionDefinition;
  /** The conversion between the versions. @default as the conversion webhook does */
  readonly convert?: Convert | undefined;
}

export class AppliedParts {
  readonly #options: AppliedPartsOptions;
  readonly #here: VersionSchema;

  constructor(options: AppliedPartsOptions) {
    this.#options = options;
    this.#here = new VersionSchema(options.definition.names.kind, options.from.schema);
  }

  /**
   * Returns the differences after one manager applied the object, then the same object through the other version, then
   * the object again: once completely, once with only its required fields. Every field of the last apply must be
   * present.
   *
   * @param object an object that loses nothing on the way to the other version and back.
   */
  differences(object: WireObject): readonly Difference[] {
    const { from, through, convert = asWebhook(this.#options.definition) } = this.#options;
    const { group, names } = this.#options.definition;
    const apiVersions = new Map([from, through].map(({ name }) => [`${group}/${name}`, name]));
    const server = new AppliedVersions({
      kind: names.kind,
      schemas: new Map([from, through].map(({ name, schema }) => [`${group}/${name}`, schema])),
      convert: (whole, apiVersion) => convert(whole, apiVersions.get(apiVersion)!) as typeof whole,
    });
    const needed = { ...object, spec: needs(from.schema.properties!["spec"]!, object.spec) };
    try {
      const before = server.apply(undefined, asApplied(object), MANAGER);
      const others = asApplied(convert(before, through.name));
      for (const part of [object, needed]) {
        if (this.#here.admit(part).errors.length > 0) continue;
        // A refusal that also occurs without the other version is not a loss of a conversion.
        if (this.#here.admit(server.apply(before, asApplied(part), MANAGER)).errors.length > 0) continue;
        const live = server.apply(before, others, MANAGER);
        const after = server.apply(live, asApplied(part), MANAGER);
        const refused = this.#here.admit(after).errors.find((error) => REQUIRED.test(error));
        if (refused !== undefined)
          return [{ reason: "refused", path: pathOf(refused), message: refused, isPart: true }];
        const lost = missing(part.spec, after["spec"], "spec");
        if (lost.length > 0) return lost;
      }
      return [];
    } catch (error) {
      const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
      return [{ reason: "failed", path: "", message, isPart: true }];
    }
  }
}

function asWebhook(definition: ResourceDefinition): Convert {
  const recent = new RecentObjects();
  return (object, to) => convertObject(definition, object, { to, recent });
}

/** Returns the fields that people write into a manifest. */
function asApplied({ apiVersion, kind, metadata, spec }: WireObject): Fields {
  const { name, namespace, labels, annotations } = metadata;
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(labels !== undefined && { labels }),
      ...(annotations !== undefined && { annotations }),
    },
    ...(spec !== undefined && { spec }),
  };
}

/** Returns the required fields of a value. */
function needs(schema: StructuralSchema, value: unknown): unknown {
  if (!isFields(value) || schema.properties === undefined || schema.oneOf !== undefined) return value;
  const { properties, required = [] } = schema;
  const names = Object.keys(value).filter((name) => properties[name] === undefined || required.includes(name));
  return Object.fromEntries(names.map((name) => [name, needs(properties[name] ?? {}, value[name])]));
}

function missing(part: unknown, whole: unknown, path: string): readonly Difference[] {
  if (isFields(part) && isFields(whole)) {
    return Object.entries(part).flatMap(([name, value]) => missing(value, whole[name], `${path}.${name}`));
  }
  if (part === undefined || sameJson(part, whole)) return [];
  const reason = whole === undefined ? "lost" : "changed";
  return [{ reason, path, before: part, after: whole, isPart: true }];
}

function pathOf(error: string): string {
  return (REQUIRED.exec(error)?.[1] ?? "").replaceAll(/\[[^\]]*(?:\]|$)/g, "[]");
}
