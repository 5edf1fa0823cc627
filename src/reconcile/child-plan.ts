/** One child as it will be applied: completed with namespace, owner and name, and refused before any write when it cannot be. */
import { createHash } from "node:crypto";
import { type AnyObject, groupOf } from "../resource/handle.ts";
import { type Key, keyString, type MetaInput } from "../resource/meta.ts";
import type { DesiredObject } from "./desired-object.ts";
import { childId, type OwnedKind } from "./owned-kind.ts";
import {
  APPLIED_ANNOTATION,
  canReference,
  CHILD_ANNOTATION,
  controllerReference,
  OWNER_ANNOTATION,
  OWNER_UID_LABEL,
} from "./owner.ts";
import type { RunOfObject } from "./run.ts";

/** A child of the desired set, ready to be applied, with what is known of it at the server. */
export interface PlannedChild {
  readonly kind: OwnedKind;
  readonly key: Key;
  readonly id: string;
  /** For messages: `Deployment web/frontend`. */
  readonly what: string;
  /** What is applied, without what identifies the object. */
  readonly content: object;
  /** An object that nobody controls is taken over. */
  adopt: boolean;
  /** The object as the server has it, once known. */
  live: AnyObject | undefined;
  /** Hash of the content, while it has no mark; `undefined` for kinds that need none. */
  digest(): string | undefined;
  /** Puts a digest into the content, or takes it out. */
  mark(digest: string | undefined): void;
  /** What goes to the server, and there only to the object that is known, or to none that exists. */
  body(): AppliedBody;
  /** The identity of the object that is known, and nothing else. */
  identity(): AppliedBody;
}

interface AppliedBody {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: MetaInput;
}

/** @throws TypeError when the child is not of an owned kind, has no namespace, or can neither be referenced nor tracked. */
export function planChild(run: RunOfObject, name: string, desired: DesiredObject): PlannedChild {
  const { apiVersion, kind, metadata, ...given } = desired;
  const rest = kind === "Secret" && apiVersion === "v1" ? encoded(given) : given;
  const owned = ownedKind(run, desired);
  const namespace = namespaceOf(run, owned, desired);
  const what = `${kind} ${namespace === undefined ? "" : `${namespace}/`}${metadata.name}`;
  const { name: childName, namespace: _, ...meta } = metadata;
  const key: Key = { name: childName, namespace };
  const ownership = ownershipOf(run, owned, { name, namespace, what, metadata });
  const content = { ...rest, metadata: { ...meta, ...ownership } };
  const identity = namespace === undefined ? { name: childName } : { name: childName, namespace };
  const { informer } = owned;
  // What the informer cannot see could be somebody else's, and would never be pruned.
  if (namespace !== undefined && !informer.sees(namespace)) {
    const { namespaces, namespaceLabels } = informer;
    throw new TypeError(
      `Cannot sync children: ${what} is outside the namespaces that are watched for ${kind}, ` +
        `${namespaceLabels === undefined ? namespaces.join(", ") : `those with the labels '${namespaceLabels}'`}; ` +
        "add its namespace to `--namespace`, or to `namespaces` of its `owns` entry",
    );
  }
  if (
    informer.labels !== undefined &&
    !informer.covers({ ...desired, metadata: { ...content.metadata, ...identity } } as unknown as AnyObject)
  ) {
    throw new TypeError(
      `Cannot sync children: ${what} is outside the selector '${informer.labels}' of its \`owns\` entry; give it those labels, or widen the selector`,
    );
  }
  return {
    kind: owned,
    key,
    id: childId(owned.resource, keyString(key)),
    what,
    content,
    adopt: false,
    live: undefined,
    digest() {
      if (isExact(desired)) return undefined;
      return digestOf(content);
    },
    mark(digest) {
      if (digest === undefined) delete ownership.annotations[APPLIED_ANNOTATION];
      else ownership.annotations[APPLIED_ANNOTATION] = digest;
    },
    body() {
      const precondition = this.live === undefined ? ABSENT : { uid: this.live.metadata.uid };
      return { apiVersion, kind, ...content, metadata: { ...identity, ...content.metadata, ...precondition } };
    },
    identity() {
      return { apiVersion, kind, metadata: { ...identity, uid: this.live?.metadata.uid } };
    },
  };
}

