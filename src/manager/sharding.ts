/** Divides the keys among the replicas of a process, and reports that in the log, the metrics and the health. */
import { hostname } from "node:os";
import { SLOTS } from "../cache/slots.ts";
import type { Leadership } from "../client/leadership.ts";
import type { Shards } from "../client/shards.ts";
import type { ElectionDurations } from "../election/durations.ts";
import { KubeShardLeases } from "../election/shard-leases.ts";
import { ShardMember } from "../election/shard-member.ts";
import type { Publication } from "../election/shard-publication.ts";
import type { Leaderships } from "../module/leaderships.ts";
import type { Log } from "../observe/log.ts";
import type { HealthReport } from "../server/health-checks.ts";
import { type ElectionDependencies, PROCESS } from "./elections.ts";

/** The way in which a process takes part in the division of the keys. */
export interface ShardingOptions extends ElectionDurations {
  /** The prefix of the names of the Leases. */
  readonly id: string;
  readonly namespace: string;
  /** The number of replicas that work; further ones stand by. */
  readonly seats: number;
  /** Releases the Lease at the end, instead of letting it expire. */
  readonly release: boolean;
  /** The identity. @default the host's name and a random part */
  readonly identity?: string | undefined;
}

/** The parts of the process that the division needs. */
export type ShardingDependencies = Omit<ElectionDependencies, "events">;

/** Milliseconds that a Lease may be overdue before `/healthz` fails. */
const HEALTH_TOLERANCE = 20_000;

export class Sharding implements Leaderships, AsyncDisposable {
  readonly #member: ShardMember;
  readonly #log: Log;
  readonly #identity: string;
  readonly #leases: KubeShardLeases;
  readonly #cleanup = new DisposableStack();
  #division: Publication | undefined;
  #changes = 0;
  #slowPaths = 0;

  constructor(options: ShardingOptions, parts: ShardingDependencies) {
    const { transport, clock, wall, log } = parts;
    this.#identity = options.identity ?? `${hostname()}_${crypto.randomUUID()}`;
    this.#leases = new KubeShardLeases(transport, options);
    this.#log = log.with({ shards: `${options.namespace}/${options.id}` });
    this.#member = new ShardMember({
      ...options,
      leases: this.#leases,
      identity: this.#identity,
      clock,
      wall,
      observer: {
        divided: (division) => this.#divided(division),
        standsBy: () => this.#log.info("This replica stands by: all shares of the keys are taken"),
        lost: (reason) =>
          this.#log.warn(
            "This replica has lost its share of the keys: its writes are refused, and it seeks one again",
            {
              reason,
            },
          ),
        slowPath: () => void this.#slowPaths++,
        failed: (error, first) => {
          if (first) this.#log.warn("Cannot read or renew the Leases of the shares: trying again", { error });
          else this.#log.debug("Cannot read or renew the Leases of the shares: trying again", { error });
        },
      },
    });
    // This is the first listener, so active requests are stopped before anybody learns of the loss.
    this.#cleanup.use(
      this.#member.onChange((isLeader) => {
        if (!isLeader) transport.endRefused();
      }),
    );
    this.#show(options.id, parts);
  }

  /** The share of this replica. */
  get shards(): Shards {
    return this.#member;
  }

  /** Takes a seat as soon as one is free. */
  start(): void {
    this.#member.start();
  }

  of(): Leadership {
    return this.#member;
  }

  alone(module: string): Leadership {
    return this.#member.alone(`module ${module}`);
  }

  /** The leadership for work that is done once for all modules. */
  ofProcess(): Leadership {
    return this.#member.alone(PROCESS);
  }

  /** Does nothing, because caches start with a share and not before it. */
  warm(): void {}

  async leave(): Promise<void> {}

  /** Releases the share. Never throws. */
  async stop(): Promise<void> {
    await this.#member.stop();
    this.#cleanup.dispose();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #divided(division: Publication): void {
    this.#division = division;
    this.#changes++;
    this.#log.info("This replica works a share of the keys", {
      identity: this.#identity,
      seat: this.#member.seat,
      share: `${this.#percent}%`,
      replicas: division.members.length,
      generation: division.generation,
    });
  }

  get #percent(): number {
    return Math.round((this.#member.held.size * 1_000) / SLOTS) / 10;
  }

  #show(id: string, { metrics, healthz, readyz }: ShardingDependencies): void {
    const member = this.#member;
    const nameOf = (seat: number): string => this.#leases.nameOf(seat);
    const share = (): number => member.held.size / SLOTS;
    for (const entry of [
      metrics.add({
        name: "leader_election_master_status",
        help: "Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master. 'name' is the string used to identify the lease. Please make sure to group by name.",
        read: () =>
          member.members.map(({ seat }) => ({ labels: { name: nameOf(seat) }, value: seat === member.seat ? 1 : 0 })),
      }),
      metrics.add({
        name: "leader_election_slowpath_total",
        help: "Total number of slow path exercised in renewing leader leases. 'name' is the string used to identify the lease. Please make sure to group by name.",
        type: "counter",
        read: () =>
          member.seat === undefined ? [] : [{ labels: { name: nameOf(member.seat) }, value: this.#slowPaths }],
      }),
      metrics.add({
        name: "binnacle_shard_ratio",
        help: "The part of all keys that this replica works, from 0 to 1",
        read: share,
      }),
      metrics.add({
        name: "binnacle_shard_replicas",
        help: "Replicas that divide the keys among themselves, as this one sees it",
        read: () => member.members.length,
      }),
      metrics.add({
        name: "binnacle_shard_gains_total",
        help: "How often this replica has been given keys",
        type: "counter",
        read: () => this.#changes,
      }),
      healthz.add("leaderElection", () =>
        member.overdue > HEALTH_TOLERANCE
          ? `failed election to renew leadership on lease ${nameOf(member.lastSeat!)}`
          : undefined,
      ),
      this.#readiness(readyz),
      readyz.note(`shards/${id}`, () => this.#status),
    ]) {
      this.#cleanup.use(entry);
    }
  }

  /**
   * A replica is ready when it has its share, or when all shares are taken; as with a leader, later losses do not
   * count.
   */
  #readiness(readyz: ShardingDependencies["readyz"]): Disposable {
    let wasSettled = false;
    return readyz.add("shards", () => {
      wasSettled ||= this.#member.isSettled;
      return wasSettled ? undefined : { cause: "no share yet", text: "this replica has no share of the keys yet" };
    });
  }

  /** The text for `/readyz?verbose`. */
  get #status(): HealthReport {
    const { seat, members } = this.#member;
    if (seat === undefined) return { cause: "standing by", text: `standing by, ${members.length} replicas work` };
    const generation = this.#division?.generation ?? 0;
    const text = `seat ${seat} of ${members.length} replicas, ${this.#percent}% of the keys, generation ${generation}`;
    return { cause: `${this.#percent}% of the keys`, text };
  }
}
