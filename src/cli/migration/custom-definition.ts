/** The CustomResourceDefinition of a kind on the cluster, with the fields that a migration of its objects needs. */
import { isConflict, isNotFound } from "../../kube/errors/api-error.ts";
import type { Transport } from "../../kube/transport/transport.ts";
import { UserError } from "../usage-error.ts";

/** The field manager of the migration's writes. */
export const MANAGER = "binnacle-migrate";

export const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** The fields of the server's object that are read here. */
export interface CustomDefinition {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation: number;
    readonly annotations?: Readonly<Record<string, string>> | undefined;
    readonly managedFields?:
      readonly { readonly manager?: string; readonly subresource?: string; readonly time?: string }[] | undefined;
  };
  readonly spec: {
    readonly group: string;
    readonly names: {
      readonly kind: string;
      readonly plural: string;
      readonly singular?: string | undefined;
      readonly shortNames?: readonly string[] | undefined;
    };
    readonly versions: readonly {
      readonly name: string;
      readonly served: boolean;
      readonly storage: boolean;
      readonly schema?: { readonly openAPIV3Schema?: unknown } | undefined;
    }[];
    readonly conversion?: { readonly strategy?: string | undefined } | undefined;
  };
  readonly status?: { readonly storedVersions?: readonly string[] | null | undefined } | undefined;
}

type Requests = Pick<Transport, "request">;

/**
 * Finds the definition of a kind by any of its names, with or without `.group`.
 *
 * @throws UserError when there is none, or more than one.
 */
export async function findDefinition(transport: Requests, name: string): Promise<CustomDefinition> {
  const named = name.includes(".") ? await readDefinition(transport, name).catch(unlessMissing) : undefined;
  if (named !== undefined) return named;
  const { items } = await transport.request<{ items: readonly CustomDefinition[] }>({ method: "GET", path: CRDS });
  const lowerName = name.toLowerCase();
  const matching = items.filter((definition) => namesOf(definition.spec).includes(lowerName));
  const [first] = matching;
  if (first === undefined) {
    throw new UserError(
      `Cannot find the kind '${name}': no CustomResourceDefinition of the cluster has this name; ` +
        "`kubectl get customresourcedefinitions` lists them",
    );
  }
  if (matching.length > 1) {
    const names = matching.map(({ metadata }) => metadata.name).join(", ");
    throw new UserError(`Cannot tell which kind '${name}' is: write one of ${names}`);
  }
  return first;
}

function unlessMissing(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}

/** Returns the names of a kind that kubectl accepts, in lower case, with and without its group. */
export function namesOf({ group, names }: Pick<CustomDefinition["spec"], "group" | "names">): readonly string[] {
  const { kind, plural, singular = "", shortNames = [] } = names;
  const plain = [kind, plural, singular, ...shortNames].filter((name) => name !== "").map((name) => name.toLowerCase());
  return [...plain, ...plain.map((name) => `${name}.${group}`)];
}

export function readDefinition(transport: Requests, name: string): Promise<CustomDefinition> {
  return transport.request({ method: "GET", path: `${CRDS}/${name}` });
}

/** Returns the version in which new writes are stored. */
export function storageVersion({ metadata, spec }: CustomDefinition): string {
  const version = spec.versions.find(({ storage }) => storage);
  if (version === undefined)
    throw new UserError(`Cannot read the definition ${metadata.name}: none of its versions is stored`);
  return version.name;
}

/** Whether all objects are known to be stored in the storage version. */
export function isMigrated(definition: CustomDefinition): boolean {
  const stored = definition.status?.storedVersions ?? [];
  return stored.length === 1 && stored[0] === storageVersion(definition);
}

/** Returns the path of the objects in their storage version. */
export function objectsPath(definition: CustomDefinition): string {
  const { group, names } = definition.spec;
  return `/apis/${group}/${storageVersion(definition)}/${names.plural}`;
}

/** Sets or removes an annotation of the definition, regardless of concurrent writes. */
export function annotate(
  transport: Requests,
  name: string,
  annotations: Readonly<Record<string, string | null>>,
): Promise<CustomDefinition> {
  return transport.request({
    method: "PATCH",
    path: `${CRDS}/${name}`,
    query: `fieldManager=${MANAGER}`,
    contentType: "application/merge-patch+json",
    body: { metadata: { annotations } },
  });
}

/**
 * Writes the versions in which objects are stored.
 *
 * @returns false when the definition has changed since it was read.
 */
export async function setStoredVersions(
  transport: Requests,
  { metadata: { name, uid, resourceVersion } }: CustomDefinition,
  storedVersions: readonly string[],
): Promise<boolean> {
  try {
    await transport.request({
      method: "PATCH",
      path: `${CRDS}/${name}/status`,
      query: `fieldManager=${MANAGER}`,
      contentType: "application/merge-patch+json",
      body: { metadata: { uid, resourceVersion }, status: { storedVersions } },
    });
    return true;
  } catch (error) {
    if (isConflict(error)) return false;
    throw error;
  }
}
