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
  /**
   * The places at which an update has changed the object, such as `spec.replicas` and
   * `spec.template.spec.containers[name=web].image`, at most 32; of merged events all that differs between the first
   * and the last state. They are compared when they are first read, which must be while the run goes on. `undefined`
   * for other events, and when so many keys wait that the earlier state is not kept.
   */
  readonly paths?: readonly string[] | undefined;
  /** The daemon that queued the key. */
  readonly daemon?: string | undefined;
  /** The value that the daemon handed over. */
  readonly value?: unknown;
}
