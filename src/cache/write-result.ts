/** What a write of this process brought about, for the informers. */
import type { AnyObject } from "../resource/handle.ts";

export interface WriteResult {
  /** The object in its new state. */
  readonly object?: AnyObject | undefined;
  /** The object that was deleted. */
  readonly deleted?: { readonly uid: string } | undefined;
  /** Who wrote; handlers are told of it. */
  readonly origin: string;
}
