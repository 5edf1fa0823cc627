/** A world for tests of the election: one API server, and candidates with clocks and connections of their own. */
import { ApiError } from "../../../src/kube/errors/api-error.ts";
import type { Clock } from "../../../src/platform/clock.ts";
import type { ElectionDurations } from "../../../src/election/durations.ts";
import { type Lease, type LeaseSpec, wasNeverHeld } from "../../../src/election/lease.ts";
import type { LeaseLock, LeaseName, LockCall, WatchFrom } from "../../../src/election/lease-lock.ts";
import { runSettings } from "../../../src/settings/run-options.ts";

const settings = runSettings();

/** The durations of elections that nobody has set. */
export const defaultDurations: ElectionDurations = {
  leaseDuration: settings["leader-election-lease-duration"],
  renewDeadline: settings["leader-election-renew-deadline"],
  retryPeriod: settings["leader-election-retry-period"],
};

interface Scheduled {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
  /** Runs only while this candidate is not paused. */
  readonly of: Machine | undefined;
  cancelled: boolean;
}

/** True time, which nobody in the world can read, and all that is going to happen in it. */
export class World {
  now = 0;
  readonly server: Server = new Server();
  #order = 0;
  #events: Scheduled[] = [];

  at(at: number, run: () => void, of?: Machine): Disposable {
    const event: Scheduled = { at: Math.max(at, this.now), order: this.#order++, run, of, cancelled: false };
    this.#events.push(event);
    return { [Symbol.dispose]: () => void (event.cancelled = true) };
  }

  /** Lets everything happen that is due before `until`, each with the turns that promises need. */
  async run(until: number, check: () => void): Promise<void> {
    for (;;) {
      const next = this.#next();
      if (next === undefined || next.due > until) break;
      this.#events = this.#events.filter((event) => event !== next.event && !event.cancelled);
      this.now = Math.max(this.now, next.due);
      next.event.run();
      await new Promise((resolve) => setImmediate(resolve));
      check();
    }
    this.now = until;
  }

  #next(): { readonly event: Scheduled; readonly due: number } | undefined {
    let best: { event: Scheduled; due: number } | undefined;
    for (const event of this.#events) {
      if (event.cancelled) continue;
      const due = Math.max(event.at, event.of?.pausedUntil ?? 0);
      if (best === undefined || due < best.due || (due === best.due && event.order < best.event.order)) {
        best = { event, due };
      }
    }
    return best;
  }
}

/** Where a candidate runs: its clock may run fast or slow, and the whole process may be stopped for a while. */
export class Machine implements Clock {
  readonly #world: World;
  readonly #rate: number;
  /** True time before which nothing of this machine runs. */
  pausedUntil = 0;
  /** True time before which requests and answers are lost. */
  cutUntil = 0;
  /** Answers are lost, though the server does what it is asked. */
  losesAnswersUntil = 0;
  /** Milliseconds of true time in each direction. */
  latency: () => number = () => 1;

  constructor(world: World, rate: number) {
    this.#world = world;
    this.#rate = rate;
  }

  now(): number {
    return 1_000_000 + this.#world.now * this.#rate;
  }

  setTimeout(callback: () => void, ms: number): Disposable {
    return this.#world.at(this.#world.now + Math.max(0, ms) / this.#rate, callback, this);
  }

  /** The process is stopped, as by SIGSTOP: clocks go on, and everything that is due runs late. */
  pause(ms: number): void {
    this.pausedUntil = Math.max(this.pausedUntil, this.#world.now + ms);
  }
}

/** The API server: holds one Lease, and what became of it. */
class Server {
  #version = 0;
  #lease: Lease | undefined;
  #holder = "";
  readonly #watchers = new Set<(lease: Lease | undefined) => void>();

  get lease(): Lease | undefined {
    return this.#lease;
  }

  /** Whom the last candidate to write the Lease named in it, whatever others did to it since. */
  get holder(): string {
    return this.#holder;
  }

