/** What other parts tell the metrics when these are read. */

export interface InformerReading {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Tells informers of one kind apart: namespaces and selectors; empty for all objects. */
  readonly selector: string;
  readonly objects: number;
  /** Estimated. */
  readonly bytes: number;
  /** Seconds since the last event or bookmark; `undefined` before the first. */
  readonly lastEventAgeSeconds: number | undefined;
  readonly synced: boolean;
  /** Changes that a checking list found and no event had told of. */
  readonly differences: number;
  /** Full lists after the first, by reason. */
  readonly relists: Readonly<Record<string, number>>;
}

export interface ModuleReading {
  readonly module: string;
  readonly file: string;
  /** Such as `running`, `waiting`, `unavailable` or `broken`. */
  readonly state: string;
}

export interface QueueReading {
  /** Ready keys by priority; priorities without keys may be left out. */
  readonly depth: Iterable<readonly [priority: number, keys: number]>;
  /** Seconds that the keys being processed have taken so far, summed. */
  readonly unfinishedSeconds: number;
  readonly longestRunningSeconds: number;
  /** Keys that are not retried by themselves. */
  readonly parked: number;
}
