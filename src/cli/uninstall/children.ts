/**
 * Deletes the objects of a kind together with their children, which the garbage collector has to see while the kind
 * exists.
 */
import { declarationsOf } from "../../controller/declarations.ts";
import { listMetadata } from "../../kube/api/list.ts";
import { collectionPath, RestMapper } from "../../kube/api/mapper.ts";
import { isNotFound } from "../../kube/errors/api-error.ts";
import type { Transport } from "../../kube/transport/transport.ts";
import type { LoadedModule } from "../../module/loaded-module.ts";
import { groupKind, groupOf, type Resource } from "../../resource/handle.ts";
import type { ObjectMeta } from "../../resource/meta.ts";
import {
  becomes,
  deletionTarget,
  type DeletionTarget,
  find,
  type ClusterObject,
  list,
  type Patience,
} from "./cluster-objects.ts";
import { asStored, type Definition, objectsOf } from "./definitions.ts";

/**
 * Milliseconds to wait: the garbage collector notices a kind, or a conversion that works again, within half a minute.
 */
const COLLECTED_WITHIN = 120_000;

/**
 * Deletes all objects of a definition, and waits for the end of their children. If the definition were deleted before
 * the garbage collector noticed the end of its objects, their children would stay for ever.
 *
 * @returns the remaining objects; `undefined` when there are none.
 */
export async function deleteObjects(
  transport: Transport,
  { resource }: Definition,
  { modules, ...patience }: Patience & { readonly modules: readonly LoadedModule[] },
): Promise<string | undefined> {
  const mapper = new RestMapper(transport);
  const children = await childrenOf(transport, { owner: resource, modules, mapper });
  const { namespaces } = await objectsOf(transport, resource);
  if (namespaces.size > 0) {
    const mapping = await mapper.resolve(await asStored(transport, resource));
    const body = { apiVersion: "v1", kind: "DeleteOptions", propagationPolicy: "Background" };
    for (const namespace of namespaces) {
      patience.signal.throwIfAborted();
      await transport.request({ method: "DELETE", path: collectionPath(mapping, namespace), body });
    }
    const isEmpty = async (): Promise<boolean> =>
      (await list(transport, collectionPath(mapping, ""), "limit=1")).length === 0;
    if (!(await becomes(isEmpty, patience)))
      return `its objects could not be deleted within ${patience.timeout / 1_000} s`;
  }
  const areGone = async (): Promise<boolean> => {
    for (let last = children.at(-1); last !== undefined; last = children.at(-1)) {
      const live = await find<Owned & ClusterObject>(transport, last.path);
      // A child with other owners stays, and loses only this reference.
      if (live?.metadata.uid === last.uid && isOwnedBy(resource, live)) return false;
      children.pop();
    }
    return true;
  };
  const { signal, timeout } = patience;
  if (await becomes(areGone, { signal, timeout: Math.min(timeout, COLLECTED_WITHIN) })) return undefined;
  return `the garbage collector has not deleted ${children.length} children of its objects, such as ${children.at(-1)?.what}`;
}

interface Owned {
  readonly metadata: Pick<ObjectMeta, "ownerReferences">;
}

/** Whether an object has an owner of this kind. */
function isOwnedBy(owner: Resource, { metadata: { ownerReferences = [] } }: Owned): boolean {
  return ownerReferences.some(({ apiVersion, kind }) => kind === owner.kind && groupOf(apiVersion) === owner.group);
}

/** Returns the objects of the modules' child kinds that an object of this kind owns. */
async function childrenOf(
  transport: Transport,
  about: { readonly owner: Resource; readonly modules: readonly LoadedModule[]; readonly mapper: RestMapper },
): Promise<DeletionTarget[]> {
  const { owner, modules, mapper } = about;
  const kinds = new Map<string, Resource>();
  for (const controller of modules.flatMap(({ definitions }) => definitions.controllers)) {
    const { for: primary, owns } = declarationsOf(controller);
    if (primary === undefined || groupKind(primary.resource) !== groupKind(owner)) continue;
    for (const { resource } of owns) kinds.set(groupKind(resource), resource);
  }
  const children: DeletionTarget[] = [];
  for (const resource of kinds.values()) {
    try {
      const mapping = mapper.known(resource) ?? (await mapper.resolve(resource));
      await listMetadata(transport, {
        path: collectionPath(mapping, ""),
        type: resource,
        fullListIfExpired: true,
        onRestart() {},
        onPage(page) {
          for (const { metadata } of page) {
            if (!isOwnedBy(owner, { metadata })) continue;
            const { name, namespace = "" } = metadata;
            children.push(deletionTarget(`${collectionPath(mapping, namespace)}/${name}`, resource.kind, { metadata }));
          }
        },
      });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
  return children;
}
