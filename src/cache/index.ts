/**
 * `binnacle/cache`: the layers below the controllers, for use on their own, in client-go's terms.
 *
 * ```text
 * API server → Reflector → DeltaFIFO → Indexer → handlers      all of it together: SharedInformer
 *                        ↘ FIFO, Store, ExpirationStore, UndeltaStore through StoreSink
 * handlers → WorkQueue → your workers                           reads: Lister
 * ```
 *
 * The first and the last line are what controllers run on; the stores behind StoreSink, and Lister, are for programs of
 * your own. `docs/cache.md` has a worked example. Each class documents its guarantees where it is defined.
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
