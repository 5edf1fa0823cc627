/** The causes of runs that no event of the key has queued. */
import type { Cause } from "../resource/cause.ts";

/** This replica has taken over the keys from another one. */
export const GAINED: Cause = Object.freeze({ source: "shards", type: "generic" });
/** The process leads again. */
export const NEW_TERM: Cause = Object.freeze({ source: "leadership", type: "generic" });
/** Someone has requested the run. */
export const ASKED: Cause = Object.freeze({ source: "by request", type: "generic" });
/** A new version of the module works. */
export const RELOADED: Cause = Object.freeze({ source: "reload", type: "generic" });
