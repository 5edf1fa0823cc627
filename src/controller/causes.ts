/** Why keys run that no event of theirs has queued. */
import type { Cause } from "../resource/cause.ts";

/** The replica has gained them from another one. */
export const GAINED: Cause = Object.freeze({ source: "shards", type: "generic" });
/** The process leads again. */
export const NEW_TERM: Cause = Object.freeze({ source: "leadership", type: "generic" });
/** Somebody asked for it. */
export const ASKED: Cause = Object.freeze({ source: "by request", type: "generic" });
/** A new version of the module works. */
export const RELOADED: Cause = Object.freeze({ source: "reload", type: "generic" });
