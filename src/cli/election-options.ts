/** Reads the settings of leader election and shards. */
import { checkDurations, type ElectionDurations } from "../election/durations.ts";
import type { ClusterConfig } from "../kube/config/cluster-config.ts";
import { MOST_SEATS } from "../election/division.ts";
import type { ElectionOptions } from "../manager/elections.ts";
import type { ShardingOptions } from "../manager/sharding.ts";
import { type RunSettings, runSettings } from "../settings/run-options.ts";
import { messageOf } from "../platform/error-message.ts";
import { UsageError } from "./usage-error.ts";

/** A Lease's name is a DNS subdomain; this leaves room for a module's name. */
const LEASE_NAME = /^[a-z0-9]([-a-z0-9.]{0,180}[a-z0-9])?$/;

/**
 * Returns the election of the options; `undefined` for none.
 *
 * @throws UsageError naming an option that is missing or conflicts with others.
 */
export function electionOf(
  settings: RunSettings,
  { namespace }: Pick<ClusterConfig, "namespace">,
): ElectionOptions | undefined {
  const mode = settings["leader-elect"];
  if (mode === "false") return undefined;
  return {
    ...sharedOf(settings, { flag: "--leader-elect", namespace }),
    mode: mode === "module" ? "module" : "process",
  };
}

/**
 * Returns the way in which keys are divided; `undefined` when they are not.
 *
 * @throws UsageError naming an option that is missing or conflicts with others.
 */
export function shardingOf(
  settings: RunSettings,
  { namespace }: Pick<ClusterConfig, "namespace">,
): ShardingOptions | undefined {
  const { shards } = settings;
  if (shards === undefined) return undefined;
  if (settings["leader-elect"] !== "false") {
    throw new UsageError(
      "--shards and --leader-elect exclude each other: all replicas work, or one does; leave one out",
    );
  }
  return { ...sharedOf(settings, { flag: "--shards", namespace }), seats: seatsOf(shards) };
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

/** Returns the durations of elections. @param settings the flags. @default those of a process without flags */
export function electionDurations(settings: RunSettings = runSettings()): ElectionDurations {
  return {
    leaseDuration: settings["leader-election-lease-duration"],
    renewDeadline: settings["leader-election-renew-deadline"],
    retryPeriod: settings["leader-election-retry-period"],
  };
}

/** Returns the options that an election and a division have in common. */
function sharedOf(
  settings: RunSettings,
  { flag, namespace }: { readonly flag: string; readonly namespace: string },
): Omit<ElectionOptions, "mode"> {
  const id = settings["leader-election-id"];
  if (id === undefined) {
    throw new UsageError(
      `${flag} is given without --leader-election-id: name the Lease that the replicas of this deployment, and nobody else, share`,
    );
  }
  if (!LEASE_NAME.test(id)) {
    throw new UsageError(`--leader-election-id is '${id}': expected lower-case letters, digits, '-' and '.'`);
  }
  const durations = electionDurations(settings);
  try {
    checkDurations(durations);
  } catch (error) {
    throw new UsageError(`${messageOf(error)}; see --leader-election-…`);
  }
  return {
    ...durations,
    id,
    namespace: settings["leader-election-namespace"] ?? namespace,
    release: settings["leader-election-release-on-cancel"],
  };
}
