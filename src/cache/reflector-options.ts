/** What a reflector is given: the collection, the ways to the server, and the sink that takes in what it finds. */
import type { RestMapper } from "../kube/api/mapper.ts";
import type { Transport } from "../kube/transport/transport.ts";
import type { WatchType } from "../kube/api/watch.ts";
import type { Clock } from "../platform/clock.ts";
import type { AnyObject, Resource } from "../resource/handle.ts";
import type { InformerState } from "./informer-state.ts";
import type { ListGate } from "./list-gate.ts";
import type { ListReason } from "./reflector-state.ts";
import type { ListMode, StreamMemory } from "./streaming-list.ts";

/** What takes in what a reflector finds. */
export interface ReflectorSink {
  /** Of the last list, event or bookmark. */
  readonly resourceVersion: string;
  /** Also begins again what was not ended. */
  beginList(reason: ListReason): void;
  page(objects: readonly AnyObject[], resourceVersion: string): void;
  endList(resourceVersion: string): void;
  /** @param line of the watch, as it came. */
  event(type: WatchType, object: AnyObject, line?: string): void;
  /** Takes a line of the watch that needs no parsing; `false` when it has to be parsed. */
  echo?(line: string): boolean;
  /** Events have been told, and the next ones are not there yet. */
  flush(): void;
  /** The kind does not exist any more. */
  vanish(): void;
}

export interface ReflectorOptions {
  readonly resource: Resource;
  /** Empty for all. */
  readonly namespace: string;
  readonly labels?: string | undefined;
  readonly fields?: string | undefined;
  readonly transport: Transport;
  readonly mapper: RestMapper;
  /** @default systemClock */
  readonly clock?: Clock | undefined;
  /** From 0 up to 1. @default Math.random */
  readonly random?: (() => number) | undefined;
  /** Shared by reflectors that must not list all at once. @default none */
  readonly gate?: ListGate | undefined;
  readonly sink: ReflectorSink;
  /** Milliseconds after which everything is listed again, about, to find out what was missed. @default never */
  readonly checkEvery?: number | undefined;
  /** Objects of a page. @default 500 */
  readonly pageSize?: number | undefined;
  /** How to list. A resource that the server cannot stream is listed by pages, from then on. @default "auto" */
  readonly list?: ListMode | undefined;
  /** Shared by reflectors of one server. @default its own */
  readonly streams?: StreamMemory | undefined;
  /** Which objects are wanted whole, told from their metadata; `undefined` when all are. @default all */
  readonly wants?: (() => ((object: AnyObject) => boolean) | undefined) | undefined;
  /** The server need not send more than metadata. @default false */
  readonly metadataOnly?: boolean | undefined;
  readonly onStatus?: ((status: InformerState) => void) | undefined;
  /** A watch shows an object of another kind, which is left out. */
  readonly onOther?: ((object: AnyObject) => void) | undefined;
  /** The server shows something that nobody could work with, which is left out, with what is wrong with it. */
  readonly onLeftOut?: ((object: unknown, flaw: string) => void) | undefined;
  /** A full list has begun. */
  readonly onList?: ((reason: ListReason) => void) | undefined;
}

/** With every default filled in. */
export type CompleteOptions = ReflectorOptions & {
  readonly clock: Clock;
  readonly random: () => number;
  readonly gate: ListGate;
  readonly streams: StreamMemory;
  readonly onStatus: (status: InformerState) => void;
};
