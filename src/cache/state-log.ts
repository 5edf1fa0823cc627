/** Says in the log what keeps an informer from watching, once, and when that is over. */
import type { Log } from "../observe/log.ts";
import type { AnyObject } from "../resource/handle.ts";
import type { InformerState } from "./informer-state.ts";

/** So many other kinds are named, and so many objects that nobody could work with. */
const MOST_OTHERS = 10;
/** Namespace and name of an object have at most 253 characters each. */
const MOST_NAME = 510;

export class StateLog {
  readonly #log: Pick<Log, "debug" | "info" | "warn">;
  readonly #informer: string;
  /** What was last logged. */
  #trouble: string | undefined;
  /** Kinds that do not belong to the informer. */
  readonly #others = new Set<string>();
  /** Objects that nobody could work with, with what was wrong with them. */
  readonly #leftOut = new Set<string>();

  constructor(log: Pick<Log, "debug" | "info" | "warn">, informer: string) {
    this.#log = log;
    this.#informer = informer;
  }

  /** A watch shows an object of another kind. */
  other({ apiVersion, kind }: AnyObject): void {
    const type = `${apiVersion}/${kind}`;
    if (this.#others.has(type) || this.#others.size >= MOST_OTHERS) return;
    this.#others.add(type);
    const about = { informer: this.#informer, apiVersion, kind };
    this.#log.warn("A watch shows an object of another kind: it is left out", about);
  }

  /** The server shows something that nobody could work with. */
  leftOut(object: unknown, flaw: string): void {
    const name = nameOf(object);
    const told = `${name} ${flaw}`;
    if (this.#leftOut.has(told) || this.#leftOut.size >= MOST_OTHERS) return;
    this.#leftOut.add(told);
    const about = { informer: this.#informer, ...(name && { object: name }), flaw };
    this.#log.warn("The server shows something malformed: it is left out", about);
  }

  changed(state: InformerState): void {
    const informer = this.#informer;
    if (state.kind === "waiting" || state.kind === "unavailable") {
      const { kind, message } = state;
      // It was tried again, and nothing is new; a kind that is absent is told of in several ways.
      const trouble = kind === "waiting" ? kind : message;
      if (this.#trouble === trouble) return;
      this.#trouble = trouble;
      if (kind === "waiting") this.#log.info("Waiting for a kind to appear", { informer, message });
      else this.#log.warn("Cannot watch", { informer, message });
    } else if (state.kind === "watching" && this.#trouble !== undefined) {
      this.#trouble = undefined;
      this.#log.info("Watching again", { informer });
    } else this.#log.debug("Informer state", { informer, state: state.kind });
  }
}

/** What can be told of the name of something that may be anything. */
function nameOf(object: unknown): string {
  const { metadata } = (object ?? {}) as { metadata?: { namespace?: unknown; name?: unknown } | null };
  return [metadata?.namespace, metadata?.name]
    .filter((part) => typeof part === "string")
    .join("/")
    .slice(0, MOST_NAME);
}
