/** The rules of each kind: requirements beyond the types of fields, and fields that must not change. */
import type { Fields, KubeObject, WriteContext } from "../hooks.ts";
import type { Field } from "./field.ts";
import type { Format } from "./formats.ts";

/** The context in which the rules of a kind check an object. */
export interface RuleContext {
  readonly write: WriteContext;
  readonly object: KubeObject;
  /** The stored object on an update. */
  readonly old: KubeObject | undefined;
}

export interface Rules {
  /** Runs on create, and on update of the object itself unless `update` replaces it. */
  readonly check?: (object: Field, context: RuleContext) => void;
  /** Whether `update` runs before `check`. */
  readonly updateFirst?: boolean;
  /** Runs on create, after the metadata of kinds whose metadata is validated last. */
  readonly checkLast?: (object: Field) => void;
  /** Runs on update, after `check`. */
  readonly update?: (object: Field, old: Fields, context: RuleContext) => void;
  /** Runs on update of the status. */
  readonly status?: (object: Field, old: Fields, context: RuleContext) => void;
  /** Whether `check` runs only for new objects. */
  readonly checkNewOnly?: boolean;
  /**
   * The time at which the metadata of a new object is validated; `alone` means only when nothing else is wrong.
   * @default "first"
   */
  readonly metadata?: "first" | "last" | "alone";
  /** The format of names, when it differs from the usual one. */
  readonly name?: Format;
  /** Returns the format of this object's name, when the object determines it. */
  readonly nameFor?: (object: KubeObject) => Format;
  /** Runs on create, before validation. */
  readonly prepare?: (object: KubeObject, context: WriteContext) => void;
  readonly prepareUpdate?: (next: KubeObject, old: KubeObject, context: WriteContext) => void;
  readonly selectable?: Readonly<Record<string, (object: KubeObject) => string>>;
}

/** The rules by `group/Kind`; the core group is the empty text. */
export type RuleTable = Readonly<Record<string, Rules>>;
