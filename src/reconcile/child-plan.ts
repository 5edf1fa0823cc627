/**
 * One child in the form in which it is applied, with namespace, owner and name. A child that cannot be applied is
 * refused before any write.
 */
import { fieldNames } from "../client/field-names.ts";
import { setField } from "../resource/any-key.ts";
import { type AnyObject, groupOf } from "../resource/handle.ts";
import { type FieldsV1, type Key, keyString, type MetaInput } from "../resource/meta.ts";
import { isCustomKind } from "./custom-kind.ts";
import type { AlreadyOwned, NotOwned } from "./errors.ts";
import { childId, type OwnedKind } from "./owned-kind.ts";
import {
  appliedAnnotation,
  canReference,
  CHILD_ANNOTATION,
  childMark,
  controllerReference,
  OWNER_ANNOTATION,
  OWNER_UID_LABEL,
} from "./owner.ts";
import type { ObjectRunState } from "./run.ts";

/** The fields of a child that the server has refused, and its error. */
export interface Refusal {
  readonly error: unknown;
  readonly places: ReadonlySet<string>;
  /** Whether the lists that hold these fields are replaced as a whole. */
  readonly isWhole: boolean;
}

/** A child of the desired set, ready to be applied, and the known state of the live object. */
export class PlannedChild {
  readonly kind: OwnedKind;
  /** The child's name in the set. */
  readonly name: string;
  /** The object's key in the caches. */
  readonly key: string;
  readonly id: string;
  /** The content that is applied; the fields that identify the object are `undefined`, which counts as absent. */
  readonly content: Content;
  /** The annotation with {@link names}. */
  readonly appliedAnnotation: string;
  /** Whether an object without a controller is taken over. */
  adopt = false;
  /** The live object, once known. */
  live: AnyObject | undefined = undefined;
  /**
   * The child of an earlier object with the owner's name, under this child's name: it is deleted before the child is
   * created.
   */
  earlier: AnyObject | undefined = undefined;
  /** The server's refusal of a write, if additions of others may be the reason. */
  refused: Refusal | undefined = undefined;
  /** Fields that are no longer desired, and stay as they are because the server refuses to remove them. */
  givenUp: FieldsV1 | undefined = undefined;
  /** Whether the child is skipped if an object of its name is not this object's child. */
  skippable = false;
  /** Why the child is skipped. */
  skipped: NotOwned | AlreadyOwned | undefined = undefined;
  readonly #desired: DesiredObject;
  readonly #namespace: string | undefined;

  /**
   * @throws TypeError when the child is not of an owned kind, has no namespace, or can neither be referenced nor
   * tracked.
   */
  constructor(run: ObjectRunState, name: string, desired: DesiredObject) {
    const kind = ownedKind(run, desired);
    const namespace = namespaceOf(run, kind, desired);
    this.kind = kind;
    this.name = name;
    this.#desired = desired;
    this.#namespace = namespace;
    this.key = keyString({ name: desired.metadata.name, namespace });
    this.id = childId(kind.resource, this.key);
    this.appliedAnnotation = appliedAnnotation(run.environment.controller);
    const ownership = ownershipOf(run, this);
    // An author's copy of the mark would be that of an earlier write.
    const content = desired.kind === "Secret" && desired.apiVersion === "v1" ? encoded(desired) : desired;
    const annotations = { ...ownership.annotations, [this.appliedAnnotation]: namesOf(content) };
    this.content = {
      ...content,
      apiVersion: undefined,
      kind: undefined,
      metadata: { ...desired.metadata, name: undefined, namespace: undefined, ...ownership, annotations },
    };
    this.#refuseUnseen();
  }

  /** The child's name for messages: `Deployment web/frontend`. */
  get what(): string {
    return `${this.#desired.kind} ${this.key}`;
  }

