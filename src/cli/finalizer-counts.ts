/** Counts the finalizers on the objects of a kind. */
import { listMetadata } from "../kube/api/list.ts";
import type { Transport } from "../kube/transport/transport.ts";
import type { AnyObject, Resource } from "../resource/handle.ts";
import { keyString } from "../resource/meta.ts";

/** The objects of one kind that carry one finalizer. */
export interface FinalizerCount {
  readonly example: string;
  readonly objects: number;
  readonly deleting: number;
}

/** The objects of one kind. */
export interface ObjectCounts {
  readonly count: number;
  /** The namespaces with such objects; an empty name stands for the cluster. */
  readonly namespaces: ReadonlySet<string>;
  readonly finalizers: ReadonlyMap<string, FinalizerCount>;
}

export interface CountOptions {
  /** The path of the collection. */
  readonly path: string;
  readonly type: Resource;
  /** @default every finalizer is counted */
  readonly isCounted?: (finalizer: string, object: AnyObject) => boolean;
}

/** Reads the metadata of all objects of a kind. @throws ApiError */
export async function countFinalizers(
  transport: Transport,
  { path, type, isCounted = () => true }: CountOptions,
): Promise<ObjectCounts> {
  const finalizers = new Map<string, FinalizerCount>();
  const namespaces = new Set<string>();
  let count = 0;
  await listMetadata(transport, {
    path,
    type,
    fullListIfExpired: true,
    onRestart() {
      count = 0;
      finalizers.clear();
      namespaces.clear();
    },
    onPage(page) {
      count += page.length;
      for (const object of page) {
        const { metadata } = object;
        namespaces.add(metadata.namespace ?? "");
        for (const name of metadata.finalizers ?? []) {
          if (!isCounted(name, object)) continue;
          const { example, objects, deleting } = finalizers.get(name) ?? {
            example: keyString(metadata),
            objects: 0,
            deleting: 0,
          };
          const isDeleting = metadata.deletionTimestamp !== undefined;
          finalizers.set(name, { example, objects: objects + 1, deleting: deleting + (isDeleting ? 1 : 0) });
        }
      }
    },
  });
  return { count, namespaces, finalizers };
}
