/** Empties a namespace that is being deleted, then removes its finalizer. */
import {
  allow,
  type Client,
  defineKeyController,
  type Definition,
  isApiError,
  isNotFound,
  type Result,
  watch,
} from "../../index.ts";
import { CustomResourceDefinition, Namespace } from "../../resource/builtin/index.ts";
import type { Clock } from "../../platform/clock.ts";
import { namespacesOf, type ObjectFeed, type OwnedChange } from "../garbage-collector/object-feed.ts";
import { builtinKinds, customKinds, type StoredKind } from "../kinds/stored-kinds.ts";
import { timestamp } from "../workload/time.ts";
import { conditionsAfter, type Round } from "./namespace-conditions.ts";

const FINALIZER = "kubernetes";
const builtinContent = builtinKinds.filter(({ isNamespaced }) => isNamespaced);
const pods = builtinContent.find(({ plural }) => plural === "pods")!;

/**
 * Deletes the content of namespaces that are being deleted.
 *
 * @param objects reports all objects; without it the namespace is checked again at intervals.
 * @see https://kubernetes.io/docs/tasks/administer-cluster/namespaces/#deleting-a-namespace
 */
export function namespaceDeletion(clock: Clock, objects: ObjectFeed | undefined): Definition {
  const isDeletion = ({ type }: OwnedChange) => type === "DELETED";
  return defineKeyController({
    name: "namespace-deletion",
    watches: [
      watch(Namespace, { enqueue: (namespace) => (isLeaving(namespace) ? [namespace] : []) }),
      ...(objects === undefined ? [] : [namespacesOf(objects, { counts: isDeletion, keyOf: (name) => ({ name }) })]),
    ],
    reads: [CustomResourceDefinition],
    uses: [
      allow(Namespace, "status/update", "finalize/update"),
      ...builtinContent.map(({ handle }) => allow(handle, "list", "deletecollection")),
    ],
    async reconcile({ name }, { client }) {
      const known = await client.find(Namespace, { name });
      if (known === undefined || !isLeaving(known)) return undefined;
      const namespace = await client.live.find(Namespace, { name });
      if (namespace === undefined || !isLeaving(namespace)) return undefined;
      const round = await deleteContent(client, name);
      const now = clock.now();
      await report(client, namespace, { round, now });
      if (round.remaining.size > 0 || round.errors.length > 0) return again(namespace, now);
      await release(client, namespace);
      return undefined;
    },
  });
}

function isLeaving({ metadata, spec }: Namespace): boolean {
  return metadata.deletionTimestamp !== undefined && spec?.finalizers?.includes(FINALIZER) === true;
}

/** The first checks come sooner, because most objects that pods leave behind are gone at once. */
function again({ metadata }: Namespace, now: number): Result {
  const since = now - Date.parse(metadata.deletionTimestamp ?? "");
  return { requeueAfter: Math.min(Math.max(since / 4, 100), 5_000) };
}

/** Pods are deleted first, because they may need the other objects while they run. */
async function deleteContent(client: Client, namespace: string): Promise<Round> {
  const ofPods = await deleteKinds(client, [pods], namespace);
  if (ofPods.remaining.size > 0) return ofPods;
  const kinds = [...builtinContent, ...(await customKinds(client)).filter(({ isNamespaced }) => isNamespaced)];
  return deleteKinds(
    client,
    kinds.filter((kind) => kind !== pods),
    namespace,
  );
}

async function deleteKinds(client: Client, kinds: readonly StoredKind[], namespace: string): Promise<Round> {
  const remaining = new Map<string, number>();
  const finalizers = new Map<string, number>();
  const errors: string[] = [];
  await Promise.all(
    kinds.map(async (kind) => {
      try {
        const left = await deleteKind(client, kind, namespace);
        if (left.length === 0) return;
        remaining.set(`${kind.plural}.${kind.handle.group}`, left.length);
        const names = left.flatMap(({ metadata }) => metadata.finalizers ?? []);
        for (const name of names) finalizers.set(name, (finalizers.get(name) ?? 0) + 1);
        if (names.length === 0 && kind !== pods) errors.push(unexpected(kind, namespace));
      } catch (error) {
        if (isNotFound(error)) return; // meanwhile the kind was removed
        errors.push(isApiError(error) ? (error.status.message ?? error.message) : String(error));
      }
    }),
  );
  return { remaining, finalizers, errors };
}

/** The remaining objects of a kind after its deletion. */
async function deleteKind(
  client: Client,
  { handle }: StoredKind,
  namespace: string,
): ReturnType<Client["live"]["list"]> {
  const there = await client.live.list(handle, { namespace });
  if (there.length === 0) return there;
  await client.deleteAll(handle, { namespace }, { propagation: "Background" });
  return client.live.list(handle, { namespace });
}

function unexpected({ handle, plural }: StoredKind, namespace: string): string {
  const { group, version } = handle;
  return `unexpected items still remain in namespace: ${namespace} for gvr: ${group}/${version}, Resource=${plural}`;
}

interface Report {
  readonly round: Round;
  /** The current time in milliseconds. */
  readonly now: number;
}

async function report(client: Client, namespace: Namespace, { round, now }: Report): Promise<void> {
  const conditions = conditionsAfter(namespace.status?.conditions ?? [], round, timestamp(now));
  if (conditions === undefined) return;
  const { name } = namespace.metadata;
  const body = { ...namespace, status: { ...namespace.status, phase: "Terminating", conditions } };
  await client.subresource("status").update(Namespace, { name }, body).catch(unlessOvertaken);
}

/** Removes the finalizer from the namespace's spec; the namespace is deleted with the last one. */
async function release(client: Client, { metadata: { name } }: Namespace): Promise<void> {
  const latest = await client.live.find(Namespace, { name });
  if (latest === undefined) return;
  const finalizers = latest.spec?.finalizers?.filter((finalizer) => finalizer !== FINALIZER) ?? [];
  const body = { ...latest, spec: { ...latest.spec, finalizers } };
  await client.subresource("finalize").update(Namespace, { name }, body);
}

/** A conflict is ignored, because the next round reports again. */
function unlessOvertaken(error: unknown): void {
  if (!isApiError(error)) throw error;
}
