/** The Leases of a shard group on the API server: one for each seat, with a common label. */
import { sha256 } from "#runtime/digest";
import { isNotFound } from "../kube/errors/api-error.ts";
import type { Transport } from "../kube/transport/transport.ts";
import { watch } from "../kube/api/watch.ts";
import type { Lease } from "./lease.ts";
import type { LockCall, WatchFrom } from "./lease-lock.ts";
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

/** Seconds after which the server ends the watch, and milliseconds of silence after which the client does. */
const WATCH_SECONDS = 300;
const WATCH_IDLE = 310_000;
/** The maximum length of a label's value. */
const MOST_LABEL = 63;

/** Returns the names of the Leases of so many seats. */
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

export class KubeShardLeases implements ShardLeases {
  readonly namespace: string;
  readonly group: string;
  readonly #transport: Pick<Transport, "request" | "stream">;
  readonly #id: string;
  readonly #collection: string;

  constructor(
    transport: Pick<Transport, "request" | "stream">,
    { namespace, id }: { readonly namespace: string; readonly id: string },
  ) {
    this.#transport = transport;
    this.#id = id;
    this.namespace = namespace;
    this.group = shardGroup(id);
    this.#collection = `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases`;
  }

  nameOf(seat: number): string {
    return shardLeaseName(this.#id, seat);
  }

  async get(name: string, call: LockCall): Promise<Lease | undefined> {
    try {
      return await this.#transport.request<Lease>({ method: "GET", path: this.#path(name), traffic: "lease", ...call });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  create(body: Lease, call: LockCall): Promise<Lease> {
    return this.#transport.request<Lease>({ method: "POST", path: this.#collection, body, traffic: "lease", ...call });
  }

  update(body: Lease, call: LockCall): Promise<Lease> {
    const path = this.#path(body.metadata.name);
    return this.#transport.request<Lease>({ method: "PUT", path, body, traffic: "lease", ...call });
  }

  async list(call: LockCall): Promise<ListedLeases> {
    const query = new URLSearchParams({ labelSelector: this.#selector });
    const list = await this.#transport.request<LeaseList>({
      method: "GET",
      path: this.#collection,
      query,
      traffic: "lease",
      ...call,
    });
    return { leases: list.items ?? [], resourceVersion: list.metadata.resourceVersion };
  }

  watch({ resourceVersion, signal }: WatchFrom, onChange: (lease: Lease, isDeleted: boolean) => void): Promise<void> {
    return watch(this.#transport, {
      path: this.#collection,
      labels: this.#selector,
      resourceVersion,
      timeoutSeconds: WATCH_SECONDS,
      idleTimeout: WATCH_IDLE,
      signal,
      onEvent: (type, object) => {
        if (type !== "BOOKMARK") onChange(object as unknown as Lease, type === "DELETED");
      },
    });
  }

  get #selector(): string {
    return `${GROUP_LABEL}=${this.group}`;
  }

  #path(name: string): string {
    return `${this.#collection}/${encodeURIComponent(name)}`;
  }
}

interface LeaseList {
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly Lease[] | null;
}
