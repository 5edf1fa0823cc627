/** Keeps an object of the API server in the state that this process wants, whoever changes it. */
import type { Leadership } from "../../client/leadership.ts";
import { followObject } from "../../kube/api/follow-object.ts";
import { isConflict, isNotFound } from "../../kube/errors/api-error.ts";
import type { Transport } from "../../kube/transport/transport.ts";
import type { Log } from "../../observe/log.ts";
import { type Clock, sleep } from "../../platform/clock.ts";
import { Passes } from "../passes.ts";

/** The parts that a process needs to keep objects. */
export interface KeptParts {
  readonly transport: Pick<Transport, "request" | "stream">;
  /** The leadership: only the leader of several replicas writes. */
  readonly leadership: Leadership;
  readonly clock: Clock;
  readonly log: Log;
}

/** The fields of the server's object that all kinds have. */
export interface LiveObject {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly annotations?: Readonly<Record<string, string>> | undefined;
  };
}

/** How to write the object. */
export type Write =
  /** Writes with server-side apply. */
  | { readonly kind: "apply"; readonly body: object }
  | { readonly kind: "merge" | "json"; readonly body: object }
  | { readonly kind: "delete" };

export interface KeptObjectOptions<T extends LiveObject> extends KeptParts {
  /** The path of the collection. */
  readonly collection: string;
  readonly name: string;
  /** The name in messages, such as `ValidatingWebhookConfiguration hook.shop`. */
  readonly what: string;
  /** Returns the write that the object needs; `undefined` when it needs none. Called in each pass. */
  readonly plan: (live: T | undefined) => Write | undefined;
  /** Milliseconds after which the object is checked again even if nothing changed. @default 60_000 */
  readonly every?: number | undefined;
  /** Called when a change by somebody else was repaired. */
  readonly onRepaired?: (() => void) | undefined;
  readonly onFailed?: (() => void) | undefined;
}

const CONTENT_TYPES = {
  apply: "application/apply-patch+yaml",
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
} as const;

/** Milliseconds between two passes when nothing changes. */
const PASS_EVERY = 60_000;
/** Milliseconds between two repairs, so that two writers with different wishes do not keep the server busy. */
const REPAIR_EVERY = 250;

/**
 * Checks its object whenever that may have changed, and after each {@link touch}.
 *
 * **Guarantee.** Passes do not overlap, and each begins with a read of the object, so the last one has seen every
 * earlier request and every earlier write of others.
 */
export class KeptObject<T extends LiveObject> implements AsyncDisposable {
  readonly #options: KeptObjectOptions<T>;
  readonly #path: string;
  readonly #stopping = new AbortController();
  readonly #passes: Passes;
  readonly #running: Promise<unknown>;
  readonly #observers = new Set<() => void>();
  #touched = 0;
  /** The number of touches before the last pass began. */
  #began = 0;
  /** The number of touches before the last successful pass. */
  #done = 0;
  /** The object as last read or written; `null` while it is unknown. */
  #live: T | undefined | null = null;
  #repairedAt = 0;

