/** What other parts report when the metrics are read. */

export interface InformerReading {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Distinguishes informers of one kind: namespaces and selectors; empty for all objects. */
  readonly selector: string;
  readonly objects: number;
  /** The estimated size. */
  readonly bytes: number;
  /** Seconds since the last event or bookmark; `undefined` before the first. */
  readonly lastEventAgeSeconds: number | undefined;
  readonly synced: boolean;
  /** The number of changes that a checking list found and no event had shown. */
  readonly differences: number;
  /** The number of full lists after the first, by reason. */
  readonly relists: Readonly<Record<string, number>>;
}

export interface ModuleReading {
  readonly module: string;
  readonly file: string;
  /** The state, such as `running`, `waiting`, `unavailable` or `broken`. */
  readonly state: string;
}

export interface QueueReading {
  /** Ready keys by priority; priorities without keys may be left out. */
  readonly depth: Iterable<readonly [priority: number, keys: number]>;
  /** Seconds that the keys being processed have taken so far, summed. */
  readonly unfinishedSeconds: number;
  readonly longestRunningSeconds: number;
  /** The number of keys that are not retried until something about them changes. */
  readonly parked: number;
}
