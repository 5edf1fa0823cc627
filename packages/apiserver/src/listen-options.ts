/** The options of an API server. */
import type { HistoryLimits } from "./storage/history-limits.ts";

/** The options of every server, whether or not it listens on an address. */
export interface CommonOptions {
  /** A folder in which the objects survive a restart. @default none: they end with the process */
  readonly data?: string | undefined;
  /** How far back a watch can begin. @default 10,000 events of each kind, 5 minutes */
  readonly history?: Partial<HistoryLimits> | undefined;
  /** The current time in milliseconds. @default Date.now */
  readonly now?: (() => number) | undefined;
  /** Fills ClusterRoles that aggregate the rules of others, which no API server does by itself. @default false */
  readonly aggregatesRoles?: boolean | undefined;
}

export interface ListenOptions extends CommonOptions {
  /** @default 127.0.0.1 */
  readonly host?: string | undefined;
  /** The port; 0 takes a free one. @default 0 */
  readonly port?: number | undefined;
  /**
   * The authority (PEM) whose client certificates identify users; requests then cost about twice the time.
   *
   * @default none: users have tokens
   */
  readonly clientAuthority?: string | undefined;
  /** More names and addresses by which clients reach the server. @default its own */
  readonly names?: readonly string[] | undefined;
  /**
   * Lets programs of other machines in, as far as they have credentials. Without it, and without `clientAuthority`, an
   * address that they reach is refused.
   *
   * @default false
   */
  readonly remote?: boolean | undefined;
}
