/** `dev --take-over`: works in place of the copy in the cluster, which pauses meanwhile. */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { basename } from "node:path";
import { electionDurations } from "./election-options.ts";
import { holderOf, type Lease, shownHolder } from "../election/lease.ts";
import { leaseName } from "../election/lease-name.ts";
import { GROUP_LABEL } from "../election/shard-publication.ts";
import { isApiError, isNotFound, isUnreachable } from "../kube/errors/api-error.ts";
import type { ClusterConfig } from "../kube/config/cluster-config.ts";
import { createTransport, type Transport } from "../kube/transport/transport.ts";
import type { ElectionOptions } from "../manager/elections.ts";
import type { Log } from "../observe/log.ts";
import type { ServiceAccount } from "../module/rbac-manifests.ts";
import { UsageError, UserError } from "./usage-error.ts";

/** The value of `--take-over` without a text: the Lease in the output of `manifests deploy`. */
const OWN = "own";
/** The prefix of the identity of a developer's process, which distinguishes it from copies in the cluster. */
const DEV = "dev_";
/** The default durations, which the copy in the cluster has unless its Lease says others. */
const DURATIONS = electionDurations();

export const takeOverOption: {
  readonly name: "take-over";
  readonly type: "string";
  readonly bare: string;
  readonly describe: string;
} = {
  name: "take-over",
  type: "string",
  bare: OWN,
  describe:
    "With --context or --kubeconfig: pause the copy in the cluster by taking its Lease, and give it back at the end; " +
    "namespace/name of the Lease; without a value the one of what `manifests deploy` prints",
};

interface LeaseId {
  readonly namespace: string;
  readonly id: string;
}

/** @param own the account of the deployed copy. @throws UsageError */
function parsed(text: string, own: ServiceAccount | undefined): LeaseId {
  if (text === OWN && own !== undefined) return { namespace: own.namespace, id: own.name };
  const [, namespace, id] = /^([a-z0-9][-a-z0-9]*)\/([a-z0-9][-a-z0-9.]*)$/.exec(text) ?? [];
  if (namespace === undefined || id === undefined)
    throw new UsageError(`--take-over is '${text}': expected namespace/name of a Lease`);
  return { namespace, id };
}

export interface TakeOverOptions {
  readonly cluster: ClusterConfig;
  /** The modules that are to run. */
  readonly modules: readonly string[];
  /** The account of the deployed copy in `manifests deploy`; `undefined` when it is unknown. */
  readonly account: ServiceAccount | undefined;
  readonly log: Log;
}

/**
 * Returns the options to take part in the election of the copies in the cluster, as the next process to lead.
 *
 * @throws UsageError, and UserError when there is no election to take part in.
 */
export async function takeOver(
  text: string,
  { cluster, modules, account, log }: TakeOverOptions,
): Promise<ElectionOptions> {
  const { namespace, id } = parsed(text, account);
  await using transport = createTransport(cluster);
  try {
    const own = await leaseOf(transport, { namespace, id });
    const leases = own === undefined ? await leasesOf(transport, { namespace, id }) : [own];
    const names = modules.map((module) => leaseName(id, basename(module)));
    const mine = own === undefined ? leases.filter(({ metadata }) => names.includes(metadata.name)) : leases;
    if (mine.length === 0) throw new UserError(nothingToTake({ namespace, id }, leases));
    for (const lease of mine) {
      const holder = holderOf(lease);
      if (holder.startsWith(DEV))
        log.warn("Another binnacle dev has taken over: this one works when that one ends", {
          holder: shownHolder(holder),
        });
    }
    return {
      ...DURATIONS,
      mode: own === undefined ? "module" : "process",
      id,
      namespace,
      release: true,
      identity: `${DEV}${hostname()}_${randomUUID()}`,
      takesOverFrom: (holder) => !holder.startsWith(DEV),
    };
  } catch (error) {
    if (!isApiError(error) && !isUnreachable(error)) throw error;
    throw new UserError(`Cannot take over from the copy in the cluster: ${error.message}`, { cause: error });
  }
}

function nothingToTake({ namespace, id }: LeaseId, leases: readonly Lease[]): string {
  const cannot = "Cannot take over from the copy in the cluster";
  if (leases.some(({ metadata }) => metadata.labels?.[GROUP_LABEL] !== undefined)) {
    return (
      `${cannot}: its replicas divide the keys with --shards, and no single one leads. ` +
      `Stop them first: kubectl scale --replicas=0 --namespace ${namespace} deployment/${id}`
    );
  }
  return (
    `${cannot}: there is no Lease ${namespace}/${id}. Name the one of its --leader-election-id with ` +
    "--take-over=NAMESPACE/NAME; a copy without --leader-elect has none, and can only be stopped"
  );
}

/**
 * Warns that a copy in the cluster seems to work on the same objects. It is only a hint, so failures are not reported.
 */
export async function warnOfCopy(
  cluster: ClusterConfig,
  { account, log }: Pick<TakeOverOptions, "account" | "log">,
): Promise<void> {
  if (account === undefined) return;
  await using transport = createTransport(cluster);
  try {
    const { namespace, name: id } = account;
    const lease = await leaseOf(transport, { namespace, id });
    const holder = holderOf(lease);
    if (holder === "") return;
    const age = Date.now() - Date.parse(lease?.spec?.renewTime ?? "");
    if (!(age < 2 * DURATIONS.leaseDuration)) return;
    const about = { lease: `${namespace}/${id}`, holder: shownHolder(holder) };
    log.warn("A copy in the cluster works on the same objects: --take-over pauses it while this process runs", about);
  } catch (error) {
    log.debug("Cannot look for a copy in the cluster", { error });
  }
}

const WITHIN = 10_000;

async function leaseOf(transport: Transport, { namespace, id }: LeaseId): Promise<Lease | undefined> {
  try {
    return await transport.request<Lease>({ method: "GET", path: `${pathOf(namespace)}/${id}`, timeout: WITHIN });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Returns the Leases whose names begin with the name of the missing one. */
async function leasesOf(transport: Transport, { namespace, id }: LeaseId): Promise<readonly Lease[]> {
  const path = pathOf(namespace);
  const { items } = await transport.request<{ items: readonly Lease[] }>({ method: "GET", path, timeout: WITHIN });
  return items.filter(({ metadata }) => metadata.name.startsWith(`${id}-`));
}

function pathOf(namespace: string): string {
  return `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
}
