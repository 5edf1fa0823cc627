/**
 * The members of a controller: the objects of `for` that it reconciles. This replica may work on only a part of them.
 */
import { LOW_PRIORITY, type WorkQueue } from "../queue/work-queue.ts";
import type { Cause } from "../resource/cause.ts";
import type { AnyObject } from "../resource/handle.ts";
import type { ControllerScope } from "./controller-scope.ts";
import type { ControllerShare } from "./controller-share.ts";
import { isMember } from "./object-reconciler.ts";
import type { WatchedKinds } from "./watched-kinds.ts";

export interface MembersParts {
  readonly kinds: WatchedKinds;
  readonly queue: Pick<WorkQueue, "add">;
  /** The part of the keys that this replica works. @default all */
  readonly share: ControllerShare | undefined;
}

export class Members {
  readonly #scope: ControllerScope;
  readonly #parts: MembersParts;

  constructor(scope: ControllerScope, parts: MembersParts) {
    this.#scope = scope;
    this.#parts = parts;
  }

  /** Whether an object is a member. An error of `match` is logged, and the object then counts as no member. */
  has(object: AnyObject): boolean {
    return this.#scope.call("match", () => isMember(this.#scope, object)) === true;
  }

  /** Whether an object is a member on which this replica works. */
  isOurs(object: AnyObject): boolean {
    return this.#parts.share?.works(object) !== false && this.has(object);
  }

  /** Queues all members, or some, once they are listed; for a controller without objects, the key of its name. */
  addAll(cause: Cause, isMeant?: (object: AnyObject) => boolean): void {
    for (const key of this.#keys(isMeant)) this.#parts.queue.add(key, { cause, priority: LOW_PRIORITY });
  }

  *#keys(isMeant: (object: AnyObject) => boolean = () => true): Generator<string> {
    const { name, for: primary } = this.#scope.declarations;
    if (primary === undefined) yield name;
    const listed = this.#parts.kinds.listedPrimary?.store.entries() ?? [];
    for (const [key, object] of listed) if (isMeant(object) && this.has(object)) yield key;
  }
}
