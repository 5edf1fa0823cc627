/** Converts objects of a kind for tests. */
import { definitionOf } from "../../resource/definition.ts";
import { groupKind, type ObjectOf, type Resource } from "../../resource/handle.ts";
import { convertObject } from "../../webhook/conversion/convert-object.ts";
import type { ConversionLoss, ConversionLossesOptions } from "./conversion-losses.ts";

/** An object of one of a kind's versions, to be converted. Metadata that an API server would add may be omitted. */
export interface VersionedObject {
  readonly apiVersion: string;
  readonly kind?: string | undefined;
  readonly metadata: object;
  readonly spec?: object | undefined;
  readonly status?: object | undefined;
}

/** An object of a version whose type is unknown. */
export interface UntypedVersion {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly [field: string]: unknown };
  readonly spec: { readonly [field: string]: unknown };
  readonly status?: { readonly [field: string]: unknown };
}

/** The type of a converted object, if the name of the version is known. */
export type ConvertedTo<R extends Resource, Version extends string> = R["apiVersion"] extends `${string}/${Version}`
  ? ObjectOf<R>
  : R extends { readonly versions: { readonly [V in Version]: infer Other extends Resource } }
    ? ObjectOf<Other>
    : UntypedVersion;

/**
 * Converts an object as the conversion webhook does, through the hub.
 *
 * @param to the name of the target version, such as `v1beta1`; the object itself has its present one.
 * @throws Error when the kind has no such version, and the errors of the kind's `toHub` and `fromHub`.
 * @example
 * const old = convert(Backup, await cluster.client.get(Backup, key), "v1beta1");
 * expect(old.spec).toEqual({ schedule: "0 3 * * *" });
 */
export function convert<R extends Resource, const Version extends string>(
  resource: R,
  object: VersionedObject,
  to: Version,
): ConvertedTo<R, Version> {
  const definition = definitionOf(resource);
  if (definition === undefined) {
    throw new TypeError(
      `Cannot convert objects of ${groupKind(resource)}: the kind does not come from defineResource()`,
    );
  }
  const { metadata, ...rest } = structuredClone(object);
  const complete = { ...rest, kind: object.kind ?? resource.kind, metadata: { ...metadata } };
  return convertObject(definition, complete, { to }) as unknown as ConvertedTo<R, Version>;
}

/**
 * Finds fields that the conversions of a kind lose: it generates objects from the schemas and converts them to another
 * version and back. `binnacle check` does the same.
 *
 * @throws Error when no generated object is valid in one of the versions, so that nothing is known about it.
 * @example
 * expect(await conversionLosses(Backup)).toEqual([]);
 */
export async function conversionLosses(
  resource: Resource,
  options: ConversionLossesOptions = {},
): Promise<readonly ConversionLoss[]> {
  const { findConversionLosses } = await import("./conversion-losses.ts");
  const { losses, unknown } = findConversionLosses(resource, options);
  if (unknown.length > 0) {
    throw new Error(
      `Cannot find the losses of ${resource.kind}: no generated object is valid in ${unknown.join(" and ")}; ` +
        "test the conversions with objects of your own",
    );
  }
  return losses;
}
