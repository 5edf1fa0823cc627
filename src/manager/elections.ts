/** The elections of a process: one for the whole process, or one for each of its modules. */
import { hostname } from "node:os";
import type { Leadership } from "../client/leadership.ts";
import type { ElectionDurations } from "../election/durations.ts";
import { Elector } from "../election/elector.ts";
import { type Lease, shownHolder } from "../election/lease.ts";
import { leaseName } from "../election/lease-name.ts";
import { KubeLeaseLock } from "../election/lease-lock.ts";
import type { EventRecorder } from "../events/recorder.ts";
import type { Transport } from "../kube/transport/transport.ts";
import type { Log } from "../observe/log.ts";
import type { Metrics } from "../observe/metrics.ts";
import type { Clock } from "../platform/clock.ts";
import type { Leaderships } from "../module/leaderships.ts";
import type { AnyObject } from "../resource/handle.ts";
import type { HealthChecks, HealthReport } from "../server/health-checks.ts";

/** The way in which a process takes part in elections. */
export interface ElectionOptions extends ElectionDurations {
  /** Whether the process has one Lease, or each module has its own, so that replicas share the modules between them. */
  readonly mode: "process" | "module";
  /** The name of the Lease; with a Lease for each module, the prefix of their names. */
  readonly id: string;
  readonly namespace: string;
  /** Releases the Lease at the end, instead of letting it expire. */
  readonly release: boolean;
  /** The identity. @default the host's name and a random part */
  readonly identity?: string | undefined;
  /** Whether a Lease may be taken once from this holder. @default from nobody */
  readonly takesOverFrom?: ((holder: string) => boolean) | undefined;
}

/** The parts of the process that the elections need. */
export interface ElectionDependencies {
  readonly transport: Pick<Transport, "request" | "stream" | "endRefused">;
  /** The clock of timers, which is also the steady clock of a term. */
  readonly clock: Clock;
  readonly wall: Pick<Clock, "now">;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly events: EventRecorder;
  readonly healthz: HealthChecks;
  readonly readyz: HealthChecks;
}

interface Election {
  readonly elector: Elector;
  readonly ready: PromiseWithResolvers<void>;
  readonly cleanup: DisposableStack;
  /** Records the Event that the term is over, once. */
  readonly stopped: () => void;
}

/** Replaces a module's name for the process itself; no module's name begins like this. */
export const PROCESS = "_process";

/** Milliseconds that a Lease may be overdue before `/healthz` fails. */
const HEALTH_TOLERANCE = 20_000;

export class Elections implements Leaderships, AsyncDisposable {
  readonly #options: ElectionOptions;
  readonly #dependencies: ElectionDependencies;
  readonly #identity: string;
  /** The elections by the name of the Lease. */
  readonly #elections = new Map<string, Election>();
  /** The modules of the start that have not synced yet. */
  readonly #cold = new Set<string>();
  #loaded = false;
  readonly #slowPaths = new Map<string, number>();
  readonly #cleanup = new DisposableStack();

  constructor(options: ElectionOptions, parts: ElectionDependencies) {
    this.#options = options;
    this.#dependencies = parts;
    this.#identity = options.identity ?? `${hostname()}_${crypto.randomUUID()}`;
    const { metrics, healthz } = parts;
    this.#cleanup.use(
      metrics.add({
        name: "leader_election_master_status",
        help: "Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master. 'name' is the string used to identify the lease. Please make sure to group by name.",
        read: () =>
          [...this.#elections].map(([name, { elector }]) => ({ labels: { name }, value: elector.isLeader ? 1 : 0 })),
      }),
    );
    this.#cleanup.use(
      metrics.add({
        name: "leader_election_slowpath_total",
        help: "Total number of slow path exercised in renewing leader leases. 'name' is the string used to identify the lease. Please make sure to group by name.",
        type: "counter",
        read: () => [...this.#slowPaths].map(([name, value]) => ({ labels: { name }, value })),
      }),
    );
    this.#cleanup.use(healthz.add("leaderElection", () => this.#unhealthy()));
  }

  /** Whether this process leads all elections in which it takes part. */
  get isLeader(): boolean {
    return this.#all(({ elector }) => elector.isLeader);
  }

  /** Whether each Lease is known to be held, by this process or another one. */
  get leaderIsKnown(): boolean {
    return this.#all(({ elector }) => elector.isLeader || (elector.holder !== "" && elector.holder !== this.#identity));
  }

