/** The metadata of all kinds in one stream, and keys that are derived from it. */
import { type Key, type MappedWatch, type OwnerReference, source } from "../../index.ts";

/** The parts of an object that the garbage collector reads. */
export interface Owned {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string | undefined;
    readonly uid: string;
    readonly deletionTimestamp?: string | undefined;
    readonly finalizers?: readonly string[] | undefined;
    readonly ownerReferences?: readonly OwnerReference[] | undefined;
  };
}

export interface OwnedChange {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: Owned;
  /** The state before the change, if there was one. */
  readonly old: Owned | undefined;
}

/**
 * Reports every existing object, then every change.
 *
 * A watch of each kind would do the same, but sixty of them take longer to start than a test runs.
 *
 * @returns a function that ends it.
 */
export type ObjectFeed = (listener: (change: OwnedChange) => void) => () => void;

/** Kinds whose objects neither have owners nor own others; they change often and are skipped. */
export function isIgnored({ apiVersion, kind }: Owned): boolean {
  return kind === "Event" && (apiVersion === "v1" || apiVersion.startsWith("events.k8s.io/"));
}

/** Names to run, each once for each turn of the event loop. */
export class PendingNames {
  #names = new Set<string>();
  #wake: () => void = () => {};

  add(name: string): void {
    this.#names.add(name);
    this.#wake();
  }

  /**
   * Makes a source of keys.
   *
   * @param begin called when the controller starts; it returns the function to call at the end.
   */
  asSource(keyOf: (name: string) => Key, begin: () => (() => void) | undefined): MappedWatch {
    const keys = async function* (this: PendingNames): AsyncGenerator<Key> {
      const end = begin();
      try {
        for (;;) {
          const now = this.#names;
          this.#names = new Set();
          for (const name of now) yield keyOf(name);
          if (this.#names.size === 0) await new Promise<void>((resolve) => (this.#wake = resolve));
        }
      } finally {
        end?.();
      }
    };
    return source.from({ [Symbol.asyncIterator]: keys.bind(this) });
  }
}

/** Calls back with the key of each namespace in which there was a change that counts. */
export function namespacesOf(
  objects: ObjectFeed,
  { counts, keyOf }: { readonly counts: (change: OwnedChange) => boolean; readonly keyOf: (namespace: string) => Key },
): MappedWatch {
  const namespaces = new PendingNames();
  return namespaces.asSource(keyOf, () =>
    objects((change) => {
      const { namespace } = change.object.metadata;
      if (namespace !== undefined && counts(change)) namespaces.add(namespace);
    }),
  );
}
