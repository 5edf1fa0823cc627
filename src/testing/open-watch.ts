/** A watch that passes the faults: its chunks wait, or its connection is cut. */
import type { RequestTarget } from "./request-target.ts";

export interface OpenWatchOptions {
  readonly target: RequestTarget;
  /** Awaited before each chunk; it rejects when the signal fires. */
  readonly hold: (signal: AbortSignal) => Promise<void> | undefined;
  readonly onChunk: (chunk: Uint8Array) => void;
  readonly onEnd: () => void;
}

export class OpenWatch {
  readonly target: RequestTarget;
  readonly response: Response;
  readonly #options: OpenWatchOptions;
  readonly #over = new AbortController();
  #controller!: ReadableStreamDefaultController<Uint8Array>;

  constructor(response: Response, options: OpenWatchOptions) {
    this.target = options.target;
    this.#options = options;
    const reader = response.body!.getReader();
    const end = (): void => void reader.cancel().catch(() => {});
    this.#over.signal.addEventListener("abort", end, { once: true });
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => void (this.#controller = controller),
      cancel: () => this.#end(),
    });
    this.response = new Response(body, { status: response.status, headers: response.headers });
    this.#pump(reader).catch((error: unknown) => this.#fail(error));
  }

  /** Cuts the connection. */
  cut(): void {
    this.#fail(connectionLost());
  }

  async #pump(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
    const { signal } = this.#over;
    for (;;) {
      const { done, value } = await reader.read();
      if (signal.aborted) return;
      await this.#options.hold(signal);
      if (signal.aborted) return;
      if (done) break;
      this.#options.onChunk(value);
      this.#controller.enqueue(value);
    }
    this.#controller.close();
    this.#end();
  }

  #fail(error: unknown): void {
    if (this.#over.signal.aborted) return;
    this.#controller.error(error);
    this.#end();
  }

  #end(): void {
    this.#over.abort();
    this.#options.onEnd();
  }
}

/** Makes the platform's error. */
export function connectionLost(code = "ECONNRESET"): Error {
  return Object.assign(new Error("the connection was lost, by a fault of the test"), { code });
}
