/** Converts custom objects to other versions, for the ownership of fields there. */
import type { Fields, KubeObject } from "../hooks.ts";
import { writeJson } from "../numbers.ts";
import { convertObjects } from "../admission/conversion.ts";
import type { ConvertVersion } from "../patch/update-managed-fields.ts";
import { decodeManagers } from "../patch/managers.ts";
import type { ApiCall } from "./api-call.ts";

/** Thrown where a comparison needs a conversion by webhook: the conversion is made, and the comparison starts over. */
class MissingConversion extends Error {
  readonly object: KubeObject;
  readonly apiVersion: string;

  constructor(object: KubeObject, apiVersion: string) {
    super(`needed in ${apiVersion}`);
    this.object = object;
    this.apiVersion = apiVersion;
  }
}

/** A merge needs the object before it, after it, and in the versions between. */
const mostConversions = 50;

/**
 * Runs a comparison of an object with its managers, each of which may use another version.
 *
 * @param objects the objects whose managed fields are read
 * @param run is called again after a webhook converted something; it gets no conversions where all managers use one
 * version
 * @throws StatusError when the webhook fails
 */
export function acrossVersions<T>(
  call: ApiCall,
  objects: readonly (KubeObject | undefined)[],
  run: (convert: ConvertVersion | undefined) => T,
): T | Promise<T> {
  const { row, apiVersion } = call.resource;
  const isMixed = objects.some((object) =>
    object?.metadata.managedFields?.some((entry) => entry?.["apiVersion"] !== apiVersion),
  );
  return row.custom && isMixed ? converting(call, run) : run(undefined);
}

async function converting<T>(call: ApiCall, run: (convert: ConvertVersion) => T): Promise<T> {
  const { kernel, resource } = call;
  const { group, plural } = resource.row;
  const { reader, registry } = kernel;
  const key = { name: `${plural}.${group}` };
  const definition = reader.get({ group: "apiextensions.k8s.io", plural: "customresourcedefinitions" }, key);
  const { strategy } = ((definition?.["spec"] as Fields | undefined)?.["conversion"] ?? {}) as { strategy?: string };
  const conversions = new Map<string, KubeObject>();
  const convert: ConvertVersion = (object, apiVersion) => {
    const schema = registry.get(group, apiVersion.slice(group.length + 1), plural)?.schema;
    if (schema === undefined) return undefined;
    if (object.apiVersion === apiVersion) return { object, schema };
    if (strategy !== "Webhook") return { object: { ...object, apiVersion }, schema };
    const conversion = conversions.get(keyOf(object, apiVersion));
    if (conversion === undefined) throw new MissingConversion(object, apiVersion);
    return { object: conversion, schema };
  };
  for (let count = 0; count < mostConversions; count += 1) {
    try {
      return run(convert);
    } catch (error) {
      if (!(error instanceof MissingConversion) || definition === undefined) throw error;
      const { object, apiVersion } = error;
      const [converted] = await convertObjects(definition, [structuredClone(object)], { apiVersion, reader });
      conversions.set(keyOf(object, apiVersion), converted ?? object);
    }
  }
  throw new Error(`${plural}.${group} needs more than ${mostConversions} conversions for one write`);
}

function keyOf(object: KubeObject, apiVersion: string): string {
  return `${apiVersion} ${writeJson(object)}`;
}

/**
 * Returns whether an object names a manager in a version in which its kind is not served. Managers cannot be compared
 * then, and kube-apiserver drops all of them.
 */
export function hasForeignManagers(
  { kernel, resource, target }: ApiCall,
  { next, live }: { readonly next: KubeObject; readonly live?: KubeObject | undefined },
): boolean {
  const { row, apiVersion } = resource;
  const managers = target.subresource === "" ? next.metadata.managedFields : undefined;
  const isUsable = managers !== undefined && (decodeManagers(managers)?.size ?? 0) > 0;
  const entries = isUsable ? managers : (live?.metadata.managedFields ?? []);
  return entries.some((entry) => {
    const entryVersion = String(entry["apiVersion"] ?? "");
    if (entryVersion === apiVersion) return false;
    const [group = "", version = "", rest] = entryVersion.split("/");
    if (!row.custom) return rest !== undefined;
    return group !== row.group || kernel.registry.get(group, version, row.plural) === undefined;
  });
}

/** Returns a copy of an object without its managed fields. */
export function withoutManagers(object: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
