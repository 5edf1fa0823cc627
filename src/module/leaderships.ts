/** Decides which modules may work. */
import type { Leadership } from "../client/leadership.ts";

/** The registry of modules uses this for each of them. */
export interface Leaderships {
  of(module: string): Leadership;
  /** The leadership for work that only one replica does, when several work. @default as `of` */
  alone?(module: string): Leadership;
  /** Called when the module's controllers have synced, or cannot: it may become the leader. */
  warm(module: string): void;
  /**
   * Passes the lead to a replica that has the whole module, because the module only finalizes here. @default the lead
   * stays
   */
  yield?(module: string): void;
  /** Called when the module is gone and has no active run. */
  leave(module: string): Promise<void>;
}
