/** An informer: one set of objects, kept current, with everybody who wants to know of its changes. */
import type { AnyObject, Resource } from "../resource/handle.ts";
import type { Indexer } from "./indexer.ts";
import type { HandlerOptions, HandlerRegistration, InformerHandler } from "./informer-handler.ts";
import type { InformerState } from "./informer-state.ts";

export declare class SharedInformer {
  readonly resource: Resource;
  /** Empty for all. */
  readonly namespaces: readonly string[];
  readonly labels: string | undefined;
  readonly fields: string | undefined;
  readonly id: string;
  readonly store: Indexer;
  get state(): InformerState;
  get hasSynced(): boolean;
  get lastEventAt(): number | undefined;
  get resourceVersion(): string;
  get relists(): Readonly<Record<string, number>>;
  get bytes(): number;
  addHandler(handler: InformerHandler, options: HandlerOptions): HandlerRegistration;
  onChange(listener: () => void): Disposable;
  covers(object: AnyObject): boolean;
}
