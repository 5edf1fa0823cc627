/** Finds changes of a CustomResourceDefinition that lose data. */
import type { WebhookClientConfig } from "../resource/crd-conversion.ts";
import type { Crd } from "../resource/crd.ts";
import { ownField } from "../resource/any-key.ts";

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

/** The fields of the server's object that are read here. */
export interface StoredCrd {
  readonly metadata: {
    readonly name: string;
    readonly resourceVersion: string;
    readonly annotations?: Readonly<Record<string, string>> | undefined;
  };
  readonly spec: {
    readonly group: string;
    readonly scope: string;
    readonly names: { readonly kind: string; readonly plural: string };
    readonly versions: readonly StoredVersion[];
    readonly conversion?:
      | {
          readonly strategy?: string | undefined;
          readonly webhook?: { readonly clientConfig?: WebhookClientConfig | undefined } | undefined;
        }
      | undefined;
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
  /** Changes that are refused in any case. */
  readonly outright: readonly string[];
  /** Changes that lose data only when objects exist. */
  readonly withObjects: readonly string[];
}

/** Describes, as parts of a sentence, the data that an update from the stored definition to the next one would lose. */
export function losses(stored: StoredCrd, next: Crd): Losses {
  const outright: string[] = [];
  const withObjects: string[] = [];
  const { scope, names, versions } = stored.spec;
  if (scope !== next.spec.scope) outright.push(`its scope is ${scope} and would become ${next.spec.scope}`);
  if (names.kind !== next.spec.names.kind)
    outright.push(`its kind is ${names.kind} and would become ${next.spec.names.kind}`);
  const storedVersions = stored.status?.storedVersions ?? [];
  for (const version of versions) {
    const successor = next.spec.versions.find(({ name }) => name === version.name);
    if (successor === undefined) {
      if (storedVersions.includes(version.name))
        outright.push(
          `version ${version.name}, in which objects may be stored, would be removed: \`binnacle migrate ${stored.metadata.name}\` rewrites them`,
        );
      else if (version.served) withObjects.push(`version ${version.name} would be removed while there are objects`);
      continue;
    }
    if (version.served && !successor.served)
      withObjects.push(`version ${version.name} would no longer be served while there are objects`);
    const [before, after] = [version.schema?.openAPIV3Schema, successor.schema?.openAPIV3Schema as Schema | undefined];
    for (const path of prunedPaths(before, after)) {
      withObjects.push(`the field ${path} of ${version.name} would be removed while there are objects`);
    }
  }
  return { outright, withObjects };
}

/** Returns the paths of fields that the old schema keeps and the new one prunes. */
function prunedPaths(old: Schema | undefined, next: Schema | undefined, path = ""): string[] {
  if (old === undefined || next?.["x-kubernetes-preserve-unknown-fields"] === true) return [];
  const paths: string[] = [];
  const anyName = additional(next);
  for (const [name, schema] of Object.entries(old.properties ?? {})) {
    const place = path === "" ? name : `${path}.${name}`;
    const successor = ownField(next?.properties ?? {}, name) ?? anyName;
    if (successor === undefined) paths.push(place);
    else paths.push(...prunedPaths(schema, successor, place));
  }
  if (old.items !== undefined) paths.push(...prunedPaths(old.items, next?.items, `${path}[]`));
  const oldAny = additional(old);
  if (oldAny !== undefined) {
    if (anyName === undefined) paths.push(`${path}.*`);
    else paths.push(...prunedPaths(oldAny, anyName, `${path}.*`));
  }
  if (old["x-kubernetes-preserve-unknown-fields"] === true && old.properties === undefined) paths.push(`${path}.*`);
  return paths;
}

/** Returns the schema of unlisted fields; an empty one allows everything. */
function additional(schema: Schema | undefined): Schema | undefined {
  const value = schema?.additionalProperties;
  if (value === true) return { "x-kubernetes-preserve-unknown-fields": true };
  return value === false ? undefined : value;
}
