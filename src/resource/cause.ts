/** Why a key runs: bounded and merged by the queue, newest last. */
import type { Key } from "./meta.ts";

/** One reason for a run. For logs, traces and "why", never for logic. */
export interface Cause {
  /** Such as `for`, `owns Deployment`, `watches Secret`, `every 30s`, `retry`. */
  readonly source: string;
  /** Such as `create`, `update`, `delete`, `generic`. */
  readonly type: string;
  readonly kind?: string | undefined;
  readonly key?: Key | undefined;
  readonly resourceVersion?: string | undefined;
  /** The fields that changed, where they are known. */
  readonly paths?: readonly string[] | undefined;
}
