/**
 * Finds finalizers on the cluster that no controller of these modules would ever remove, so that their objects cannot
 * be deleted.
 */
import { isNamespaceSelector, type NamespaceSelector } from "../cache/selected-namespaces.ts";
import { declarationsOf, type Declarations } from "../controller/declarations.ts";
import { isApiError, isNotFound } from "../kube/errors/api-error.ts";
import type { ClusterConfig } from "../kube/config/cluster-config.ts";
import { listMetadata } from "../kube/api/list.ts";
import { collectionPath, RestMapper } from "../kube/api/mapper.ts";
import { createTransport, type Transport } from "../kube/transport/transport.ts";
import type { LoadedModule } from "../module/loaded-module.ts";
import { finalizerName } from "../reconcile/finalizer.ts";
import { groupKind, type Resource } from "../resource/handle.ts";
import { keyString } from "../resource/meta.ts";
import { lookThroughOthers } from "./other-kinds.ts";

export interface ClusterFindings {
  /** Describes which objects were examined. */
  readonly notes: readonly string[];
  readonly problems: readonly string[];
}

/** A finalizer that nobody removes, on objects of one kind. */
interface Dead {
  readonly why: string;
  readonly example: string;
  objects: number;
  deleting: number;
}

/**
 * Examines the metadata of all objects of the kinds that the modules reconcile or define, and of every other kind for
 * finalizers of modules that are gone.
 */
export async function checkCluster(
  modules: readonly LoadedModule[],
  options: { readonly cluster: ClusterConfig; readonly namespaces: readonly string[] | undefined },
): Promise<ClusterFindings> {
  const kinds = new Map<string, { readonly resource: Resource; readonly owners: Map<string, Declarations> }>();
  const kindOf = (resource: Resource) => {
    const id = groupKind(resource);
    if (!kinds.has(id)) kinds.set(id, { resource, owners: new Map() });
    return kinds.get(id)!;
  };
  for (const { definitions } of modules) {
    for (const resource of definitions.resources) kindOf(resource);
    for (const controller of definitions.controllers) {
      const declarations = declarationsOf(controller);
      const { name, formerly, for: primary } = declarations;
      if (primary === undefined) continue;
      const { owners } = kindOf(primary.resource);
      for (const one of [name, ...formerly]) owners.set(finalizerName(primary.resource, one), declarations);
    }
  }
  const { namespaces } = options;
  await using transport = createTransport(options.cluster);
  const mapper = new RestMapper(transport);
  const notes: string[] = [];
  const problems: string[] = [];
  for (const { resource, owners } of kinds.values()) {
    const kindText = `${resource.kind} (${resource.apiVersion})`;
    try {
      const { objects, dead } = await lookThrough(resource, { transport, mapper, owners, namespaces });
      notes.push(`${kindText}: objects: ${objects}`);
      for (const [finalizer, { why, example, objects: count, deleting }] of dead) {
        problems.push(
          `${kindText}: nothing removes the finalizer ${finalizer}, because ${why} ` +
            `(objects: ${count}, being deleted: ${deleting}, such as ${example})`,
        );
      }
    } catch (error) {
      if (isNotFound(error)) notes.push(`${kindText}: not installed`);
      else if (isApiError(error)) problems.push(`${kindText}: ${error.message}`);
      else throw error;
    }
  }
  const others = await lookThroughOthers(transport, new Set(kinds.keys()));
  return { notes: [...notes, ...others.notes], problems: [...problems, ...others.problems] };
}

interface Search {
  readonly transport: Transport;
  readonly mapper: RestMapper;
  /** The controllers by their finalizer. */
  readonly owners: ReadonlyMap<string, Declarations>;
  /** The namespaces of controllers that do not name any. */
  readonly namespaces: readonly string[] | undefined;
}

async function lookThrough(
  resource: Resource,
  { transport, mapper, owners, namespaces }: Search,
): Promise<{ readonly objects: number; readonly dead: ReadonlyMap<string, Dead> }> {
  const domain = finalizerName(resource, "");
  const mapping = mapper.known(resource) ?? (await mapper.resolve(resource));
  const dead = new Map<string, Dead>();
  let objects = 0;
  await listMetadata(transport, {
    path: collectionPath(mapping),
    type: resource,
    fullListIfExpired: true,
    onRestart() {
      objects = 0;
      dead.clear();
    },
    onPage(page) {
      objects += page.length;
      for (const { metadata } of page) {
        for (const finalizer of metadata.finalizers ?? []) {
          if (!finalizer.startsWith(domain)) continue;
          const owner = owners.get(finalizer);
          const why = reason(owner, {
            name: finalizer.slice(domain.length),
            watched: owner?.for?.options.namespaces ?? namespaces,
            namespace: metadata.namespace,
          });
          if (why === undefined) continue;
          const known = dead.get(finalizer) ?? { why, example: keyString(metadata), objects: 0, deleting: 0 };
          known.objects++;
          if (metadata.deletionTimestamp !== undefined) known.deleting++;
          dead.set(finalizer, known);
        }
      }
    },
  });
  return { objects, dead };
}

interface Carried {
  /** The finalizer without its domain. */
  readonly name: string;
  /** The namespaces that its controller watches. */
  readonly watched: readonly string[] | NamespaceSelector | undefined;
  /** The namespace of the object. */
  readonly namespace: string | undefined;
}

/** Explains why nobody removes the finalizer; `undefined` when its controller does. */
function reason(owner: Declarations | undefined, { name, watched, namespace }: Carried): string | undefined {
  if (owner === undefined) return `no controller here is called '${name}', now or \`formerly\``;
  if (owner.finalizers.length === 0) return `controller '${owner.name}' has no \`finalize\``;
  if (watched === undefined || isNamespaceSelector(watched) || namespace === undefined) return undefined;
  return watched.includes(namespace) ? undefined : `controller '${owner.name}' does not watch their namespace`;
}