  get identity(): Key {
    return { name: this.#desired.metadata.name, namespace: this.#namespace };
  }

  /** The metadata that the author has set. */
  get metadata(): MetaInput {
    return this.#desired.metadata;
  }

  /** The names of the desired fields, as the child's annotation holds them. */
  get names(): string {
    return this.content.metadata.annotations[this.appliedAnnotation]!;
  }

  /** The field names in an object's annotation: its desired fields. */
  namesOn({ metadata: { annotations } }: AnyObject): string | undefined {
    return annotations?.[this.appliedAnnotation];
  }

  /**
   * Whether the server may spell values differently and drop empty ones: it does for built-in kinds, except for those
   * that it stores exactly.
   */
  get isBuiltIn(): boolean {
    return !isExact(this.#desired) && !isCustomKind(this.kind.resource);
  }

  /** Whether the child is a Secret without a type: the server sets the type, and its creator counts as its owner. */
  get isDefaultedSecret(): boolean {
    const { kind, apiVersion, type } = this.#desired as DesiredObject & { readonly type?: unknown };
    return kind === "Secret" && apiVersion === "v1" && type === undefined;
  }

  get apiVersion(): string {
    return this.#desired.apiVersion;
  }

  /**
   * Whether the server keeps any value at a path without one; in custom kinds, it drops fields that their schema lacks.
   */
  readonly mayAdd = ([top, next]: readonly string[]): boolean => {
    if (top === "metadata") return next === "labels" || next === "annotations";
    return isExact(this.#desired) && (top === "data" || top === "binaryData");
  };

  /** The body of a create or apply. */
  body(): AppliedBody {
    const { apiVersion, kind } = this.#desired;
    const { content, live } = this;
    const { name, namespace } = this.identity;
    return {
      ...content,
      apiVersion,
      kind,
      metadata: { ...content.metadata, name, namespace, uid: live?.metadata.uid },
    };
  }

  /** Refuses a child that the informer would not see: it could belong to somebody else, and would never be pruned. */
  #refuseUnseen(): void {
    const { informer } = this.kind;
    const { kind } = this.#desired;
    if (this.#namespace !== undefined && !informer.sees(this.#namespace)) {
      const { namespaces, namespaceLabels } = informer;
      throw new TypeError(
        `Cannot sync children: ${this.what} is outside the namespaces that are watched for ${kind}, ` +
          `${namespaceLabels === undefined ? namespaces.join(", ") : `those with the labels '${namespaceLabels}'`}; ` +
          "add its namespace to `--namespace`, or to `namespaces` of its `owns` entry",
      );
    }
    if (informer.labels === undefined || informer.covers(this.body() as unknown as AnyObject)) return;
    throw new TypeError(
      `Cannot sync children: ${this.what} is outside the selector '${informer.labels}' of its \`owns\` entry; give it those labels, or widen the selector`,
    );
  }
}

/** The content of a desired object without its identity. */
interface Content {
  readonly apiVersion: undefined;
  readonly kind: undefined;
  readonly metadata: Omit<MetaInput, "name" | "annotations"> & Annotated & { readonly name: undefined };
}

interface Annotated {
  readonly annotations: Readonly<Record<string, string | undefined>>;
}

interface AppliedBody {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Key & { readonly uid?: string | undefined };
}

/** Whether the server stores objects of the kind exactly as they are sent, so that comparing fields is enough. */
function isExact({ apiVersion, kind }: DesiredObject): boolean {
  return apiVersion === "v1" && (kind === "ConfigMap" || kind === "Secret");
}

/** The names of the fields that the author desires. */
function namesOf({ metadata, ...content }: DesiredObject): string {
  const { labels, annotations } = metadata;
  const marks = labels === undefined && annotations === undefined ? undefined : { labels, annotations };
  return fieldNames({ ...content, apiVersion: undefined, kind: undefined, metadata: marks });
}

interface Secret extends DesiredObject {
  readonly stringData?: Readonly<Record<string, string>>;
  readonly data?: object;
}

/** Encodes `stringData` as the server would: the server forgets who set it, so changes by others would go unnoticed. */
function encoded(secret: Secret): DesiredObject {
  const { stringData, ...rest } = secret;
  if (stringData === undefined) return rest;
  const data: Record<string, unknown> = { ...rest.data };
  for (const [name, value] of Object.entries(stringData)) {
    if (value !== undefined) setField(data, name, Buffer.from(value, "utf8").toString("base64"));
  }
  const whole = { ...rest, data };
  return whole;
}

function ownedKind(run: ObjectRunState, desired: DesiredObject): OwnedKind {
  for (const owned of run.environment.owned) {
    const { apiVersion, kind, group } = owned.resource;
    if (kind !== desired.kind) continue;
    if (apiVersion === desired.apiVersion || group === groupOf(desired.apiVersion)) return owned;
  }
  throw new TypeError(
    `Cannot sync children: ${desired.kind} (${desired.apiVersion}) is not in the controller's \`owns\`; add it there`,
  );
}

function namespaceOf(run: ObjectRunState, kind: OwnedKind, desired: DesiredObject): string | undefined {
  const mapping = run.environment.mapper.known(kind.resource);
  const namespaced = mapping === undefined ? kind.resource.scope === "Namespaced" : mapping.namespaced;
  if (!namespaced) return undefined;
  const namespace = desired.metadata.namespace ?? run.object.metadata.namespace;
  if (namespace !== undefined) return namespace;
  throw new TypeError(
    `Cannot sync children: ${desired.kind} ${desired.metadata.name} needs a namespace, because its owner has none`,
  );
}

/** The metadata that makes an object a child: an owner reference, or a label when a reference is not possible. */
function ownershipOf(
  run: ObjectRunState,
  child: PlannedChild,
): Pick<MetaInput, "labels" | "ownerReferences"> & Annotated {
  const owner = run.object;
  const { labels, ownerReferences } = child.metadata;
  const annotations = { ...child.metadata.annotations, [CHILD_ANNOTATION]: childMark(child.name, owner.metadata.uid) };
  const other = ownerReferences?.find(({ controller, uid }) => controller === true && uid !== owner.metadata.uid);
  if (other !== undefined) {
    throw new TypeError(
      `Cannot sync children: ${child.what} names ${other.kind} ${other.name} as its controller, and that is ${owner.kind} ${owner.metadata.name}`,
    );
  }
  if (canReference(owner, child.identity.namespace)) {
    const reference = controllerReference(owner);
    if (ownerReferences === undefined) return { annotations, ownerReferences: [reference] };
    const others = ownerReferences.filter(({ uid }) => uid !== owner.metadata.uid);
    return { annotations, ownerReferences: [...others, reference] };
  }
  if (child.kind.track === "label") {
    return {
      labels: { ...labels, [OWNER_UID_LABEL]: owner.metadata.uid },
      annotations: { ...annotations, [OWNER_ANNOTATION]: keyString(owner.metadata) },
    };
  }
  throw new TypeError(
    `Cannot sync children: ${child.what} cannot carry an owner reference to ${owner.kind} ${keyString(owner.metadata)}, ` +
      `because an owner must be in the same namespace or cluster-scoped; declare \`watch(${child.kind.resource.kind}, { track: "label" })\` in \`owns\``,
  );
}

/** A member of the set of `children.sync`. */
export interface DesiredObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: MetaInput;
}

/** The set of `children.sync`: its members by name. */
export type DesiredSet = Readonly<Record<string, DesiredObject | readonly DesiredObject[] | undefined>>;

const OPTIONS: ReadonlySet<string> = new Set([
  "after",
  "keep",
  "release",
  "allowEmpty",
  "adopt",
  "onForeign",
  "dryRun",
]);

/** Checks a set and its options. @throws TypeError when the set has no named children, or an option does not exist. */
export function checkSet(desired: unknown, options: object): void {
  if (typeof desired !== "object" || desired === null || Array.isArray(desired)) {
    throw new TypeError(`Cannot sync children: expected an object that gives each child a name, got ${shown(desired)}`);
  }
  for (const option in options) {
    if (OPTIONS.has(option)) continue;
    throw new TypeError(`Cannot sync children: there is no option '${option}', only ${[...OPTIONS].join(", ")}`);
  }
  const { onForeign } = options as { readonly onForeign?: unknown };
  if (onForeign === undefined || onForeign === "skip" || onForeign === "fail") return;
  throw new TypeError(`Cannot sync children: 'onForeign' must be "skip" or "fail", got ${shown(onForeign)}`);
}

/** Fields that only objects from the server have. */
const OF_THE_SERVER = ["uid", "resourceVersion", "managedFields"] as const;

/**
 * The objects under one name of the set.
 *
 * @throws TypeError when one of them cannot be applied.
 */
export function objectsOf(name: string, entry: DesiredSet[string]): readonly DesiredObject[] {
  if (entry === undefined) return [];
  const objects = Array.isArray(entry) ? (entry as readonly DesiredObject[]) : [entry as DesiredObject];
  for (const object of objects) check(name, object);
  return objects;
}

function check(name: string, object: DesiredObject): void {
  const refuse = (why: string): never => {
    throw new TypeError(`Cannot sync children: '${name}' ${why}`);
  };
  if (typeof object !== "object" || object === null || Array.isArray(object)) {
    refuse(`is ${shown(object)}; give an object, several in an array, or undefined where none is wanted`);
  }
  const { apiVersion, kind, metadata } = object;
  if (!apiVersion || !kind) refuse("has no apiVersion or no kind; `of(Kind, { metadata, … })` fills them in");
  if (!metadata?.name) {
    const isGenerated = metadata !== undefined && Object.hasOwn(metadata, "generateName");
    refuse(
      isGenerated
        ? `(${kind}) has generateName, and children go by their names: derive one from the owner's name`
        : `(${kind}) has no metadata.name`,
    );
  }
  for (const field of OF_THE_SERVER) {
    if ((metadata as MetaInput & { readonly [K in typeof field]?: unknown })[field] === undefined) continue;
    refuse(`(${kind}) has metadata.${field} of an object that was read; give its name, labels and annotations only`);
  }
}

function shown(value: unknown): string {
  return Array.isArray(value) ? "an array" : typeof value === "string" ? `'${value}'` : String(value);
}