  of(module: string): Leadership {
    if (!this.#loaded) this.#cold.add(module);
    return this.#election(this.#leaseOf(module)).elector;
  }

  /**
   * The leadership for work that the process does for all of its modules; if each has a Lease, there is one more for
   * that.
   */
  ofProcess(): Leadership {
    const { id, mode } = this.#options;
    if (mode === "process") return this.#election(id).elector;
    const { elector, ready } = this.#election(leaseName(id, PROCESS));
    ready.resolve();
    return elector;
  }

  warm(module: string): void {
    this.#cold.delete(module);
    if (this.#options.mode === "module") this.#election(this.#leaseOf(module)).ready.resolve();
    else this.#allWarm();
  }

  /** Called when every module of the start has joined, or is known to be broken. */
  allLoaded(): void {
    this.#loaded = true;
    this.#allWarm();
  }

  /** A process takes the lead of all its modules at once, so it waits for the slowest of those with which it began. */
  #allWarm(): void {
    const { id, mode } = this.#options;
    if (mode === "process" && this.#loaded && this.#cold.size === 0) this.#election(id).ready.resolve();
  }

  /**
   * Gives up the lead of a module that has its own Lease. Without one the process stays the leader, for its other
   * modules.
   */
  yield(module: string): void {
    const election = this.#options.mode === "module" ? this.#elections.get(this.#leaseOf(module)) : undefined;
    election?.elector.stepDown("the module drains here");
  }

  async leave(module: string): Promise<void> {
    this.#cold.delete(module);
    this.#allWarm();
    if (this.#options.mode === "module") await this.#end(this.#leaseOf(module));
  }

  /** Records that this process no longer leads: its work has ended, and Events can still be sent. */
  resigning(): void {
    for (const { stopped } of this.#elections.values()) stopped();
  }

  /** Releases every Lease that is held. Never throws. */
  async stop(): Promise<void> {
    await Promise.all([...this.#elections.keys()].map((name) => this.#end(name)));
    this.#cleanup.dispose();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #all(holds: (election: Election) => boolean): boolean {
    const elections = [...this.#elections.values()];
    return elections.length > 0 && elections.every(holds);
  }

  #leaseOf(module: string): string {
    const { id, mode } = this.#options;
    return mode === "process" ? id : leaseName(id, module);
  }

  #election(name: string): Election {
    let election = this.#elections.get(name);
    if (election === undefined) this.#elections.set(name, (election = this.#begin(name)));
    return election;
  }

  #begin(name: string): Election {
    const { namespace } = this.#options;
    const { transport, clock, wall, readyz } = this.#dependencies;
    const log = this.#dependencies.log.with({ lease: `${namespace}/${name}` });
    this.#slowPaths.set(name, 0);
    const events = this.#dependencies.events.for("leader-election");
    /** The Lease of the present term. */
    let led: Lease | undefined;
    const record = (lease: Lease, what: string): void => {
      const message = `${this.#identity} ${what}`;
      events.record(lease as unknown as AnyObject, { type: "Normal", reason: "LeaderElection", message });
    };
    const stopped = (): void => {
      if (led !== undefined) record(led, "stopped leading");
      led = undefined;
    };
    const elector = new Elector({
      ...this.#options,
      lock: new KubeLeaseLock(transport, { namespace, name }),
      identity: this.#identity,
      clock,
      wall,
      observer: {
        observed: (holder, since) => {
          if (holder === this.#identity) return;
          if (holder === "") log.info("Nobody leads", { since });
          else log.info("Another replica leads", { holder: shownHolder(holder), since });
        },
        acquired: (lease) => {
          log.info("This replica leads", { identity: this.#identity, transitions: lease.spec?.leaseTransitions });
          record((led = lease), "became leader");
        },
        takenOver: (holder, wait) =>
          log.info(
            "The Lease was taken over: this replica starts working when the previous holder can no longer write",
            {
              from: holder,
              seconds: wait / 1_000,
            },
          ),
        lost: (reason) => {
          log.warn("This replica has lost the lead: its writes are refused, and it seeks the Lease again", { reason });
          stopped();
        },
        resigned: () => {
          log.info("This replica hands the lead over");
          stopped();
        },
        slowPath: () => this.#slowPaths.set(name, this.#slowPaths.get(name)! + 1),
        unwatched: (error) =>
          log.warn("Cannot watch the Lease: it is read every few seconds instead, and hand-overs take longer", {
            error,
          }),
        failed: (error, first) => {
          if (first) log.warn("Cannot read or renew the Lease: trying again", { error });
          else log.debug("Cannot read or renew the Lease: trying again", { error });
        },
      },
    });
    const cleanup = new DisposableStack();
    // This is the first listener, so active requests are stopped before anybody learns of the loss.
    cleanup.use(
      elector.onChange((isLeader) => {
        if (!isLeader) transport.endRefused();
      }),
    );
    cleanup.use(readyz.note(`leaderElection/${name}`, () => statusOf(elector, this.#identity)));
    const ready = Promise.withResolvers<void>();
    elector.start(ready.promise);
    return { elector, ready, cleanup, stopped };
  }

  async #end(name: string): Promise<void> {
    const election = this.#elections.get(name);
    if (election === undefined) return;
    await election.elector.stop();
    election.cleanup.dispose();
    this.#elections.delete(name);
    this.#slowPaths.delete(name);
  }

  /** As in client-go, only a leader that did not notice that its Lease expired long ago is unhealthy. */
  #unhealthy(): string | undefined {
    for (const [name, { elector }] of this.#elections) {
      if (elector.overdue > HEALTH_TOLERANCE) return `failed election to renew leadership on lease ${name}`;
    }
    return undefined;
  }
}

function statusOf(elector: Elector, identity: string): HealthReport {
  if (elector.isLeader) return { cause: "leading", text: `leading as ${identity}` };
  if (elector.holder === "") return { cause: "nobody leads", text: "nobody leads" };
  return { cause: "following", text: `following ${shownHolder(elector.holder)}` };
}
