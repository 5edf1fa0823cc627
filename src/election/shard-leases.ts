/** The Leases of a shard group on the API server: one for each seat, with a common label. */
import { sha256 } from "#runtime/digest";
import type { Lease } from "./lease.ts";
import { KubeLeases, type LockCall, type WatchFrom } from "./lease-lock.ts";
import { GROUP_LABEL } from "./shard-publication.ts";

/** The requests that a member sends to the API server. */
export interface ShardLeases {
  readonly namespace: string;
  /** The value of the label that all Leases of the group have. */
  readonly group: string;
  nameOf(seat: number): string;
  /** Reads a Lease. @returns `undefined` when there is none. */
  get(name: string, call: LockCall): Promise<Lease | undefined>;
  /** Creates a Lease. @throws ApiError AlreadyExists when another replica was faster. */
  create(lease: Lease, call: LockCall): Promise<Lease>;
  /** Updates a Lease. @throws ApiError Conflict when it has changed since it was read. */
  update(lease: Lease, call: LockCall): Promise<Lease>;
  /** Lists all Leases of the group from etcd, not from a cache that may be behind. */
  list(call: LockCall): Promise<ListedLeases>;
  /** Reports each change from `resourceVersion` on, until the server ends the watch. @throws the errors of a watch. */
  watch(from: WatchFrom, onChange: (lease: Lease, isDeleted: boolean) => void): Promise<void>;
}

export interface ListedLeases {
  readonly leases: readonly Lease[];
  readonly resourceVersion: string;
}

/** The maximum length of a label's value. */
const MOST_LABEL = 63;

/** Returns the names of the Leases of this many seats. */
export function shardLeaseNames(id: string, seats: number): readonly string[] {
  return Array.from({ length: seats }, (_, seat) => shardLeaseName(id, seat));
}

/** Returns the value of the label that all Leases of a group have. */
export function shardGroup(id: string): string {
  return id.length <= MOST_LABEL ? id : sha256(id, "hex").slice(0, 40);
}

function shardLeaseName(id: string, seat: number): string {
  return `${id}-shard-${seat}`;
}

export class KubeShardLeases extends KubeLeases implements ShardLeases {
  readonly namespace: string;
  readonly group: string;
  readonly #id: string;

  constructor(
    transport: ConstructorParameters<typeof KubeLeases>[0],
    { namespace, id }: { readonly namespace: string; readonly id: string },
  ) {
    super(transport, namespace);
    this.#id = id;
    this.namespace = namespace;
    this.group = shardGroup(id);
  }

  nameOf(seat: number): string {
    return shardLeaseName(this.#id, seat);
  }

  get(name: string, call: LockCall): Promise<Lease | undefined> {
    return this.read(name, call);
  }

  async list(call: LockCall): Promise<ListedLeases> {
    const query = new URLSearchParams({ labelSelector: this.#selector });
    const list = await this.request<LeaseList>({ method: "GET", query }, call);
    return { leases: list.items ?? [], resourceVersion: list.metadata.resourceVersion };
  }

  watch(from: WatchFrom, onChange: (lease: Lease, isDeleted: boolean) => void): Promise<void> {
    return this.watchSelected({ labels: this.#selector }, from, onChange);
  }

  get #selector(): string {
    return `${GROUP_LABEL}=${this.group}`;
  }
}

interface LeaseList {
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly Lease[] | null;
}
