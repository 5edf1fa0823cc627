/** The state of an informer for its users, and the log of its changes. */
import type { Log } from "../observe/log.ts";
import type { AnyObject } from "../resource/handle.ts";

export type InformerState =
  | { readonly kind: "starting" }
  | { readonly kind: "listing" }
  | { readonly kind: "watching" }
  /** The kind does not exist (404); the informer keeps looking for it. */
  | { readonly kind: "waiting"; readonly message: string }
  /** Requests are refused (403), fail, or do not reach the server; the informer keeps trying. */
  | { readonly kind: "unavailable"; readonly message: string; readonly code?: number | undefined }
  | { readonly kind: "stopped" };

const RANK: Readonly<Record<InformerState["kind"], number>> = {
  watching: 0,
  listing: 1,
  starting: 2,
  unavailable: 3,
  waiting: 4,
  stopped: 5,
};

/** The worst of several states: an informer of several namespaces has the worst state of its partitions. */
export function worstOf(states: Iterable<InformerState>): InformerState {
  let worst: InformerState | undefined;
  for (const state of states) if (worst === undefined || RANK[state.kind] > RANK[worst.kind]) worst = state;
  return worst ?? { kind: "starting" };
}

export function isSameState(a: InformerState, b: InformerState): boolean {
  return a.kind === b.kind && (a as { message?: string }).message === (b as { message?: string }).message;
}

/** The most kinds other than the informer's own, and the most malformed objects, that are logged. */
const MOST_OTHERS = 10;
/** Namespace and name of an object have at most 253 characters each. */
const MOST_NAME = 510;

export class StateLog {
  readonly #log: Pick<Log, "debug" | "info" | "warn">;
  readonly #informer: string;
  /** The problem that was last logged. */
  #problem: string | undefined;
  /** Logged kinds that do not belong to the informer. */
  readonly #others = new Set<string>();
  /** Logged malformed objects with their flaws. */
  readonly #leftOut = new Set<string>();

  constructor(log: Pick<Log, "debug" | "info" | "warn">, informer: string) {
    this.#log = log;
    this.#informer = informer;
  }

  /** Logs that a watch shows an object of another kind. */
  other({ apiVersion, kind }: AnyObject): void {
    const type = `${apiVersion}/${kind}`;
    if (this.#others.has(type) || this.#others.size >= MOST_OTHERS) return;
    this.#others.add(type);
    const about = { informer: this.#informer, apiVersion, kind };
    this.#log.warn("Ignoring an object of another kind that a watch shows", about);
  }

  /** Logs that the server shows a malformed object. */
  leftOut(object: unknown, flaw: string): void {
    const name = nameOf(object);
    const line = `${name} ${flaw}`;
    if (this.#leftOut.has(line) || this.#leftOut.size >= MOST_OTHERS) return;
    this.#leftOut.add(line);
    const about = { informer: this.#informer, ...(name && { object: name }), flaw };
    this.#log.warn("Ignoring a malformed object that the server shows", about);
  }

  changed(state: InformerState): void {
    const informer = this.#informer;
    if (state.kind === "waiting" || state.kind === "unavailable") {
      const { kind, message } = state;
      // A retry with the same result is not logged again; the messages for an absent kind differ, so only the state
      // counts.
      const problem = kind === "waiting" ? kind : message;
      if (this.#problem === problem) return;
      this.#problem = problem;
      if (kind === "waiting") this.#log.info("Waiting for a kind to appear", { informer, message });
      else this.#log.warn("Cannot watch", { informer, message });
    } else if (state.kind === "watching" && this.#problem !== undefined) {
      this.#problem = undefined;
      this.#log.info("Watching again", { informer });
    } else this.#log.debug("Informer state", { informer, state: state.kind });
  }
}

/** The name of a value that may not even be an object. */
function nameOf(object: unknown): string {
  const { metadata } = (object ?? {}) as { metadata?: { namespace?: unknown; name?: unknown } | null };
  return [metadata?.namespace, metadata?.name]
    .filter((part) => typeof part === "string")
    .join("/")
    .slice(0, MOST_NAME);
}
