/** One object of the API server that is kept as this process wants it, whoever changes it. */
import type { Leadership } from "../../client/leadership.ts";
import { watch } from "../../kube/api/watch.ts";
import { isConflict, isNotFound } from "../../kube/errors/api-error.ts";
import type { Transport } from "../../kube/transport/transport.ts";
import type { Log } from "../../observe/log.ts";
import { type Clock, sleep } from "../../platform/clock.ts";

/** What a process needs to keep objects. */
export interface KeptParts {
  readonly transport: Pick<Transport, "request" | "stream">;
  /** Of several replicas the leader writes. */
  readonly leadership: Leadership;
  readonly clock: Clock;
  readonly log: Log;
}

/** As the server answers it, as far as all kinds have it. */
export interface LiveObject {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly annotations?: Readonly<Record<string, string>> | undefined;
  };
}

/** What makes an object as it should be. */
export type Write =
  /** Server-side apply. */
  | { readonly kind: "apply"; readonly body: object }
  | { readonly kind: "merge" | "json"; readonly body: object }
  | { readonly kind: "delete" };

export interface KeptObjectOptions<T extends LiveObject> extends KeptParts {
  /** The path of the collection. */
  readonly collection: string;
  readonly name: string;
  /** For messages, such as `ValidatingWebhookConfiguration hook.shop`. */
  readonly what: string;
  /** What has to be written for the object to be as it should; `undefined` for nothing. Called for each pass. */
  readonly plan: (live: T | undefined) => Write | undefined;
  /** Milliseconds after which it is written again though nothing changed. @default 60_000 */
  readonly every?: number | undefined;
  /** Somebody else had changed the object, and it was put right. */
  readonly onRepaired?: (() => void) | undefined;
  readonly onFailed?: (() => void) | undefined;
}

const CONTENT_TYPES = {
  apply: "application/apply-patch+yaml",
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
} as const;

/** Milliseconds. */
const PASS_EVERY = 60_000;
const FIRST_RETRY = 500;
const LAST_RETRY = 15_000;
const WATCH_AGAIN = 1_000;
const WATCH_IDLE = 310_000;
const WATCH_SECONDS = 300;
/** Between two repairs, so that two who want different things do not keep the server busy. */
const REPAIR_EVERY = 250;

/**
 * Passes over its object whenever that may have changed, and after each {@link touch}.
 *
 * **Guarantee.** Passes come one after the other, and each begins with reading the object, so that the last one saw all
 * that was wanted and all that others did before it.
 */
export class KeptObject<T extends LiveObject> implements AsyncDisposable {
  readonly #options: KeptObjectOptions<T>;
  readonly #path: string;
  readonly #stopping = new AbortController();
  readonly #running: Promise<unknown>;
  readonly #observers = new Set<() => void>();
  #wake: () => void = () => {};
  #dirty = true;
  #touched = 0;
  /** The touches that a successful pass has followed. */
  #done = 0;
  /** As read or written last; `null` while nothing is known. */
  #live: T | undefined | null = null;
  #repairedAt = 0;
  #failure: string | undefined;

  /** Begins at once. */
  constructor(options: KeptObjectOptions<T>) {
    this.#options = options;
    this.#path = `${options.collection}/${options.name}`;
    const { signal } = this.#stopping;
    const leading = options.leadership.onChange(() => this.#look());
    this.#running = Promise.all([this.#run(signal), this.#follow(signal)]).finally(() => leading[Symbol.dispose]());
    this.#running.catch(() => {}); // awaited at the end
  }

  /** Why it is not as it should be; `undefined` while it is. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** What is wanted has changed. Resolves when a pass that began after this call has succeeded, or the signal fires. */
  touch(signal?: AbortSignal): Promise<void> {
    const mine = ++this.#touched;
    this.#look();
    return this.#when(() => this.#done >= mine, signal);
  }

  /** Resolves when the object passes, as far as this process has seen it, or the signal fires. */
  seen(passes: (live: T | undefined) => boolean, signal?: AbortSignal): Promise<void> {
    return this.#when(() => this.#live !== null && passes(this.#live), signal);
  }

  /** The object as the server has it now. @throws ApiError, UnreachableError, the signal's reason. */
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
    this.#wake();
    await this.#running.catch(() => {});
    this.#tell();
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { clock, leadership, every = PASS_EVERY } = this.#options;
    let retry = FIRST_RETRY;
    while (!signal.aborted) {
      const began = this.#touched;
      this.#dirty = false;
      let pause = every;
      try {
        if (leadership.isLeader) {
          await this.#pass(signal);
          this.#done = began;
        } else {
          this.#live = await this.read(signal);
        }
        this.#failure = undefined;
        retry = FIRST_RETRY;
      } catch (error) {
        if (signal.aborted) return;
        this.#failed(error);
        pause = retry;
        retry = Math.min(2 * retry, LAST_RETRY);
      }
      this.#tell();
      if (!this.#dirty && !signal.aborted) await this.#woken(pause);
      const rest = this.#repairedAt + REPAIR_EVERY - clock.now();
      if (rest > 0 && this.#touched === began) await sleep(rest, { clock, signal }).catch(() => {});
    }
  }

  async #pass(signal: AbortSignal): Promise<void> {
    const { plan, clock, log, what, onRepaired } = this.#options;
    const live = await this.read(signal);
    const wasWritten = this.#live !== null && this.#done >= this.#touched;
    const isForeign = wasWritten && live?.metadata.resourceVersion !== this.#live?.metadata.resourceVersion;
    const write = plan(live);
    const result = write === undefined ? live : await this.#write(write, live, signal);
    this.#live = result;
    if (!isForeign || result?.metadata.resourceVersion === live?.metadata.resourceVersion) return;
    this.#repairedAt = clock.now();
    log.warn("Somebody else changed what registers webhooks: it is put right", { object: what });
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

  /** Looks whenever somebody changed the object. A watch that is refused leaves the regular passes. */
  async #follow(signal: AbortSignal): Promise<void> {
    const { transport, collection, name, clock, log, what } = this.#options;
    while (!signal.aborted) {
      try {
        await watch(transport, {
          path: collection,
          fields: `metadata.name=${name}`,
          timeoutSeconds: WATCH_SECONDS,
          idleTimeout: WATCH_IDLE,
          signal,
          onEvent: (type, { metadata }) => {
            if (type === "BOOKMARK") return;
            const known = this.#live?.metadata.resourceVersion;
            if (type === "DELETED" ? known !== undefined : metadata.resourceVersion !== known) this.#look();
          },
        });
      } catch (error) {
        if (signal.aborted) return;
        log.debug("Cannot watch what registers webhooks: it is looked at again and again", { object: what, error });
      }
      await sleep(WATCH_AGAIN, { clock, signal }).catch(() => {}); // the signal ends the loop
    }
  }

  #look(): void {
    this.#dirty = true;
    this.#wake();
  }

  #woken(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#options.clock.setTimeout(resolve, ms);
      this.#wake = () => {
        timer[Symbol.dispose]();
        resolve();
      };
    });
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

  #failed(error: unknown): void {
    const { log, what, onFailed } = this.#options;
    const reason = error instanceof Error ? error.message : String(error);
    if (this.#failure !== reason) log.warn("Cannot register webhooks: trying again", { object: what, reason });
    this.#failure = reason;
    onFailed?.();
  }
}
