/** How far back the server remembers. */
export interface HistoryLimits {
  /** How many events each collection keeps. @default 10000 */
  readonly count: number;
  /** Milliseconds for which an event is kept. @default 300000, the interval of etcd's compaction */
  readonly age: number;
}
