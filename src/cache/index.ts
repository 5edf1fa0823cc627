/**
 * `binnacle/cache`: the layers below the controllers, for use on their own, in client-go's terms.
 *
 * ```text
 * API server → Reflector → DeltaFIFO → Indexer → handlers      all of it together: SharedInformer
 *                        ↘ FIFO, Store, ExpirationStore, UndeltaStore through StoreSink
 * handlers → WorkQueue → your workers                           reads: Lister
 * ```
 *
 * The runtime is built from the same classes. Each documents its guarantees where it is defined.
 *
 * @example
 * import { connect, Lister, SharedInformer, WorkQueue } from "binnacle/cache";
 * import { ConfigMap } from "binnacle/resources";
 *
 * await using cluster = await connect();
 * const informer = new SharedInformer(ConfigMap, { ...cluster, labels: "app=web" });
 * const queue = new WorkQueue({ name: "web" });
 * informer.addHandler(
 *   {
 *     onAdd: (object) => queue.add(object.metadata.name),
 *     onUpdate: (object) => queue.add(object.metadata.name),
 *     onDelete: (object) => queue.add(object.metadata.name),
 *   },
 *   { name: "web" },
 * );
 * informer.start();
 * await informer.synced(AbortSignal.timeout(30_000));
 * const item = await queue.get();
 * console.log(item?.key, new Lister(informer.store).list().length);
 * queue.done(item!.key);
 * await informer.stop();
 */
export { connect, type Connection } from "./connect.ts";
export {
  Delta,
  DeltaFifo as DeltaFIFO,
  type DeltaFifoOptions as DeltaFIFOOptions,
  type DeltaType,
  type KnownObjects,
  type ListMark,
  type Popped,
} from "./delta-fifo.ts";
export { ExpirationStore, type ExpirationStoreOptions } from "./expiration-store.ts";
export { Fifo as FIFO, type FifoOptions as FIFOOptions } from "./fifo.ts";
export { type IndexFunction, Indexer, type ReadonlyStore, Store } from "./store.ts";
export type {
  AddEvent,
  DeleteEvent,
  HandlerOptions,
  HandlerRegistration,
  InformerHandler,
  UpdateEvent,
} from "./informer-handler.ts";
export type { InformerState } from "./informer-state.ts";
export { ListSemaphore } from "./list-semaphore.ts";
export { Lister, type ListerOptions } from "./lister.ts";
export { Reflector } from "./reflector.ts";
export type { ReflectorOptions } from "./reflector-options.ts";
export type { ListReason, ReflectorState } from "./reflector-state.ts";
export { SharedInformer, type SharedInformerOptions } from "./shared-informer.ts";
export { type ReflectorSink, type ReflectorStore, StoreSink } from "./reflector-sink.ts";
export { type ListMode, StreamMemory } from "./streaming-list.ts";
export { UndeltaStore } from "./undelta-store.ts";
export {
  bucket,
  type BucketOptions,
  exponential,
  fastSlow,
  maxOf,
  type RateLimiter,
  withMaxWait,
} from "../queue/rate-limiter.ts";
export type { Parked, QueueItem } from "../queue/entries.ts";
export { type AddOptions, WorkQueue, type WorkQueueOptions, type WorkQueueSettings } from "../queue/work-queue.ts";
export { type Key, keyString, parseKey } from "../resource/meta.ts";
