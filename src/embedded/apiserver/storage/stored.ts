/** One object as storage keeps it. */
import type { KubeObject } from "../hooks.ts";

/** An object at one version: shared by every reader and never changed. */
export class Stored {
  /** `namespace/name`, or `name` where the kind has no namespaces. */
  readonly key: string;
  readonly version: number;
  #object: KubeObject | undefined;
  #json: string | undefined;

  constructor(key: string, version: number, content: { readonly object?: KubeObject; readonly json?: string }) {
    this.key = key;
    this.version = version;
    this.#object = content.object;
    this.#json = content.json;
  }

  get object(): KubeObject {
    return (this.#object ??= JSON.parse(this.#json ?? "null") as KubeObject);
  }

  /** Made once, whoever asks: answers, list items and every watcher share it. */
  get json(): string {
    return (this.#json ??= JSON.stringify(this.#object));
  }
}

export type EventType = "ADDED" | "MODIFIED" | "DELETED";

/** One change of one object. */
export class StoreEvent {
  readonly type: EventType;
  /** The object after the change; of a deleted one its last state, at the version of the deletion. */
  readonly stored: Stored;
  /** Absent when the object was added. */
  readonly previous: Stored | undefined;
  /** In milliseconds. */
  readonly at: number;

  constructor(type: EventType, stored: Stored, { previous, at }: { previous: Stored | undefined; at: number }) {
    this.type = type;
    this.stored = stored;
    this.previous = previous;
    this.at = at;
  }

  get version(): number {
    return this.stored.version;
  }
}
