/**
 * Deletes objects whose owners are all gone, and handles owners that are deleted after, or without, their dependents.
 *
 * A change of any object updates the graph, and the graph says which objects to check. A check asks the server,
 * because the graph may lag behind and a deletion cannot be undone.
 */
import {
  allow,
  type Client,
  defineKeyController,
  type Definition,
  isConflict,
  type OwnerReference,
  type Result,
  RetryError,
} from "../../index.ts";
import { CustomResourceDefinition } from "../../resource/builtin/index.ts";
import { builtinKinds, servedKind, type StoredKind } from "../kinds/stored-kinds.ts";
import { identityOf, FOREGROUND, type Identity, type Node, ORPHAN, ownerIdentity, waitsFor } from "./node.ts";
import type { ObjectFeed } from "./object-feed.ts";
import { OwnerGraph, type AbsentOwners } from "./owner-graph.ts";
import { deleteUnowned, dropFinalizer, dropOwners, unblockOwners } from "./patches.ts";
import { stayInformed } from "./attention.ts";
import { recordWarning } from "../workload/core-event.ts";

/** How often it checks an object that changes between the check and the deletion each time. */
const LOOKS = 5;
/** Milliseconds until an object that no event has shown is checked again. */
const VIRTUAL_AGAIN_MS = 1_000;

/** Collects garbage. Without a feed of all objects it watches the built-in kinds only. */
export function garbageCollector(objects: ObjectFeed | undefined): Definition {
  const strays: Stray[] = [];
  const attention = stayInformed(objects, (look) => {
    return new OwnerGraph({
      look: ({ identity }) => look(identity.uid),
      strays: (dependent, owner) => {
        strays.push({ dependent: dependent.identity, owner });
        look(dependent.identity.uid);
      },
    });
  });
  return defineKeyController({
    name: "garbage-collector",
    concurrency: 16,
    watches: attention.watches,
    reads: [CustomResourceDefinition],
    uses: builtinKinds.map(({ handle }) => allow(handle, "get", "patch", "delete", "create")),
    async reconcile({ name: uid }, { client, attempt }) {
      for (const stray of strays.splice(0)) await reportStray(client, stray);
      const { graph } = attention;
      const node = graph.get(uid);
      if (node === undefined) return;
      const kind = await servedKind(client, node.identity);
      // The kind is not defined yet, or it is gone and the clean-up of its definition deletes its objects.
      if (kind === undefined)
        throw new RetryError(`No kind ${node.identity.kind} is served`, { after: later(attempt) });
      for (let looks = 1; ; looks++) {
        try {
          return await look(node, { client, graph, kind });
        } catch (error) {
          if (!isConflict(error) || looks === LOOKS) throw error;
        }
      }
    },
  });
}

interface Look {
  readonly client: Client;
  readonly graph: OwnerGraph;
  readonly kind: StoredKind;
}

async function look(node: Node, { client, graph, kind }: Look): Promise<void | Result> {
  const { identity } = node;
  // Meanwhile a user may have requested that it waits for its other dependents.
  if (node.isOrphaning) await orphan(node, { client, kind });
  // A deletion cannot be reverted; dependents that remain are handled by other checks.
  if (node.isBeingDeleted && !node.isDeletingDependents) return;
  const { name, namespace } = identity;
  if (kind.isNamespaced && namespace === undefined) return; // a cluster-scoped object names it, which it cannot own
  const key = kind.isNamespaced ? { name, namespace } : { name };
  const latest = await client.live.find(kind.handle, key);
  if (latest?.metadata.uid !== identity.uid) return graph.isGone(identity);
  if (node.isDeletingDependents) return waitForDependents(node, { client, graph, kind });
  const { ownerReferences: owners = [] } = latest.metadata;
  if (owners.length > 0) {
    const classes = new OwnerClasses(client, graph.absent);
    try {
      await classes.take(owners, identity.namespace);
    } catch (error) {
      if (error instanceof NamespacedOwner) return; // this can never become right
      throw error;
    }
    const { solid, dangling, waiting } = classes;
    if (solid.length > 0) {
      const rest = [...dangling, ...waiting];
      if (rest.length > 0) await dropOwners(client, kind, { object: identity, owners: rest.map(({ uid }) => uid) });
    } else {
      const isWaitedFor = waiting.length > 0 && node.dependents.size > 0;
      // In a cycle, each object would wait for the next for ever.
      if (isWaitedFor && [...node.dependents].some(({ isDeletingDependents }) => isDeletingDependents))
        await unblockOwners(client, kind, { object: identity, owners: node.owners });
      const isThere = await deleteUnowned(client, kind, { latest, inForeground: isWaitedFor });
      if (!isThere) graph.isGone(identityOf(latest));
    }
  }
  if (node.isVirtual && node.dependents.size > 0) return { requeueAfter: VIRTUAL_AGAIN_MS };
}

