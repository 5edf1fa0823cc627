/** The Leases by which copies of the modules elect a leader, or divide the keys. */
import { electionDurations } from "../election-options.ts";
import { durationOf, holderOf, type Lease } from "../../election/lease.ts";
import { leaseName } from "../../election/lease-name.ts";
import { shardGroup, shardLeaseNames } from "../../election/shard-leases.ts";
import { MOST_SEATS } from "../../election/division.ts";
import { GROUP_LABEL } from "../../election/shard-publication.ts";
import type { Transport } from "../../kube/transport/transport.ts";
import { PROCESS } from "../../manager/elections.ts";
import { UserError } from "../usage-error.ts";
import {
  becomes,
  deletionTarget,
  type DeletionTarget,
  find,
  type ClusterObject,
  list,
  type Patience,
  remove,
} from "./cluster-objects.ts";

export interface LeaseId {
  readonly namespace: string;
  readonly id: string;
}

type LiveLease = ClusterObject & Lease;

/** The milliseconds that copies have to give up their Leases. */
export const LEASE_WITHIN = 30_000;
/** The most milliseconds to wait for the holder of a Lease, whatever duration the Lease has. */
const LONGEST_LEASE = 60_000;
const DEFAULT_LEASE = electionDurations().leaseDuration;

/** In the image and below the mount, one folder holds all modules, so their names contain no folder. */
export function fileOf(module: string): string {
  return module.slice(module.lastIndexOf("/") + 1);
}

function collection({ namespace }: LeaseId): string {
  return `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
}

/** Returns the Leases that copies of the modules have left. */
export async function leasesOf(
  transport: Transport,
  lease: LeaseId,
  modules: readonly string[],
): Promise<readonly DeletionTarget[]> {
  const { id } = lease;
  const elected = new Set([id, ...[...modules, PROCESS].map((module) => leaseName(id, fileOf(module)))]);
  const seats = new Set(shardLeaseNames(id, MOST_SEATS));
  const group = shardGroup(id);
  const isOurs = ({ metadata: { name, labels } }: ClusterObject): boolean =>
    elected.has(name) || (seats.has(name) && labels?.[GROUP_LABEL] === group);
  const leases = await list<ClusterObject>(transport, collection(lease));
  return leases.filter(isOurs).map((one) => deletionTarget(`${collection(lease)}/${one.metadata.name}`, "Lease", one));
}

/**
 * Deletes a Lease, unless somebody holds it: without the Lease, the copy that works and a new one would both lead.
 *
 * @returns the holder.
 */
export async function removeLease(transport: Transport, lease: DeletionTarget): Promise<string | undefined> {
  const live = await find<LiveLease>(transport, lease.path);
  if (live === undefined) return undefined;
  const age = Date.now() - Date.parse(live.spec?.renewTime ?? "");
  if (holderOf(live) !== "" && age < 2 * Math.min(durationOf(live, DEFAULT_LEASE), LONGEST_LEASE))
    return holderOf(live);
  await remove(transport, lease);
  return undefined;
}

/** Determines how copies elect a leader; when there is no Lease, they do not. */
export async function electing(
  transport: Transport,
  lease: LeaseId,
  modules: readonly string[],
): Promise<"process" | "module" | undefined> {
  const isHeld = async (name: string): Promise<boolean> =>
    holderOf(await find<LiveLease>(transport, `${collection(lease)}/${name}`)) !== "";
  if (await isHeld(lease.id)) return "process";
  for (const name of modules) {
    if (await isHeld(leaseName(lease.id, fileOf(name)))) return "module";
  }
  return undefined;
}

/**
 * Waits until no replica renews any of the Leases that divide the keys: such a replica would set finalizers anew.
 *
 * @throws UserError naming a Lease that is still renewed.
 */
export async function noShardWorks(transport: Transport, lease: LeaseId, patience: Patience): Promise<void> {
  const query = `labelSelector=${encodeURIComponent(`${GROUP_LABEL}=${shardGroup(lease.id)}`)}`;
  const seen = new Map<string, { readonly version: string; readonly since: number }>();
  let held: string | undefined;
  const isOver = (one: LiveLease): boolean => {
    const { name, resourceVersion: version } = one.metadata;
    const now = performance.now();
    const before = seen.get(name);
    if (before?.version !== version) seen.set(name, { version, since: now });
    else if (now - before.since > Math.min(durationOf(one, DEFAULT_LEASE), LONGEST_LEASE)) return true;
    return holderOf(one) === "";
  };
  const areOver = async (): Promise<boolean> => {
    const leases = await list<LiveLease>(transport, collection(lease), query);
    held = leases.filter((one) => !isOver(one))[0]?.metadata.name;
    return held === undefined;
  };
  const { signal, timeout } = patience;
  if (await becomes(areOver, { signal, timeout: Math.min(timeout, LEASE_WITHIN) })) return;
  throw new UserError(
    `Cannot uninstall while replicas work that divide the keys (--shards): one of them renews the Lease ${lease.namespace}/${held}. Stop ` +
      "them and run this again, or say --ignore-lease when they do not run these modules",
  );
}
