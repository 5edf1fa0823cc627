/** The namespaces in which something comes or goes. */
import { type Key, type MappedWatch, source } from "../../../index.ts";
import type { ObjectFeed, OwnedChange } from "./object-feed.ts";

interface Happening {
  readonly types: readonly OwnedChange["type"][];
  readonly keyOf: (namespace: string) => Key;
}

/** The key of each namespace in which something of these types happens, once for all of one turn. */
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
