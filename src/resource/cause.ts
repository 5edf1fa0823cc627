/** The causes of a run: the queue merges and limits them, newest last. */
import type { Key } from "./meta.ts";

/** One reason for a run, for logs and traces; logic may depend only on the values of daemons. */
export interface Cause {
  /** The source, such as `for`, `owns Deployment`, `watches Secret`, `every 30s`, `retry`. */
  readonly source: string;
  /** The type of event, such as `create`, `update`, `delete`, `generic`. */
  readonly type: string;
  readonly kind?: string | undefined;
  readonly key?: Key | undefined;
  readonly resourceVersion?: string | undefined;
  /** The daemon that queued the key. */
  readonly daemon?: string | undefined;
  /** The value that the daemon handed over. */
  readonly value?: unknown;
}
