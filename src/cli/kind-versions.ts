/** Extracts from a CustomResourceDefinition the kinds for which types can be written. */
import type { Scope } from "../resource/handle.ts";
import type { StructuralSchema } from "../resource/schema/structural.ts";
import type { ForeignKind } from "./handle-source.ts";
import { UserError } from "./usage-error.ts";

/** The fields of a CustomResourceDefinition that are read here. */
export interface Definition {
  readonly apiVersion: string;
  readonly kind: "CustomResourceDefinition";
  readonly spec: {
    readonly group: string;
    readonly scope: Scope;
    readonly names: {
      readonly kind: string;
      readonly plural: string;
      readonly singular?: string;
      readonly shortNames?: readonly string[];
    };
    readonly versions: readonly {
      readonly name: string;
      readonly served: boolean;
      readonly schema?: { readonly openAPIV3Schema?: StructuralSchema };
    }[];
  };
}

/**
 * Returns the served versions, the API server's preferred one first.
 *
 * @throws UserError when no current API server accepts the definition.
 */
export function versionsOf(definition: Definition, from: string): readonly ForeignKind[] {
  const { apiVersion, spec } = definition;
  if (apiVersion !== "apiextensions.k8s.io/v1") {
    throw new UserError(
      `Cannot read ${from}: its apiVersion is ${apiVersion}, which API servers have not accepted since Kubernetes 1.22`,
    );
  }
  const { group, scope, names, versions } = spec;
  if (
    !Array.isArray(versions) ||
    typeof names?.kind !== "string" ||
    typeof names.plural !== "string" ||
    typeof group !== "string" ||
    versions.some((version) => typeof (version as { readonly name?: unknown } | null)?.name !== "string")
  ) {
    throw new UserError(`Cannot read ${from}: it has no group, kind, plural or versions`);
  }
  return versions
    .filter(({ served }) => served)
    .sort((one, other) => byPriority(one.name, other.name))
    .map(({ name, schema }) => ({
      group,
      version: name,
      kind: names.kind,
      plural: names.plural,
      scope,
      schema: schema?.openAPIV3Schema ?? {},
    }));
}

/**
 * Orders stable versions first, then beta, then alpha, the newest first in each, then all other names alphabetically.
 *
 * @see https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#version-priority
 */
function byPriority(one: string, other: string): number {
  const [a, b] = [priority(one), priority(other)];
  if (a === undefined || b === undefined) return a === b ? (one < other ? -1 : 1) : a === undefined ? 1 : -1;
  const place = a.findIndex((value, index) => value !== b[index]);
  return place < 0 ? 0 : b[place]! - a[place]!;
}

function priority(version: string): readonly number[] | undefined {
  const [, major, stage, minor] = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/.exec(version) ?? [];
  if (major === undefined) return undefined;
  return [stage === undefined ? 2 : stage === "beta" ? 1 : 0, Number(major), Number(minor ?? 0)];
}
