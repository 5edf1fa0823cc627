/** Makes the rows of the kinds table for a CustomResourceDefinition. */
import { createHash } from "node:crypto";
import type { Fields, KindRow, KubeObject, Subresource } from "../hooks.ts";
import type { ScalePaths } from "./resource.ts";

export interface DefinitionNames {
  readonly plural: string;
  readonly singular?: string;
  readonly kind: string;
  readonly listKind?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

export interface DefinitionVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  readonly schema?: { readonly openAPIV3Schema?: Fields };
  readonly subresources?: { readonly status?: Fields; readonly scale?: Fields };
  readonly additionalPrinterColumns?: readonly Fields[];
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
}

export interface DefinitionSpec {
  readonly group: string;
  readonly scope: string;
  readonly names: DefinitionNames;
  readonly versions: readonly DefinitionVersion[];
  readonly preserveUnknownFields?: boolean;
}

const verbs = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];
const partVerbs = ["get", "patch", "update"];

export function specOf(definition: KubeObject): DefinitionSpec {
  return definition["spec"] as DefinitionSpec;
}

/** Makes the row of one version. */
export function customRow(definition: KubeObject, version: DefinitionVersion): KindRow {
  const { group, scope, versions } = specOf(definition);
  // The accepted names count, not the requested ones: another definition may use those.
  const accepted = (definition["status"] as { acceptedNames?: DefinitionNames } | undefined)?.acceptedNames;
  const names = accepted?.plural ? accepted : specOf(definition).names;
  const own = { group, version: version.name, kind: names.kind };
  const subresources: Subresource[] = [];
  if (version.subresources?.status) subresources.push({ name: "status", responseKind: own, verbs: partVerbs });
  if (version.subresources?.scale) {
    const responseKind = { group: "autoscaling", version: "v1", kind: "Scale" };
    subresources.push({ name: "scale", responseKind, verbs: partVerbs });
  }
  const storageVersion = versions.find(({ storage }) => storage)?.name ?? version.name;
  return {
    ...own,
    plural: names.plural,
    singular: names.singular ?? names.kind.toLowerCase(),
    listKind: names.listKind ?? `${names.kind}List`,
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    namespaced: scope === "Namespaced",
    verbs,
    subresources,
    storageVersion,
    storageVersionHash: hash(`${group}/${storageVersion}/${names.kind}`),
    custom: true,
  };
}

export function scalePaths({ subresources }: DefinitionVersion): ScalePaths | undefined {
  const scale = subresources?.scale as
    { specReplicasPath: string; statusReplicasPath: string; labelSelectorPath?: string } | undefined;
  return (
    scale && {
      specReplicas: scale.specReplicasPath,
      statusReplicas: scale.statusReplicasPath,
      labelSelector: scale.labelSelectorPath,
    }
  );
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest().subarray(0, 8).toString("base64");
}

/** Orders versions as discovery does: v2 before v1 before v1beta1 before all others. */
export function compareVersionNames(a: string, b: string): number {
  const left = parts(a);
  const right = parts(b);
  if (left === undefined || right === undefined) {
    if (left !== undefined) return -1;
    if (right !== undefined) return 1;
    return a < b ? -1 : a > b ? 1 : 0;
  }
  return right.stage - left.stage || right.major - left.major || right.minor - left.minor;
}

function parts(version: string): { major: number; stage: number; minor: number } | undefined {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
  if (match === null) return undefined;
  const stage = match[2] === undefined ? 3 : match[2] === "beta" ? 2 : 1;
  return { major: Number(match[1]), stage, minor: Number(match[3] ?? 0) };
}
