/** Finds the namespaces in which objects are created or deleted. */
import { type Key, type MappedWatch, source } from "../../index.ts";
import type { ObjectFeed, OwnedChange } from "./object-feed.ts";

interface Happening {
  readonly types: readonly OwnedChange["type"][];
  readonly keyOf: (namespace: string) => Key;
}

/** Calls back with the key of each namespace in which an object of these types changed, once per turn of the event loop. */
export function namespacesOf(objects: ObjectFeed, { types, keyOf }: Happening): MappedWatch {
  const namespaces = new Set<string>();
  let wake: () => void = () => {};
  async function* keys(): AsyncGenerator<Key> {
    const end = objects(({ type, object }) => {
      const { namespace } = object.metadata;
      if (namespace === undefined || !types.includes(type)) return;
      namespaces.add(namespace);
      wake();
    });
    try {
      for (;;) {
        const now = [...namespaces];
        namespaces.clear();
        for (const namespace of now) yield keyOf(namespace);
        if (namespaces.size === 0) await new Promise<void>((resolve) => (wake = resolve));
      }
    } finally {
      end();
    }
  }
  return source.from({ [Symbol.asyncIterator]: keys });
}
