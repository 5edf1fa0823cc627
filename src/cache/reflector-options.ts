/** The options of a reflector: the collection, how to reach the server, and the sink for what it finds. */
import type { ListRoom } from "../kube/api/list-room.ts";
import type { RestMapper } from "../kube/api/mapper.ts";
import type { Transport } from "../kube/transport/transport.ts";
import type { Clock } from "../platform/clock.ts";
import type { AnyObject, Resource } from "../resource/handle.ts";
import type { InformerState } from "./informer-state.ts";
import type { ListSemaphore } from "./list-semaphore.ts";
import type { DividedCollections, Portion } from "./portion.ts";
import type { ReflectorSink } from "./reflector-sink.ts";
import type { ListReason } from "./reflector-state.ts";
import type { ListMode, StreamMemory } from "./streaming-list.ts";

export interface ReflectorOptions {
  readonly resource: Resource;
  /** Empty for all namespaces. */
  readonly namespace: string;
  readonly labels?: string | undefined;
  readonly fields?: string | undefined;
  /** The portion that the sink keeps; a server that can divide collections sends no more. @default all */
  readonly portion?: Portion | undefined;
  /** Shared by reflectors of one server. @default its own */
  readonly divided?: DividedCollections | undefined;
  readonly transport: Transport;
  readonly mapper: RestMapper;
  /** @default systemClock */
  readonly clock?: Clock | undefined;
  /** Random numbers from 0 up to 1. @default Math.random */
  readonly random?: (() => number) | undefined;
  /** Shared by reflectors that must not list at the same time. @default one of its own */
  readonly listSemaphore?: ListSemaphore | undefined;
  readonly sink: ReflectorSink;
  /** Milliseconds, with jitter, after which everything is listed again to find missed changes. @default never */
  readonly checkEvery?: number | undefined;
  /** Objects per page. @default 500 */
  readonly pageSize?: number | undefined;
  /** The available memory, when it is limited. @default enough */
  readonly room?: ListRoom | undefined;
  /**
   * How to list. A resource that the server cannot stream is listed in pages from then on. @default {@link
   * DEFAULT_LIST_MODE}
   */
  readonly list?: ListMode | undefined;
  /** Shared by the reflectors of one server. @default one of its own */
  readonly streams?: StreamMemory | undefined;
  /** Which objects are needed whole, decided by their metadata; `undefined` when all are. @default all */
  readonly wants?: (() => ((object: AnyObject) => boolean) | undefined) | undefined;
  /** Requests only metadata from the server. @default false */
  readonly metadataOnly?: boolean | undefined;
  readonly onStatus?: ((status: InformerState) => void) | undefined;
  /** Called when a watch shows an object of another kind, which is ignored. */
  readonly onOther?: ((object: AnyObject) => void) | undefined;
  /** Called when the server shows a malformed object, which is ignored, with its flaw. */
  readonly onLeftOut?: ((object: unknown, flaw: string) => void) | undefined;
  /** Called when a full list begins. */
  readonly onList?: ((reason: ListReason) => void) | undefined;
}

/** With every default filled in. */
export type CompleteOptions = ReflectorOptions & {
  readonly clock: Clock;
  readonly random: () => number;
  readonly listSemaphore: ListSemaphore;
  readonly streams: StreamMemory;
  readonly divided: DividedCollections;
  readonly onStatus: (status: InformerState) => void;
};
