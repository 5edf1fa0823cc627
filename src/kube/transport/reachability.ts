/** Whether a cluster can be reached: one probe stands in for everybody who waits. */
import { abortable } from "../../platform/abortable.ts";
import { sleep, type Clock } from "../../platform/clock.ts";

/** Between probes: 1–2 s, so that many processes do not ask in step. */
const PROBE_EVERY_MS = 1_000;
const PROBE_JITTER_MS = 1_000;

export interface Reachability {
  readonly reachable: boolean;
  /**
   * Resolves when the server answers; at once when it is reachable. After an UnreachableError this waits for the
   * probe that error set off. Whoever is woken adds a delay of its own: many are woken together.
   *
   * @throws the signal's reason.
   */
  wait(signal: AbortSignal): Promise<void>;
  onChange(listener: (reachable: boolean) => void): Disposable;
}

export interface ReachabilityOptions {
  readonly clock: Clock;
  /** Asks the server for a sign of life. Rejects when there is none. */
  readonly probe: (signal: AbortSignal) => Promise<void>;
  /** A number from 0 up to 1. @default Math.random */
  readonly random?: (() => number) | undefined;
}

/** Follows a server's reachability: `reachable → suspect → (reachable | unreachable → reachable)`. */
export class ReachabilityProbe implements Reachability {
  readonly #options: ReachabilityOptions;
  readonly #listeners = new Set<(reachable: boolean) => void>();
  readonly #closed = new AbortController();
  #reachable = true;
  /** Runs while the server is suspected or known to be out of reach; resolves when it answers. */
  #probing: Promise<void> | undefined;

  constructor(options: ReachabilityOptions) {
    this.#options = options;
  }

  get reachable(): boolean {
    return this.#reachable;
  }

  /** Call it when a connection failed. One cut connection alone does not make the server unreachable: a probe decides. */
  suspect(): void {
    if (this.#probing || this.#closed.signal.aborted) return;
    this.#probing = this.#probe().finally(() => {
      this.#probing = undefined;
    });
    // Only close() makes it reject, and then those who wait have been told.
    this.#probing.catch(() => {});
  }

  async wait(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#probing) await abortable(this.#probing, signal);
  }

  onChange(listener: (reachable: boolean) => void): Disposable {
    // A listener that is added twice is told twice, and each registration is its own to remove.
    const own = (reachable: boolean) => listener(reachable);
    this.#listeners.add(own);
    return { [Symbol.dispose]: () => void this.#listeners.delete(own) };
  }

  close(): void {
    this.#closed.abort(new Error("The transport is closed"));
    this.#listeners.clear();
  }

  async #probe(): Promise<void> {
    const { clock, probe, random = Math.random } = this.#options;
    const { signal } = this.#closed;
    for (;;) {
      try {
        await probe(signal);
        signal.throwIfAborted();
        this.#set(true);
        return;
      } catch {
        signal.throwIfAborted();
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
