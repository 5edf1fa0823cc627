/** The children of an object, as a whole set by name: the types. `child-set.ts` implements them. */
import type { Desired, Shape } from "../resource/handle.ts";
import type { Key } from "../resource/meta.ts";

type ReadOf<Owned extends Shape, D> = D extends { readonly apiVersion: infer A; readonly kind: infer K }
  ? Extract<Owned, { readonly apiVersion: A; readonly kind: K }>["read"]
  : never;

/** What to do with a set when an object of a child's name is not this object's child. */
export type OnForeign = "skip" | "fail";

/** What the server has after the sync, under the names that were given; nothing for a child that was left out. */
export type Synced<Owned extends Shape, T, Foreign extends OnForeign = "fail"> = {
  readonly [K in keyof T]: T[K] extends readonly (infer U)[]
    ? readonly ReadOf<Owned, U>[]
    : undefined extends T[K]
      ? ReadOf<Owned, NonNullable<T[K]>> | undefined
      : ReadOf<Owned, T[K]> | (Foreign extends "skip" ? undefined : never);
};

/** Where a set has no child: its name is the message. */
interface NameEachChildUndefinedWhereNotWanted {
  readonly "an empty set would delete all": never;
}

/** Where a child is to wait for others and the set has none: its name is the message. */
type NoOtherChildOfThisNameInTheSet = string & { readonly "name one of the set": never };

type Others<Name, K> = [Exclude<Name, K>] extends [never] ? NoOtherChildOfThisNameInTheSet : Exclude<Name, K>;

/** A child of a kind in the controller's `owns`, several, or none. */
type OneOfOwns<Owned extends Shape> = Desired<Owned> | readonly Desired<Owned>[] | undefined;

/** Of {@link Children.sync}; every name is one of the set's. */
export interface SyncOptions<Name, Foreign extends OnForeign = OnForeign> {
  /**
   * Applied only when the named ones are ready; until then the run ends at the call and waits for their events. In the
   * other direction, the named ones are deleted only when what came after them is gone.
   */
  readonly after?: { readonly [K in Name & string]?: readonly Others<Name, K>[] };
  /** Left in place when no longer desired. */
  readonly keep?: readonly Name[];
  /** Released when no longer desired: they stay as they are, and nobody owns them. */
  readonly release?: readonly Name[];
  /** Without it a set that would delete the last child of a living object is refused. @default false */
  readonly allowEmpty?: boolean;
  /** Takes over existing objects that nobody controls: all, or the named ones. @default false */
  readonly adopt?: boolean | readonly Name[];
  /**
   * What to do when an object of a child's name is not this object's child. `"fail"` refuses the whole set before any
   * write. `"skip"` leaves that child out and does the rest: `skipped` says which, the object says so in an Event and,
   * where its kind has `conditions(…)`, in the condition `<group>/<controller>-children`, and the key looks again from
   * time to time. Children that come `after` it wait.
   *
   * @default "fail"
   */
  readonly onForeign?: Foreign;
  /**
   * The server checks and answers, and stores nothing: neither children nor deletions. Such a call does not count as
   * the run's one sync, and its result is what would be there. @default false
   */
  readonly dryRun?: boolean;
}

/** A child that `children.sync` skipped, because an object of its name is not this object's child. */
export interface SkippedChild {
  /** The child's name in the set. */
  readonly name: string;
  readonly kind: string;
  /** The key of the existing object. */
  readonly key: Key;
  readonly reason: "NotOwned" | "AlreadyOwned";
  readonly message: string;
}

/** `context.children` of an object controller. */
export interface Children<Owned extends Shape> {
  /**
   * Makes the cluster's children of this object the given set.
   *
   * The whole set, by name, once per run; `undefined` and `[]` mean: not wanted. Prunes after every apply succeeded.
   * No request when nothing differs.
   *
   * **Guarantees.** Once it has resolved, each child has all values that its object gives, whatever others have done to
   * it, also while no controller ran. What others added stays where the schema lets it. A field that was given before
   * and is not any more is removed, unless another field manager has set it too.
   *
   * @throws NotOwned when an existing object of a child's name is not this object's child, AlreadyOwned when it is
   * another's, unless `onForeign` is `"skip"`.
   * @see https://kubernetes.io/docs/reference/using-api/server-side-apply/
   */
  sync<const T extends { readonly [name: string]: OneOfOwns<Owned> }, Foreign extends OnForeign = "fail">(
    desired: keyof T extends never ? NameEachChildUndefinedWhereNotWanted : T,
    options?: SyncOptions<keyof T, Foreign>,
  ): Promise<Synced<Owned, T, Foreign>>;
  /** The children that `sync` left out with `onForeign: "skip"`. */
  readonly skipped: readonly SkippedChild[];
}
