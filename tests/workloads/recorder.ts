/** What happens on a cluster, by namespace, in the order in which it happened. */
import { kinds } from "./kinds.ts";
import type { Side } from "./side.ts";

/** An object as a situation looks into it: its kind says what is there. */
// oxlint-disable-next-line typescript/no-explicit-any -- looked into by hand-written paths, on both sides alike
export type Loose = any;

/** One event of a watch. */
export interface Happening {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: Loose;
  /** `performance.now()` at its arrival. */
  readonly at: number;
}

/** Watches every kind of a cluster, in all namespaces. */
export class Recorder implements AsyncDisposable {
  readonly side: Side;
  readonly #stop = new AbortController();
  readonly #byNamespace = new Map<string, Happening[]>();
  #last = 0;
  #watches: Promise<unknown> | undefined;

  constructor(side: Side) {
    this.side = side;
  }

  /** Begins; resolves once every watch is there. */
  async start(): Promise<void> {
    const begun = kinds.map(() => Promise.withResolvers<void>());
    this.#watches = Promise.allSettled(
      kinds.map(({ api, plural }, index) => this.#watch(`${api}/${plural}`, begun[index]!.resolve)),
    );
    await Promise.all(begun.map(({ promise }) => promise));
  }

  /** Everything that happened in a namespace so far. */
  of(namespace: string): readonly Happening[] {
    return this.#byNamespace.get(namespace) ?? [];
  }

  /** Resolves when nothing at all has happened for so many milliseconds. */
  async quiet(ms: number): Promise<void> {
    for (let left = ms; left > 0; left = this.#last + ms - performance.now()) await Bun.sleep(left);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#watches;
  }

  async #watch(path: string, onBegun: () => void): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const response = await this.side.fetch(`${path}?watch=1`, { signal: this.#stop.signal });
      if (!response.ok || response.body === null) throw new Error(`WATCH ${path}: ${response.status}`);
      onBegun();
      const decoder = new TextDecoder();
      let rest = "";
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
        const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) if (line !== "") this.#saw(JSON.parse(line) as Omit<Happening, "at">);
      }
    }
  }

  #saw({ type, object }: Omit<Happening, "at">): void {
    const namespace = object.metadata?.namespace;
    if (namespace === undefined) return;
    const happenings = this.#byNamespace.get(namespace);
    this.#last = performance.now();
    const happening = { type, object, at: this.#last };
    if (happenings === undefined) this.#byNamespace.set(namespace, [happening]);
    else happenings.push(happening);
  }
}
