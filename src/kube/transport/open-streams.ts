/** The streams of a transport that are open or about to be, each with the function that ends it. */
import { type WriteGate, WritesRefused } from "./write-gate.ts";

export interface OpenStream {
  /** Follows the caller's signal, and fires when the stream is to end. */
  readonly signal: AbortSignal;
  /** The stream has ended. */
  readonly leave: () => void;
}

export class OpenStreams {
  readonly #open = new Map<AbortController, WriteGate | undefined>();

  enter(signal: AbortSignal | undefined, gate?: WriteGate): OpenStream {
    signal?.throwIfAborted();
    const controller = new AbortController();
    this.#open.set(controller, gate);
    const onAbort = signal && (() => controller.abort(signal.reason));
    if (onAbort) signal.addEventListener("abort", onAbort, { once: true });
    return {
      signal: controller.signal,
      leave: () => {
        this.#open.delete(controller);
        if (onAbort) signal.removeEventListener("abort", onAbort);
      },
    };
  }

  /** Ends the streams that their gate refuses by now. */
  abortRefused(): void {
    for (const [controller, gate] of this.#open) if (gate?.refused) controller.abort(new WritesRefused(gate.refused));
  }

  abort(reason: unknown): void {
    for (const controller of this.#open.keys()) controller.abort(reason);
  }
}
