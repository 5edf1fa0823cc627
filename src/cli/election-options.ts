/** The options of leader election, named as in kubebuilder and kube-controller-manager. */
import { checkDurations } from "../election/durations.ts";
import type { ClusterConfig } from "../kube/config/cluster-config.ts";
import { MOST_SEATS } from "../election/division.ts";
import type { ElectionOptions } from "../manager/elections.ts";
import type { ShardingOptions } from "../manager/sharding.ts";
import type { Option, ValuesOf } from "./option.ts";
import { UsageError } from "./usage-error.ts";

const options = [
  {
    name: "leader-elect",
    type: "string",
    default: "false",
    bare: "process",
    choices: ["false", "true", "process", "module"],
    describe: "Let one of several replicas work: process elects one for all modules, module one for each; off is false",
  },
  {
    name: "shards",
    type: "string",
    describe:
      "Divide the keys among at most so many replicas, or with auto among all that there are; instead of --leader-elect",
  },
  {
    name: "leader-election-id",
    type: "string",
    describe:
      "Name of the Lease that the replicas share, or what its names begin with; needed with --leader-elect and --shards",
  },
  {
    name: "leader-election-namespace",
    type: "string",
    describe: "Namespace of the Lease; the pod's, or that of the kubeconfig's context",
  },
  {
    name: "leader-election-lease-duration",
    type: "duration",
    default: "15s",
    describe: "How long others wait for a leader that does not renew the Lease",
  },
  {
    name: "leader-election-renew-deadline",
    type: "duration",
    default: "10s",
    describe: "How long a leader writes after the last renewal",
  },
  {
    name: "leader-election-retry-period",
    type: "duration",
    default: "2s",
    describe: "Pause between two renewals of the Lease, or two attempts to take it",
  },
  {
    name: "leader-election-release-on-cancel",
    type: "boolean",
    default: true,
    describe: "Release the Lease at the end, so that another replica takes over at once",
  },
] as const;

export const electionOptions: readonly Option[] = options;

export type ElectionValues = ValuesOf<typeof options>;

/** A Lease's name is a DNS subdomain; this leaves room for a module's name. */
const LEASE_NAME = /^[a-z0-9]([-a-z0-9.]{0,180}[a-z0-9])?$/;

/**
 * Returns the election that the options ask for; `undefined` for none.
 *
 * @throws UsageError naming an option that is missing or conflicts with others.
 */
export function electionOf(
  given: ElectionValues,
  { namespace }: Pick<ClusterConfig, "namespace">,
): ElectionOptions | undefined {
  const mode = given["leader-elect"];
  if (mode === "false") return undefined;
  return { ...sharedOf(given, { flag: "--leader-elect", namespace }), mode: mode === "module" ? "module" : "process" };
}

/**
 * Returns how the keys are divided; `undefined` when they are not.
 *
 * @throws UsageError naming an option that is missing or conflicts with others.
 */
export function shardingOf(
  given: ElectionValues,
  { namespace }: Pick<ClusterConfig, "namespace">,
): ShardingOptions | undefined {
  const { shards } = given;
  if (shards === undefined) return undefined;
  if (given["leader-elect"] !== "false") {
    throw new UsageError(
      "--shards and --leader-elect exclude each other: all replicas work, or one does; leave one out",
    );
  }
  return { ...sharedOf(given, { flag: "--shards", namespace }), seats: seatsOf(shards) };
}

/** Returns how many replicas a value of `--shards` lets work. @throws UsageError */
export function seatsOf(shards: string): number {
  if (shards === "auto") return MOST_SEATS;
  const seats = /^\d+$/.test(shards) ? Number(shards) : 0;
  if (seats < 1 || seats > MOST_SEATS) {
    throw new UsageError(`--shards is '${shards}': expected auto, or a number from 1 to ${MOST_SEATS}`);
  }
  return seats;
}

/** Returns the options that an election and a division have in common. */
function sharedOf(
  given: ElectionValues,
  { flag, namespace }: { readonly flag: string; readonly namespace: string },
): Omit<ElectionOptions, "mode"> {
  const id = given["leader-election-id"];
  if (id === undefined) {
    throw new UsageError(
      `${flag} is given without --leader-election-id: name the Lease that the replicas of this deployment, and nobody else, share`,
    );
  }
  if (!LEASE_NAME.test(id)) {
    throw new UsageError(`--leader-election-id is '${id}': expected lower-case letters, digits, '-' and '.'`);
  }
  const durations = {
    leaseDuration: given["leader-election-lease-duration"],
    renewDeadline: given["leader-election-renew-deadline"],
    retryPeriod: given["leader-election-retry-period"],
  };
  try {
    checkDurations(durations);
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)}; see --leader-election-…`);
  }
  return {
    ...durations,
    id,
    namespace: given["leader-election-namespace"] ?? namespace,
    release: given["leader-election-release-on-cancel"],
  };
}
