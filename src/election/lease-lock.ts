/** Reads and writes Leases on the API server, on a connection that only Leases use. */
import { LONG_WATCH } from "../kube/api/follow-object.ts";
import { watch } from "../kube/api/watch.ts";
import { isAlreadyExists, isConflict, isNotFound } from "../kube/errors/api-error.ts";
import type { Transport } from "../kube/transport/transport.ts";
import { type Clock, sleep } from "../platform/clock.ts";
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

type LeaseTransport = Pick<Transport, "request" | "stream">;

/** The requests for the Leases of a namespace. */
export abstract class KubeLeases {
  readonly #transport: LeaseTransport;
  readonly #collection: string;

  constructor(transport: LeaseTransport, namespace: string) {
    this.#transport = transport;
    this.#collection = `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases`;
  }

  create(body: Lease, call: LockCall): Promise<Lease> {
    return this.request({ method: "POST", body }, call);
  }

  update(body: Lease, call: LockCall): Promise<Lease> {
    return this.request({ method: "PUT", name: body.metadata.name, body }, call);
  }

  protected async read(name: string, call: LockCall): Promise<Lease | undefined> {
    try {
      return await this.request<Lease>({ method: "GET", name }, call);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** Sends a request about the collection, or about the Lease of a name. */
  protected request<T>(
    {
      name,
      ...request
    }: Pick<Parameters<LeaseTransport["request"]>[0], "method" | "body" | "query"> & { readonly name?: string },
    call: LockCall,
  ): Promise<T> {
    const path = name === undefined ? this.#collection : `${this.#collection}/${encodeURIComponent(name)}`;
    return this.#transport.request<T>({ ...request, path, traffic: "lease", ...call });
  }

  /** Reports each change of the selected Leases until the server ends the watch. */
  protected watchSelected(
    selection: { readonly labels?: string; readonly fields?: string },
    { resourceVersion, signal }: WatchFrom,
    onChange: (lease: Lease, isDeleted: boolean) => void,
  ): Promise<void> {
    return watch(this.#transport, {
      path: this.#collection,
      ...selection,
      resourceVersion,
      ...LONG_WATCH,
      signal,
      onEvent: (type, object) => {
        if (type !== "BOOKMARK") onChange(object as unknown as Lease, type === "DELETED");
      },
    });
  }
}

export class KubeLeaseLock extends KubeLeases implements LeaseLock {
  readonly name: LeaseName;

  constructor(transport: LeaseTransport, name: LeaseName) {
    super(transport, name.namespace);
    this.name = name;
  }

  get(call: LockCall): Promise<Lease | undefined> {
    return this.read(this.name.name, call);
  }

  watch(from: WatchFrom, onChange: (lease: Lease | undefined) => void): Promise<void> {
    return this.watchSelected({ fields: `metadata.name=${this.name.name}` }, from, (lease, isDeleted) =>
      onChange(isDeleted ? undefined : lease),
    );
  }
}

/** Awaits a write. @returns the written Lease; `undefined` when it had changed since it was read. */
export async function writtenUnchanged(writing: Promise<Lease>): Promise<Lease | undefined> {
  try {
    return await writing;
  } catch (error) {
    if (isAlreadyExists(error) || isConflict(error) || isNotFound(error)) return undefined;
    throw error;
  }
}

/** Milliseconds that the release of a Lease may take at the end. */
const RELEASE_WITHIN = 5_000;
/** Milliseconds between two attempts to release it. */
const RELEASE_PAUSE = 100;

/** Tries to release a Lease until the attempt returns true, or time is up. Never rejects. */
export async function release(
  attempt: (call: LockCall) => Promise<boolean>,
  { clock, onFailure }: { readonly clock: Clock; readonly onFailure: (error: unknown) => void },
): Promise<void> {
  const deadline = new AbortController();
  using _timer = clock.setTimeout(() => deadline.abort(new Error("the release took too long")), RELEASE_WITHIN);
  const { signal } = deadline;
  while (!signal.aborted) {
    try {
      if (await attempt({ signal, timeout: RELEASE_WITHIN / 2 })) return;
    } catch (error) {
      onFailure(error);
      await sleep(RELEASE_PAUSE, { clock, signal }).catch(() => {});
    }
  }
}
