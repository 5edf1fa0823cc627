/** Shares informers: one per resource, namespaces and selectors, for as long as somebody uses it. */
import type { RestMapper } from "../kube/mapper.ts";
import type { Transport } from "../kube/transport.ts";
import type { Log } from "../observe/log.ts";
import type { Clock } from "../platform/clock.ts";
import type { AnyObject, Resource } from "../resource/handle.ts";
import type { Needs } from "./projection.ts";
import type { SharedInformer } from "./shared-informer.ts";

export type CacheLog = Pick<Log, "debug" | "info" | "warn" | "error">;

export interface InformerRegistryOptions {
  readonly transport: Transport;
  readonly mapper: RestMapper;
  readonly log: CacheLog;
  readonly clock?: Clock | undefined;
  readonly freeze?: boolean | undefined;
  readonly grace?: number | undefined;
  readonly random?: (() => number) | undefined;
}

export interface AcquireOptions {
  readonly namespaces?: readonly string[] | undefined;
  readonly labels?: string | undefined;
  readonly fields?: string | undefined;
  readonly needs: Needs;
  readonly user: string;
}

export interface InformerLease {
  readonly informer: SharedInformer;
  setNeeds(needs: Needs): void;
  release(): void;
}

export interface WriteResult {
  readonly object?: AnyObject | undefined;
  readonly deleted?: { readonly uid: string } | undefined;
  readonly origin: string;
}

export declare class InformerRegistry {
  constructor(options: InformerRegistryOptions);
  acquire(resource: Resource, options: AcquireOptions): InformerLease;
  informersOf(resource: { readonly group: string; readonly kind: string }): readonly SharedInformer[];
  all(): readonly SharedInformer[];
  beginWrite(resource: { readonly group: string; readonly kind: string }, key: string): void;
  endWrite(resource: { readonly group: string; readonly kind: string }, key: string, result: WriteResult | undefined): void;
  stop(): Promise<void>;
}
