/** Who of the modules may work. */
import type { Leadership } from "../client/leadership.ts";

/** Asked by the registry of modules for each of them. */
export interface Leaderships {
  of(module: string): Leadership;
  /** Who does what one replica is to do, where several work. @default as `of` */
  alone?(module: string): Leadership;
  /** The module's controllers have synced, or cannot: it may be given the lead. */
  warm(module: string): void;
  /** Lets a replica lead first that has all of the module, which only finalizes here. @default nobody does */
  yield?(module: string): void;
  /** The module is gone and has no run under way. */
  leave(module: string): Promise<void>;
}
