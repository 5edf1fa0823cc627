/** The rules of each kind: what an object must be beyond its types, and what must not change. */
import type { Fields, KubeObject, WriteContext } from "../hooks.ts";
import type { Field } from "./field.ts";
import type { Format } from "./formats.ts";

/** What a kind's rules are told besides the object. */
export interface RuleContext {
  readonly write: WriteContext;
  readonly object: KubeObject;
  /** The stored object on an update. */
  readonly old: KubeObject | undefined;
}

export interface Rules {
  /** On create, and on update of the object itself unless `update` says otherwise. */
  readonly check?: (object: Field, context: RuleContext) => void;
  /** `update` is asked before `check`. */
  readonly updateFirst?: boolean;
  /** On create, after the metadata where that is checked last. */
  readonly checkLast?: (object: Field) => void;
  /** On update, after `check`. */
  readonly update?: (object: Field, old: Fields, context: RuleContext) => void;
  /** On update of the status. */
  readonly status?: (object: Field, old: Fields, context: RuleContext) => void;
  /** `check` is for new objects only. */
  readonly checkNewOnly?: boolean;
  /** On update the registry runs `check` twice, and each error is named twice. */
  readonly checksTwice?: boolean;
  /** When a new object's metadata is checked: `alone` when nothing else is wrong. @default "first" */
  readonly metadata?: "first" | "last" | "alone";
  /** Beyond the usual for the kind. */
  readonly name?: Format;
  /** Before validation, on create. */
  readonly prepare?: (object: KubeObject, context: WriteContext) => void;
  readonly prepareUpdate?: (next: KubeObject, old: KubeObject, context: WriteContext) => void;
  readonly selectable?: Readonly<Record<string, (object: KubeObject) => string>>;
}

/** By `group/Kind`; the core group is the empty text. */
export type RuleTable = Readonly<Record<string, Rules>>;
