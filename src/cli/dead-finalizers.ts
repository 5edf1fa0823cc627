/**
 * Finds finalizers on the cluster that no controller of these modules would ever remove, so that their objects cannot
 * be deleted.
 */
import { isNamespaceSelector, type NamespaceSelector } from "../cache/selected-namespaces.ts";
import { declarationsOf, type Declarations } from "../controller/declarations.ts";
import { isApiError, isForbidden, isNotFound } from "../kube/errors/api-error.ts";
import type { ClusterConfig } from "../kube/config/cluster-config.ts";
import { collectionPath, type Mapping, RestMapper } from "../kube/api/mapper.ts";
import { createTransport, type Transport } from "../kube/transport/transport.ts";
import type { LoadedModule } from "../module/loaded-module.ts";
import { finalizerName } from "../reconcile/finalizer.ts";
import { type AnyObject, groupKind, type Resource } from "../resource/handle.ts";
import { everyKind, type ServedKind } from "./every-kind.ts";
import { countFinalizers, type FinalizerCount, type ObjectCounts } from "./finalizer-counts.ts";

export interface ClusterFindings {
  /** Describes which objects were examined. */
  readonly notes: readonly string[];
  readonly problems: readonly string[];
}

/**
 * Examines the metadata of all objects of the kinds that the modules reconcile or define, and searches all other kinds
 * for finalizers of removed modules.
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
      const { count, finalizers, reasons } = await deadFinalizers(resource, { transport, mapper, owners, namespaces });
      notes.push(`${kindText}: objects: ${count}`);
      for (const [finalizer, carriers] of finalizers) {
        problems.push(`${kindText}: ${nothingRemoves(finalizer, { why: reasons.get(finalizer)!, ...carriers })}`);
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

/**
 * Counts the finalizers of controllers that nobody removes; the reason is that of the first object that carries one.
 */
async function deadFinalizers(
  resource: Resource,
  { transport, mapper, owners, namespaces }: Search,
): Promise<ObjectCounts & { readonly reasons: ReadonlyMap<string, string> }> {
  const domain = finalizerName(resource, "");
  const reasons = new Map<string, string>();
  const mapping = mapper.known(resource) ?? (await mapper.resolve(resource));
  const counts = await countFinalizers(transport, {
    path: collectionPath(mapping),
    type: resource,
    isCounted(finalizer, { metadata: { namespace } }) {
      if (!finalizer.startsWith(domain)) return false;
      const owner = owners.get(finalizer);
      const watched = owner?.for?.options.namespaces ?? namespaces;
      const why = reason(owner, { name: finalizer.slice(domain.length), watched, namespace });
      if (why !== undefined && !reasons.has(finalizer)) reasons.set(finalizer, why);
      return why !== undefined;
    },
  });
  return { ...counts, reasons };
}

function nothingRemoves(
  finalizer: string,
  { why, objects, deleting, example }: FinalizerCount & { readonly why: string },
): string {
  const carriers = `objects: ${objects}, being deleted: ${deleting}, such as ${example}`;
  return `nothing removes the finalizer ${finalizer}, because ${why} (${carriers})`;
}

interface Carried {
  /** The finalizer without its domain. */
  readonly name: string;
  /** The namespaces that its controller watches. */
  readonly watched: readonly string[] | NamespaceSelector | undefined;
  /** The namespace of the object. */
  readonly namespace: string | undefined;
}

/** Explains why no controller removes the finalizer; `undefined` when its own one does. */
function reason(owner: Declarations | undefined, { name, watched, namespace }: Carried): string | undefined {
  if (owner === undefined) return `no controller here is called '${name}', now or \`formerly\``;
  if (owner.finalizers.length === 0) return `controller '${owner.name}' has no \`finalize\``;
  if (watched === undefined || isNamespaceSelector(watched) || namespace === undefined) return undefined;
  return watched.includes(namespace) ? undefined : `controller '${owner.name}' does not watch their namespace`;
}

/**
 * Searches the metadata of all listable objects of all other kinds for finalizers that removed modules have left
 * behind.
 */
async function lookThroughOthers(transport: Transport, known: ReadonlySet<string>): Promise<ClusterFindings> {
  const problems: string[] = [];
  const unseen: string[] = [];
  let kinds = 0;
  let objects = 0;
  for (const listed of await everyKind(transport)) {
    const { resource, isStored } = listed;
    if (!isStored || known.has(groupKind(resource)) || resource.kind === "Event") continue;
    const kindText = `${resource.kind} (${resource.apiVersion})`;
    try {
      const { count, finalizers } = await countFinalizers(transport, {
        path: collectionPath(mappingOf(listed), ""),
        type: resource,
        isCounted: (finalizer, object) => isOfItsManager(finalizer, { resource, object }),
      });
      kinds++;
      objects += count;
      for (const [finalizer, carriers] of finalizers) {
        const why = "no controller here is for this kind";
        problems.push(`${kindText}: ${nothingRemoves(finalizer, { why, ...carriers })}`);
      }
    } catch (error) {
      if (!isApiError(error)) throw error;
      if (isForbidden(error)) unseen.push(resource.kind);
    }
  }
  const notes = kinds === 0 ? [] : [`other kinds: ${kinds}, objects: ${objects}`];
  if (unseen.length > 0) notes.push(`not looked through, because listing is forbidden: ${unseen.join(", ")}`);
  return { notes, problems };
}

function mappingOf({ resource, namespaced }: ServedKind): Mapping {
  const { apiVersion, kind, group, version, plural = "" } = resource;
  return { apiVersion, kind, group, version, plural, namespaced, subresources: [] };
}

/** Whether the controller with the finalizer's name set the finalizer; its field manager has the same name. */
function isOfItsManager(
  finalizer: string,
  { resource, object }: { readonly resource: Resource; readonly object: AnyObject },
): boolean {
  return (object.metadata.managedFields ?? []).some(({ manager, fieldsV1 }) => {
    if (manager === undefined || finalizerName(resource, manager) !== finalizer) return false;
    const set = fieldsV1?.["f:metadata"]?.["f:finalizers"];
    return set !== undefined && Object.hasOwn(set, `v:${JSON.stringify(finalizer)}`);
  });
}
