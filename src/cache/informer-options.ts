/** What an informer is made of: the way to the server, the set of objects, and what is kept of them. */
import type { ListRoom } from "../kube/api/list-room.ts";
import type { RestMapper } from "../kube/api/mapper.ts";
import type { Transport } from "../kube/transport/transport.ts";
import type { Log } from "../observe/log.ts";
import type { Clock } from "../platform/clock.ts";
import type { AnyObject } from "../resource/handle.ts";
import type { ListSemaphore } from "./list-semaphore.ts";
import type { DividedCollections, Portion } from "./portion.ts";
import type { ListReason } from "./reflector-state.ts";
import type { ListMode, StreamMemory } from "./streaming-list.ts";

export interface SharedInformerOptions {
  readonly transport: Transport;
  readonly mapper: RestMapper;
  /** @default nothing is logged */
  readonly log?: Pick<Log, "debug" | "info" | "warn" | "error"> | undefined;
  /** Empty for all namespaces. @default [] */
  readonly namespaces?: readonly string[] | undefined;
  /** Instead of `namespaces`: a label selector for namespaces, which are added and removed by `addNamespace` and `removeNamespace`. */
  readonly namespaceLabels?: string | undefined;
  readonly labels?: string | undefined;
  readonly fields?: string | undefined;
  /** The part of that which is kept. @default all */
  readonly portion?: Portion | undefined;
  /** Shared by the informers of one server. @default one of its own */
  readonly divided?: DividedCollections | undefined;
  /** @default systemClock */
  readonly clock?: Clock | undefined;
  /** @default Math.random */
  readonly random?: (() => number) | undefined;
  /** Freezes cached objects. @default false */
  readonly freeze?: boolean | undefined;
  /** Changes each object once before it is stored. If it throws, the object is stored unchanged. */
  readonly transform?: ((object: AnyObject) => AnyObject) | undefined;
  /** Milliseconds, with jitter, after which everything is listed again to find missed changes. @default never */
  readonly checkEvery?: number | undefined;
  /** Shared by informers that must not list at the same time. @default one of its own */
  readonly listSemaphore?: ListSemaphore | undefined;
  /** Keys with an own write in flight, and how many. */
  readonly held?: ReadonlyMap<string, number> | undefined;
  /** Objects per page. @default 500 */
  readonly pageSize?: number | undefined;
  /** Paths that are kept besides metadata, such as `spec.nodeName`; an empty list keeps metadata only. @default everything */
  readonly keep?: readonly string[] | undefined;
  /** What there is room for where memory is limited. @default enough */
  readonly room?: ListRoom | undefined;
  /** How to list. @default {@link DEFAULT_LIST_MODE} */
  readonly list?: ListMode | undefined;
  /** Shared by the informers of one server. @default one of its own */
  readonly streams?: StreamMemory | undefined;
  /** Called when a full list begins. */
  readonly onList?: ((reason: ListReason) => void) | undefined;
}
