/** Which changes of a CustomResourceDefinition lose data. */
import type { Crd } from "../resource/crd.ts";

interface Schema {
  readonly type?: string | undefined;
  readonly properties?: Readonly<Record<string, Schema>> | undefined;
  readonly items?: Schema | undefined;
  readonly additionalProperties?: Schema | boolean | undefined;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean | undefined;
}

interface StoredVersion {
  readonly name: string;
  readonly served: boolean;
  readonly schema?: { readonly openAPIV3Schema?: Schema | undefined } | undefined;
}

/** What the server answers, as far as it is looked at here. */
export interface StoredCrd {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
  readonly spec: {
    readonly group: string;
    readonly scope: string;
    readonly names: { readonly kind: string; readonly plural: string };
    readonly versions: readonly StoredVersion[];
    readonly conversion?: { readonly strategy?: string | undefined } | undefined;
  };
  readonly status?: {
    readonly storedVersions?: readonly string[] | undefined;
    readonly conditions?:
      | readonly {
          readonly type: string;
          readonly status: string;
          readonly reason?: string;
          readonly message?: string;
        }[]
      | undefined;
  };
}

export interface Losses {
  /** Refused whether there are objects or not. */
  readonly outright: readonly string[];
  /** Lose data only when there are objects. */
  readonly withObjects: readonly string[];
}

/** What an update from the stored definition to the wanted one would lose, as parts of a sentence. */
export function losses(stored: StoredCrd, wanted: Crd): Losses {
  const outright: string[] = [];
  const withObjects: string[] = [];
  const { scope, names, versions } = stored.spec;
  if (scope !== wanted.spec.scope) outright.push(`its scope is ${scope} and would become ${wanted.spec.scope}`);
  if (names.kind !== wanted.spec.names.kind)
    outright.push(`its kind is ${names.kind} and would become ${wanted.spec.names.kind}`);
  const storedVersions = stored.status?.storedVersions ?? [];
  for (const version of versions) {
    const next = wanted.spec.versions.find(({ name }) => name === version.name);
    if (next === undefined) {
      if (storedVersions.includes(version.name))
        outright.push(
          `version ${version.name}, in which objects may be stored, would go: \`binnacle migrate ${stored.metadata.name}\` rewrites them`,
        );
      else if (version.served) withObjects.push(`version ${version.name} would go while there are objects`);
      continue;
    }
    if (version.served && !next.served)
      withObjects.push(`version ${version.name} would no longer be served while there are objects`);
    for (const path of removed(version.schema?.openAPIV3Schema, next.schema?.openAPIV3Schema as Schema | undefined)) {
      withObjects.push(`the field ${path} of ${version.name} would go while there are objects`);
    }
  }
  return { outright, withObjects };
}

/** Paths of fields that the old schema keeps and the new one prunes. */
function removed(old: Schema | undefined, next: Schema | undefined, path = ""): string[] {
  if (old === undefined || next?.["x-kubernetes-preserve-unknown-fields"] === true) return [];
  const found: string[] = [];
  const anyName = additional(next);
  for (const [name, schema] of Object.entries(old.properties ?? {})) {
    const place = path === "" ? name : `${path}.${name}`;
    const kept = next?.properties?.[name] ?? anyName;
    if (kept === undefined) found.push(place);
    else found.push(...removed(schema, kept, place));
  }
  if (old.items !== undefined) found.push(...removed(old.items, next?.items, `${path}[]`));
  const oldAny = additional(old);
  if (oldAny !== undefined) {
    if (anyName === undefined) found.push(`${path}.*`);
    else found.push(...removed(oldAny, anyName, `${path}.*`));
  }
  if (old["x-kubernetes-preserve-unknown-fields"] === true && old.properties === undefined) found.push(`${path}.*`);
  return found;
}

/** The schema of names that are not listed; an empty one takes everything. */
function additional(schema: Schema | undefined): Schema | undefined {
  const value = schema?.additionalProperties;
  if (value === true) return { "x-kubernetes-preserve-unknown-fields": true };
  return value === false ? undefined : value;
}
