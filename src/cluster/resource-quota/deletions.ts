/** The namespaces in which something goes. */
import { type MappedWatch, source } from "../../index.ts";
import type { ObjectFeed } from "../garbage-collector/object-feed.ts";

/** Keys `{ namespace, name: "" }`, one for each namespace in which objects were deleted in one turn. */
export function deletedIn(objects: ObjectFeed): MappedWatch {
  const namespaces = new Set<string>();
  let wake: () => void = () => {};
  async function* keys(): AsyncGenerator<{ readonly namespace: string; readonly name: string }> {
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
        for (const namespace of now) yield { namespace, name: "" };
        if (namespaces.size === 0) await new Promise<void>((resolve) => (wake = resolve));
      }
    } finally {
      end();
    }
  }
  return source.from({ [Symbol.asyncIterator]: keys });
}