/** No object has the version of an empty store: an apply that names it makes an object, and never changes one. */
const ABSENT = Object.freeze({ resourceVersion: "1" });

/** The server stores these as they are given, so their fields alone tell whether they differ. */
function isExact({ apiVersion, kind }: DesiredObject): boolean {
  return apiVersion === "v1" && (kind === "ConfigMap" || kind === "Secret");
}

/** Independent of the order in which fields are written. */
function digestOf(content: object): string {
  const json = JSON.stringify(content, (_, value: unknown) =>
    typeof value !== "object" || value === null || Array.isArray(value)
      ? value
      : Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))),
  );
  return createHash("sha256").update(json).digest("base64url").slice(0, 22);
}

/** The server turns `stringData` into `data` and forgets who set it: a change by others would go unseen. */
function encoded(secret: { readonly stringData?: Readonly<Record<string, string>>; readonly data?: object }): object {
  const { stringData, ...rest } = secret;
  if (stringData === undefined) return rest;
  const data: Record<string, unknown> = { ...rest.data };
  for (const [name, value] of Object.entries(stringData)) {
    if (value !== undefined) data[name] = Buffer.from(value, "utf8").toString("base64");
  }
  return { ...rest, data };
}

function ownedKind(run: RunOfObject, desired: DesiredObject): OwnedKind {
  const group = groupOf(desired.apiVersion);
  for (const kind of run.environment.owned) {
    if (kind.resource.kind === desired.kind && kind.resource.group === group) return kind;
  }
  throw new TypeError(
    `Cannot sync children: ${desired.kind} (${desired.apiVersion}) is not in the controller's \`owns\`; add it there`,
  );
}

function namespaceOf(run: RunOfObject, kind: OwnedKind, desired: DesiredObject): string | undefined {
  const mapping = run.environment.parts.scope.mapper.known(kind.resource);
  const namespaced = mapping === undefined ? kind.resource.scope === "Namespaced" : mapping.namespaced;
  if (!namespaced) return undefined;
  const namespace = desired.metadata.namespace ?? run.object.metadata.namespace;
  if (namespace !== undefined) return namespace;
  throw new TypeError(
    `Cannot sync children: ${desired.kind} ${desired.metadata.name} needs a namespace, because its owner has none`,
  );
}

interface Ownership {
  readonly name: string;
  readonly namespace: string | undefined;
  readonly what: string;
  readonly metadata: MetaInput;
}

/** The metadata that makes an object a child: an owner reference, or where that cannot reach a label. */
function ownershipOf(
  run: RunOfObject,
  kind: OwnedKind,
  child: Ownership,
): Pick<MetaInput, "labels" | "ownerReferences"> & { readonly annotations: Record<string, string> } {
  const owner = run.object;
  const { labels, ownerReferences = [] } = child.metadata;
  const annotations = { ...child.metadata.annotations, [CHILD_ANNOTATION]: child.name };
  const other = ownerReferences.find(({ controller, uid }) => controller === true && uid !== owner.metadata.uid);
  if (other !== undefined) {
    throw new TypeError(
      `Cannot sync children: ${child.what} names ${other.kind} ${other.name} as its controller, and that is ${owner.kind} ${owner.metadata.name}`,
    );
  }
  if (canReference(owner, child.namespace)) {
    const others = ownerReferences.filter(({ uid }) => uid !== owner.metadata.uid);
    return { annotations, ownerReferences: [...others, controllerReference(owner)] };
  }
  if (kind.track === "label") {
    return {
      labels: { ...labels, [OWNER_UID_LABEL]: owner.metadata.uid },
      annotations: { ...annotations, [OWNER_ANNOTATION]: keyString(owner.metadata) },
    };
  }
  throw new TypeError(
    `Cannot sync children: ${child.what} cannot carry an owner reference to ${owner.kind} ${keyString(owner.metadata)}, ` +
      `because an owner must be in the same namespace or cluster-scoped; declare \`watch(${kind.resource.kind}, { track: "label" })\` in \`owns\``,
  );
}
