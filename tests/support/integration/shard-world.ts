/** A group of replicas that divide keys, in the world of `election-world.ts`: one API server with a Lease for each seat. */
import type { SlotSet } from "../../../src/cache/slots.ts";
import type { Lease } from "../../../src/election/lease.ts";
import type { LockCall, WatchFrom } from "../../../src/election/lease-lock.ts";
import type { ListedLeases, ShardLeases } from "../../../src/election/shard-leases.ts";
import type { ShardMember } from "../../../src/election/shard-member.ts";
import { ApiError } from "../../../src/kube/errors/api-error.ts";
import type { Machine, World } from "./election-world.ts";

type Told = (lease: Lease) => void;

/** The Leases of the group, as the API server has them. */
export class LeaseServer {
  readonly leases: Map<string, Lease> = new Map();
  version = 0;
  readonly #watchers = new Set<Told>();
  /** The changes, which a watch from an earlier version is told first. */
  readonly #history: Lease[] = [];

  watch(from: number, told: Told): Disposable {
    for (const lease of this.#history) if (Number(lease.metadata.resourceVersion) > from) told(lease);
    this.#watchers.add(told);
    return { [Symbol.dispose]: () => void this.#watchers.delete(told) };
  }

  write(lease: Lease, isNew: boolean): Lease {
    const { name } = lease.metadata;
    const known = this.leases.get(name);
    const refused = (reason: string) =>
      new ApiError({ method: "PUT", path: `/leases/${name}`, status: { code: 409, reason } });
    if (isNew && known !== undefined) throw refused("AlreadyExists");
    if (!isNew && known?.metadata.resourceVersion !== lease.metadata.resourceVersion) throw refused("Conflict");
    const resourceVersion = String(++this.version).padStart(9, "0");
    const written: Lease = { ...lease, metadata: { ...lease.metadata, uid: name, resourceVersion } };
    this.leases.set(name, written);
    this.#history.push(written);
    for (const told of this.#watchers) told(written);
    return written;
  }
}

/** A replica's way to the Leases: requests take time, get lost, or come back without an answer; streams keep their order. */
export class SimulatedLeases implements ShardLeases {
  readonly namespace: string = "default";
  readonly group: string = "group";
  /** True time before which streams tell nothing, though requests are answered. */
  deafUntil = 0;
  readonly #world: World;
  readonly #machine: Machine;
  readonly #server: LeaseServer;

  constructor(world: World, machine: Machine, server: LeaseServer) {
    this.#world = world;
    this.#machine = machine;
    this.#server = server;
  }

  nameOf(seat: number): string {
    return `group-shard-${seat}`;
  }

  get(name: string, call: LockCall): Promise<Lease | undefined> {
    return this.#call(call, () => this.#server.leases.get(name));
  }

  create(lease: Lease, call: LockCall): Promise<Lease> {
    return this.#call(call, () => this.#server.write(lease, true));
  }

  update(lease: Lease, call: LockCall): Promise<Lease> {
    return this.#call(call, () => this.#server.write(lease, false));
  }

  list(call: LockCall): Promise<ListedLeases> {
    return this.#call(call, () => ({
      leases: [...this.#server.leases.values()],
      resourceVersion: String(this.#server.version),
    }));
  }

  watch(from: WatchFrom, onChange: (lease: Lease, isDeleted: boolean) => void): Promise<void> {
    const world = this.#world;
    const machine = this.#machine;
    return new Promise((_, reject) => {
      let isBroken = false;
      let last = 0;
      const end = (reason: unknown): void => {
        isBroken = true;
        watching[Symbol.dispose]();
        reject(reason);
      };
      const told = (lease: Lease): void => {
        if (isBroken) return;
        if (world.now < machine.cutUntil) {
          // The stream has lost something, so it ends; that is noticed some time later.
          isBroken = true;
          world.at(machine.cutUntil + machine.latency() * 10, () => end(new Error("the stream broke")), machine);
          return;
        }
        last = Math.max(last, world.now + machine.latency(), this.deafUntil);
        world.at(last, () => from.signal.aborted || onChange(lease, false), machine);
      };
      from.signal.addEventListener("abort", () => end(from.signal.reason));
      const watching = this.#server.watch(Number(from.resourceVersion), told);
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

interface Run {
  readonly slot: number;
  readonly ended: PromiseWithResolvers<void>;
  isOver: boolean;
}

/** What a replica does with its share: runs that take their time, and are fenced when they take too long to leave. */
export class SimulatedWork {
  readonly #member: ShardMember;
  readonly #machine: Machine;
  readonly #grace: number;
  readonly #runs = new Set<Run>();

  constructor(member: ShardMember, machine: Machine, grace: number) {
    this.#member = member;
    this.#machine = machine;
    this.#grace = grace;
    member.join({ drop: (slots) => this.#drop(slots) });
    member.onChange((isLeader) => {
      if (!isLeader) for (const run of this.#runs) this.#end(run);
    });
  }

  /** Begins a run if the slot is held. */
  begin(slot: number, ms: number): void {
    if (!this.#member.held.has(slot)) return;
    const run: Run = { slot, ended: Promise.withResolvers(), isOver: false };
    this.#runs.add(run);
    this.#machine.setTimeout(() => this.#end(run), ms);
  }

  /** Whether something may be written for the slot now. */
  works(slot: number, held: SlotSet): boolean {
    if (held.has(slot)) return true;
    if (this.#runs.size === 0 || this.#member.refused !== undefined) return false;
    for (const run of this.#runs) if (run.slot === slot) return true;
    return false;
  }

  async #drop(slots: SlotSet): Promise<void> {
    const dropped = [...this.#runs].filter(({ slot }) => slots.has(slot));
    using _timer = this.#machine.setTimeout(() => {
      for (const run of dropped) this.#end(run);
    }, this.#grace);
    await Promise.all(dropped.map(({ ended }) => ended.promise));
  }

  #end(run: Run): void {
    if (run.isOver) return;
    run.isOver = true;
    this.#runs.delete(run);
    run.ended.resolve();
  }
}