/** Releases an owner whose dependents are gone, or asks for a check of the remaining ones. */
async function waitForDependents(node: Node, { client, graph, kind }: Look): Promise<void> {
  const blocking = node.blockingDependents;
  if (blocking.length === 0) return dropFinalizer(client, kind, { object: node.identity, finalizer: FOREGROUND });
  for (const dependent of blocking) if (!dependent.isDeletingDependents) graph.look(dependent);
}

/** Orphans the dependents, then releases the owner. */
async function orphan(node: Node, { client, kind }: Omit<Look, "graph">): Promise<void> {
  const { identity } = node;
  const freed = await Promise.allSettled(
    Array.from(node.dependents, async (dependent) => {
      const dependentKind = await servedKind(client, dependent.identity);
      if (dependentKind === undefined) return;
      await dropOwners(client, dependentKind, { object: dependent.identity, owners: [identity.uid] });
    }),
  );
  const failed = freed.find(({ status }) => status === "rejected");
  if (failed !== undefined) throw (failed as PromiseRejectedResult).reason;
  await dropFinalizer(client, kind, { object: identity, finalizer: ORPHAN });
  node.isOrphaning = false;
}

/** The delay starts at 100 ms and doubles each time, up to 5 minutes. */
function later(attempt: number): number {
  return Math.min(100 * 2 ** Math.min(attempt - 1, 20), 300_000);
}

/** An owner reference that crosses namespaces. */
interface Stray {
  readonly dependent: Identity;
  readonly owner: OwnerReference;
}

async function reportStray(client: Client, { dependent, owner }: Stray): Promise<void> {
  const { apiVersion, kind, name, namespace, uid } = dependent;
  const { apiVersion: version, kind: ownerKind, name: ownerName, uid: ownerUid } = owner;
  const reference = `[${version}/${ownerKind}, namespace: ${namespace ?? ""}, name: ${ownerName}, uid: ${ownerUid}]`;
  await recordWarning(client, {
    about: { apiVersion, kind, name, namespace, uid },
    reason: "OwnerRefInvalidNamespace",
    message: `ownerRef ${reference} does not exist in namespace "${namespace ?? ""}"`,
    component: "garbage-collector-controller",
    now: Date.now(),
  });
}

/** Thrown when a cluster-scoped object names a namespaced owner. */
class NamespacedOwner extends Error {}

/** Owners that keep an object alive, absent owners, and owners whose own deletion waits for the object. */
class OwnerClasses {
  readonly solid: OwnerReference[] = [];
  readonly dangling: OwnerReference[] = [];
  readonly waiting: OwnerReference[] = [];
  readonly #client: Client;
  readonly #absent: AbsentOwners;

  constructor(client: Client, absent: AbsentOwners) {
    this.#client = client;
    this.#absent = absent;
  }

  /** Classifies the owners. @throws NamespacedOwner, and RetryError when the kind of an owner is not served. */
  async take(owners: readonly OwnerReference[], namespace: string | undefined): Promise<void> {
    for (const owner of owners) (await this.#classOf(owner, namespace)).push(owner);
  }

  async #classOf(owner: OwnerReference, namespace: string | undefined): Promise<OwnerReference[]> {
    const inCluster = ownerIdentity(owner, undefined);
    const inNamespace = ownerIdentity(owner, namespace);
    if (this.#absent.has(inCluster) || this.#absent.has(inNamespace)) return this.dangling;
    const kind = await servedKind(this.#client, owner);
    if (kind === undefined)
      throw new RetryError(`No kind ${owner.kind} of ${owner.apiVersion} is served`, { after: "1s" });
    if (kind.isNamespaced && namespace === undefined) throw new NamespacedOwner(owner.name);
    const { name, uid } = owner;
    const live = await this.#client.live.find(kind.handle, kind.isNamespaced ? { name, namespace } : { name });
    if (live?.metadata.uid !== uid) {
      this.#absent.add(kind.isNamespaced ? inNamespace : inCluster);
      return this.dangling;
    }
    return waitsFor(FOREGROUND, live) ? this.waiting : this.solid;
  }
}
