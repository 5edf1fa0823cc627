/** The namespaces in which something goes. */
import { type Key, type MappedWatch, source } from "../../index.ts";
import type { ObjectFeed } from "./object-feed.ts";

/** The key of each namespace in which objects were deleted, once for all that went in one turn. */
export function deletedIn(objects: ObjectFeed, keyOf: (namespace: string) => Key): MappedWatch {
  const namespaces = new Set<string>();
  let wake: () => void = () => {};
  async function* keys(): AsyncGenerator<Key> {
    const end = objects(({ type, object }) => {
      const { namespace } = object.metadata;
      if (type !== "DELETED" || namespace === undefined) return;
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
