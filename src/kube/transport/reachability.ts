/** Tracks whether a cluster is reachable: one probe serves all who wait for it. */
import { abortable } from "../../platform/abortable.ts";
import { sleep, type Clock } from "../../platform/clock.ts";
import { isUnreachable, type UnreachableError } from "../errors/api-error.ts";
import { isTlsFailure } from "../errors/connection-failure.ts";

/** The delay between probes, 1 to 2 s with jitter, so that many processes do not probe in step. */
const PROBE_EVERY_MS = 1_000;
const PROBE_JITTER_MS = 1_000;
/** The least time between two probes of a server that nothing suspects: each takes a connection of its own. */
const VERIFY_EVERY_MS = 10_000;

export interface Reachability {
  readonly reachable: boolean;
  /**
   * Resolves when the server answers, at once if it is reachable. After an UnreachableError it waits for the probe that
   * the error has started. Callers add a delay of their own, because many of them continue at once.
   *
   * @throws the signal's reason.
   */
  wait(signal: AbortSignal): Promise<void>;
  onChange(listener: (reachable: boolean) => void): Disposable;
  /** The outage that is going on; `undefined` while the server is reachable. */
  readonly outage: Outage | undefined;
  /**
   * Starts a probe unless something shows by itself that the server is alive, every 10 s at most. Nothing but this
   * notices the end of a server to which no connection is open, or whose place a proxy takes with errors of its own.
   */
  verify(): void;
}

export interface Outage {
  /** When the first request failed, in the time of the transport's clock. */
  readonly since: number;
  /** Why the last probe failed. */
  readonly error: unknown;
}

export interface ReachabilityOptions {
  readonly clock: Clock;
  /** Probes the server. Rejects when it does not answer. */
  readonly probe: (signal: AbortSignal) => Promise<void>;
  /** Whether something has shown that the server is alive since the last call. */
  readonly hasShownLife: () => boolean;
  /** A number from 0 up to 1. @default Math.random */
  readonly random?: (() => number) | undefined;
}

/** Follows a server's reachability: `reachable → suspect → (reachable | unreachable → reachable)`. */
export class ReachabilityProbe implements Reachability {
  readonly #options: ReachabilityOptions;
  readonly #listeners = new Set<(reachable: boolean) => void>();
  readonly #closed = new AbortController();
  #reachable = true;
  #outage: Outage | undefined;
  #verified = -Infinity;
  /** The probing while the server is suspected or unreachable; resolves when it answers. */
  #probing: Promise<void> | undefined;

  constructor(options: ReachabilityOptions) {
    this.#options = options;
  }

  get reachable(): boolean {
    return this.#reachable;
  }

  get outage(): Outage | undefined {
    return this.#outage;
  }

  verify(): void {
    const now = this.#options.clock.now();
    if (now - this.#verified < VERIFY_EVERY_MS) return;
    this.#verified = now;
    if (!this.#options.hasShownLife()) this.suspect();
  }

  /**
   * Called when a connection has failed. A single lost connection does not make the server unreachable: a probe
   * decides.
   *
   * @param failure of the connection.
   */
  suspect(failure?: UnreachableError): void {
    if (this.#probing || this.#closed.signal.aborted) return;
    this.#probing = this.#probe(failure).finally(() => {
      this.#probing = undefined;
    });
    // Only close() makes it reject, and by then the waiting callers have been notified.
    this.#probing.catch(() => {});
  }

  async wait(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#probing) await abortable(this.#probing, signal);
  }

  onChange(listener: (reachable: boolean) => void): Disposable {
    // A listener that is added twice is called twice, and each registration can be removed on its own.
    const own = (reachable: boolean) => listener(reachable);
    this.#listeners.add(own);
    return { [Symbol.dispose]: () => void this.#listeners.delete(own) };
  }

  close(): void {
    this.#closed.abort(new Error("The transport is closed"));
    this.#listeners.clear();
  }

  async #probe(failure: UnreachableError | undefined): Promise<void> {
    const { clock, probe, random = Math.random } = this.#options;
    const { signal } = this.#closed;
    const since = clock.now();
    for (;;) {
      try {
        await probe(signal);
        signal.throwIfAborted();
        this.#outage = undefined;
        this.#set(true);
        return;
      } catch (error) {
        signal.throwIfAborted();
        // Requests see the certificate that is refused, and a probe does not.
        const isKnown = isUnreachable(error) && isTlsFailure(error) && error.code === failure?.code;
        this.#outage = { since, error: isKnown ? failure : error };
        this.#set(false);
      }
      await sleep(PROBE_EVERY_MS + random() * PROBE_JITTER_MS, { clock, signal });
    }
  }

  #set(reachable: boolean): void {
    if (this.#reachable === reachable) return;
    this.#reachable = reachable;
    for (const listener of this.#listeners) listener(reachable);
  }
}
