/** The CustomResourceDefinitions of uninstalled modules, and their objects. */
import { listMetadata } from "../../kube/api/list.ts";
import { collectionPath, RestMapper } from "../../kube/api/mapper.ts";
import { isNotFound } from "../../kube/errors/api-error.ts";
import type { Transport } from "../../kube/transport/transport.ts";
import { crdOf } from "../../resource/crd.ts";
import type { Resource } from "../../resource/handle.ts";
import { keyString } from "../../resource/meta.ts";
import { doomed, type Doomed, find, type Found } from "./cluster-objects.ts";

const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

interface StoredDefinition extends Found {
  readonly spec: { readonly conversion?: { readonly strategy?: string } };
  readonly status?: { readonly storedVersions?: readonly string[] | null };
}

/** A definition that exists on the cluster. */
export interface Definition extends Doomed {
  readonly resource: Resource;
  readonly objects: Objects;
  /** Whether its objects are stored in versions other than the one that the module reads, so that reading needs conversion. */
  readonly needsConversion: boolean;
}

/** The objects of one kind. */
export interface Objects {
  readonly count: number;
  /** How many objects have each finalizer, and one of them. */
  readonly finalizers: ReadonlyMap<
    string,
    { readonly objects: number; readonly deleting: number; readonly example: string }
  >;
}

export async function definition(transport: Transport, resource: Resource): Promise<Definition | undefined> {
  const path = `${CRDS}/${crdOf(resource).metadata.name}`;
  const stored = await find<StoredDefinition>(transport, path);
  if (stored === undefined) return undefined;
  const versions = stored.status?.storedVersions ?? [];
  const needsConversion =
    stored.spec.conversion?.strategy === "Webhook" && versions.some((version) => version !== resource.version);
  return {
    ...doomed(path, "CustomResourceDefinition", stored),
    resource,
    needsConversion,
    objects: needsConversion ? { count: 0, finalizers: new Map() } : await objectsOf(transport, resource),
  };
}

/** Reads the metadata of all objects of a kind; there are none where the kind does not exist. */
export async function objectsOf(transport: Transport, resource: Resource): Promise<Objects> {
  const finalizers = new Map<string, { objects: number; deleting: number; example: string }>();
  let count = 0;
  try {
    const mapper = new RestMapper(transport);
    await listMetadata(transport, {
      path: collectionPath(mapper.known(resource) ?? (await mapper.resolve(resource)), ""),
      type: resource,
      fullListIfExpired: true,
      onRestart() {
        count = 0;
        finalizers.clear();
      },
      onPage(page) {
        count += page.length;
        for (const { metadata } of page) {
          for (const name of metadata.finalizers ?? []) {
            const known = finalizers.get(name) ?? { objects: 0, deleting: 0, example: keyString(metadata) };
            known.objects++;
            if (metadata.deletionTimestamp !== undefined) known.deleting++;
            finalizers.set(name, known);
          }
        }
      },
    });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  return { count, finalizers };
}

/** Finalizers that the API server's own garbage collector removes. */
const COLLECTED = ["foregroundDeletion", "orphan"];

/** Returns why the deletion of a definition would not finish; `undefined` when it would. */
export function whatHoldsUp({ finalizers }: Objects): string | undefined {
  const held = [...finalizers].filter(([name]) => !COLLECTED.includes(name));
  if (held.length === 0) return undefined;
  return held.map(([name, { objects, example }]) => `${name} (objects: ${objects}, such as ${example})`).join(", ");
}
