/** Reads and writes one Lease on the API server, on a connection that only Leases use. */
import { isNotFound } from "../kube/errors/api-error.ts";
import type { Transport } from "../kube/transport/transport.ts";
import { watch } from "../kube/api/watch.ts";
import type { Lease } from "./lease.ts";

export interface LeaseName {
  readonly namespace: string;
  readonly name: string;
}

/** The bounds of one request. */
export interface LockCall {
  readonly signal: AbortSignal;
  /** The timeout in milliseconds. */
  readonly timeout: number;
}

/** The requests that an election sends to the API server. */
export interface LeaseLock {
  readonly name: LeaseName;
  /** Reads the Lease. @returns `undefined` when there is none. */
  get(call: LockCall): Promise<Lease | undefined>;
  /** Creates the Lease. @throws ApiError AlreadyExists when another candidate was faster. */
  create(lease: Lease, call: LockCall): Promise<Lease>;
  /** Updates the Lease. @throws ApiError Conflict when it has changed since it was read. */
  update(lease: Lease, call: LockCall): Promise<Lease>;
  /**
   * Reports each change of the Lease from `resourceVersion` on, `undefined` for its deletion, until the server ends
   * the watch.
   *
   * @throws ApiError, UnreachableError, the signal's reason.
   */
  watch(from: WatchFrom, onChange: (lease: Lease | undefined) => void): Promise<void>;
}

export interface WatchFrom {
  readonly resourceVersion: string | undefined;
  readonly signal: AbortSignal;
}

/** Seconds after which the server ends the watch, and milliseconds of silence after which the client does. */
const WATCH_SECONDS = 300;
const WATCH_IDLE = 310_000;

export class KubeLeaseLock implements LeaseLock {
  readonly name: LeaseName;
  readonly #transport: Pick<Transport, "request" | "stream">;
  readonly #collection: string;
  readonly #path: string;

  constructor(transport: Pick<Transport, "request" | "stream">, name: LeaseName) {
    this.#transport = transport;
    this.name = name;
    this.#collection = `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(name.namespace)}/leases`;
    this.#path = `${this.#collection}/${encodeURIComponent(name.name)}`;
  }

  async get(call: LockCall): Promise<Lease | undefined> {
    try {
      return await this.#transport.request<Lease>({ method: "GET", path: this.#path, traffic: "lease", ...call });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  create(body: Lease, call: LockCall): Promise<Lease> {
    return this.#transport.request<Lease>({ method: "POST", path: this.#collection, body, traffic: "lease", ...call });
  }

  update(body: Lease, call: LockCall): Promise<Lease> {
    return this.#transport.request<Lease>({ method: "PUT", path: this.#path, body, traffic: "lease", ...call });
  }

  watch({ resourceVersion, signal }: WatchFrom, onChange: (lease: Lease | undefined) => void): Promise<void> {
    return watch(this.#transport, {
      path: this.#collection,
      fields: `metadata.name=${this.name.name}`,
      resourceVersion,
      timeoutSeconds: WATCH_SECONDS,
      idleTimeout: WATCH_IDLE,
      signal,
      onEvent: (type, object) => {
        if (type === "DELETED") onChange(undefined);
        else if (type !== "BOOKMARK") onChange(object as unknown as Lease);
      },
    });
  }
}