  watch(onChange: (lease: Lease | undefined) => void): Disposable {
    this.#watchers.add(onChange);
    return { [Symbol.dispose]: () => void this.#watchers.delete(onChange) };
  }

  write(lease: Lease, isNew: boolean): Lease {
    const path = "/apis/coordination.k8s.io/v1/namespaces/default/leases/lock";
    const refused = (reason: string, code = 409) => new ApiError({ method: "PUT", path, status: { code, reason } });
    if (isNew && this.#lease !== undefined) throw refused("AlreadyExists");
    if (!isNew && this.#lease === undefined) throw refused("NotFound", 404);
    if (!isNew && this.#lease?.metadata.resourceVersion !== lease.metadata.resourceVersion) throw refused("Conflict");
    this.#holder = lease.spec?.holderIdentity ?? "";
    return this.#store(lease);
  }

  /** Somebody who is no candidate edits the Lease; `undefined` deletes it. */
  edit(change: (spec: LeaseSpec) => LeaseSpec | undefined): void {
    if (this.#lease === undefined) return;
    const spec = change(this.#lease.spec ?? {});
    if (spec !== undefined) return void this.#store({ ...this.#lease, spec });
    this.#lease = undefined;
    for (const watcher of this.#watchers) watcher(undefined);
  }

  #store(lease: Lease): Lease {
    const resourceVersion = String(++this.#version);
    const uid = this.#lease?.metadata.uid ?? `lease-${resourceVersion}`;
    this.#lease = { ...lease, metadata: { ...lease.metadata, uid, resourceVersion } };
    for (const watcher of this.#watchers) watcher(this.#lease);
    return this.#lease;
  }
}

/** A candidate's way to the Lease: requests take time, get lost, or come back without an answer. */
export class SimulatedLock implements LeaseLock {
  readonly name: LeaseName = { namespace: "default", name: "lock" };
  /** Whether a read has shown a Lease that somebody had taken. */
  hasSeenOne = false;
  readonly #world: World;
  readonly #machine: Machine;

  constructor(world: World, machine: Machine) {
    this.#world = world;
    this.#machine = machine;
  }

  async get(call: LockCall): Promise<Lease | undefined> {
    const lease = await this.#call(call, () => this.#world.server.lease);
    this.hasSeenOne ||= lease !== undefined && !wasNeverHeld(lease);
    return lease;
  }

  create(lease: Lease, call: LockCall): Promise<Lease> {
    return this.#call(call, () => this.#world.server.write(lease, true));
  }

  update(lease: Lease, call: LockCall): Promise<Lease> {
    return this.#call(call, () => this.#world.server.write(lease, false));
  }

  watch(from: WatchFrom, onChange: (lease: Lease | undefined) => void): Promise<void> {
    const { server } = this.#world;
    const machine = this.#machine;
    return new Promise((_, reject) => {
      const tell = (lease: Lease | undefined): void => {
        if (this.#world.now < machine.cutUntil) return;
        this.#world.at(this.#world.now + machine.latency(), () => from.signal.aborted || onChange(lease), machine);
      };
      const watching = server.watch(tell);
      if (server.lease?.metadata.resourceVersion !== from.resourceVersion) tell(server.lease);
      from.signal.addEventListener("abort", () => {
        watching[Symbol.dispose]();
        reject(from.signal.reason);
      });
    });
  }

  #call<T>({ signal, timeout }: LockCall, act: () => T): Promise<T> {
    const world = this.#world;
    const machine = this.#machine;
    return new Promise<T>((resolve, reject) => {
      const late = machine.setTimeout(() => reject(new Error("no answer in time")), timeout);
      const settle = (how: () => void): void => {
        late[Symbol.dispose]();
        how();
      };
      if (signal.aborted) return settle(() => reject(signal.reason));
      signal.addEventListener("abort", () => settle(() => reject(signal.reason)));
      if (world.now < machine.cutUntil) return;
      // What was sent reaches the server also when the sender is stopped or has given up meanwhile.
      world.at(world.now + machine.latency(), () => {
        let outcome: () => void;
        try {
          const answer = act();
          outcome = () => resolve(answer);
        } catch (error) {
          outcome = () => reject(error);
        }
        if (world.now < machine.losesAnswersUntil || world.now < machine.cutUntil) return;
        world.at(world.now + machine.latency(), () => settle(outcome), machine);
      });
    });
  }
}