  constructor(options: KeptObjectOptions<T>) {
    this.#options = options;
    this.#path = `${options.collection}/${options.name}`;
    const { clock, log, what, onFailed, collection, name, transport, leadership } = options;
    const { signal } = this.#stopping;
    this.#passes = new Passes({
      clock,
      pass: () => this.#pass(signal),
      rest: () => this.#rest(signal),
      onFailure: (reason, isRepeated) => {
        if (!isRepeated) log.warn("Cannot register webhooks: trying again", { object: what, reason });
        onFailed?.();
      },
    });
    // If the watch is refused, the regular passes remain.
    const following = followObject(transport, {
      collection,
      name,
      clock,
      signal,
      onEvent: (type, { metadata }) => {
        const known = this.#live?.metadata.resourceVersion;
        if (type === "DELETED" ? known !== undefined : metadata.resourceVersion !== known) this.#passes.look();
      },
      onFailure: (error) =>
        log.debug("Cannot watch a webhook registration: it is checked at intervals instead", { object: what, error }),
    });
    const leading = leadership.onChange(() => this.#passes.look());
    this.#running = Promise.all([this.#passes.run(signal), following]).finally(() => leading[Symbol.dispose]());
    this.#running.catch(() => {}); // the end awaits it
  }

  /** The reason why the object is not in its wanted state; `undefined` while it is. */
  get failure(): string | undefined {
    return this.#passes.failure;
  }

  /** Announces that the wanted state has changed. Resolves when a later pass has succeeded, or the signal fires. */
  touch(signal?: AbortSignal): Promise<void> {
    const mine = ++this.#touched;
    this.#passes.look();
    return this.#when(() => this.#done >= mine, signal);
  }

  /** Resolves when the last known state of the object passes the test, or when the signal fires. */
  seen(passes: (live: T | undefined) => boolean, signal?: AbortSignal): Promise<void> {
    return this.#when(() => this.#live !== null && passes(this.#live), signal);
  }

  /** Reads the object from the server. @throws ApiError, UnreachableError, the signal's reason. */
  async read(signal: AbortSignal): Promise<T | undefined> {
    try {
      return await this.#options.transport.request<T>({ method: "GET", path: this.#path, signal });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort(new Error("The registration of webhooks ends"));
    await this.#running.catch(() => {});
    this.#tell();
  }

  async #pass(signal: AbortSignal): Promise<number> {
    const { leadership, every = PASS_EVERY } = this.#options;
    this.#began = this.#touched;
    if (leadership.isLeader) {
      await this.#bringAbout(signal);
      this.#done = this.#began;
    } else {
      this.#live = await this.read(signal);
    }
    this.#tell();
    return every;
  }

  /** Waits after a repair, unless the wanted state has changed. */
  async #rest(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const rest = this.#repairedAt + REPAIR_EVERY - clock.now();
    if (rest > 0 && this.#touched === this.#began) await sleep(rest, { clock, signal }).catch(() => {});
  }

  async #bringAbout(signal: AbortSignal): Promise<void> {
    const { plan, clock, log, what, onRepaired } = this.#options;
    const live = await this.read(signal);
    const wasWritten = this.#live !== null && this.#done >= this.#touched;
    const isForeign = wasWritten && live?.metadata.resourceVersion !== this.#live?.metadata.resourceVersion;
    const write = plan(live);
    const result = write === undefined ? live : await this.#write(write, live, signal);
    this.#live = result;
    if (!isForeign || result?.metadata.resourceVersion === live?.metadata.resourceVersion) return;
    this.#repairedAt = clock.now();
    log.warn("Somebody else has changed a webhook registration: repairing it", { object: what });
    onRepaired?.();
  }

  async #write(write: Write, live: T | undefined, signal: AbortSignal): Promise<T | undefined> {
    const { transport } = this.#options;
    if (write.kind === "delete") {
      if (live === undefined) return undefined;
      const { uid } = live.metadata;
      try {
        await transport.request({ method: "DELETE", path: this.#path, body: { preconditions: { uid } }, signal });
      } catch (error) {
        if (!isNotFound(error) && !isConflict(error)) throw error;
      }
      return undefined;
    }
    const query = write.kind === "apply" ? "fieldManager=binnacle&force=true" : "fieldManager=binnacle";
    const contentType = CONTENT_TYPES[write.kind];
    return transport.request<T>({ method: "PATCH", path: this.#path, query, contentType, body: write.body, signal });
  }

  async #when(holds: () => boolean, signal?: AbortSignal): Promise<void> {
    if (holds()) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const observer = () => {
      if (holds() || signal?.aborted === true || this.#stopping.signal.aborted) resolve();
    };
    this.#observers.add(observer);
    signal?.addEventListener("abort", observer, { once: true });
    observer();
    await promise;
    this.#observers.delete(observer);
    signal?.removeEventListener("abort", observer);
  }

  #tell(): void {
    for (const observer of this.#observers) observer();
  }
}
