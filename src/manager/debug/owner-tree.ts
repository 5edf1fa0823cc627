/** The objects that own each other, as far as the caches hold them whole. */
import type { InformerRegistry } from "../../cache/informer-registry.ts";
import { isStub } from "../../cache/object-transformer.ts";
import type { RunningController } from "../../controller/controller.ts";
import { ownerUid } from "../../reconcile/owner.ts";
import type { AnyObject, Resource } from "../../resource/handle.ts";
import { keyString } from "../../resource/meta.ts";
import type { ConditionAnswer, OwnedAnswer, OwnersAnswer } from "../../server/debug/answers.ts";
import { NotKnown, type ObjectQuery } from "../../server/debug/debug-app.ts";
import { isNamed } from "./kind-names.ts";

/** The most objects of an answer. */
const MOST_OBJECTS = 1_000;
/** The most levels; owners of owners may form a circle. */
const MOST_LEVELS = 16;

export interface OwnerTreeSource {
  readonly informers: Pick<InformerRegistry, "all">;
  readonly controllers: readonly RunningController[];
  /** Removes what must not be shown from a text. */
  readonly clean: (text: string) => string;
}

interface CachedObject {
  readonly object: AnyObject;
  readonly resource: Resource;
}

/** Returns the object that a request names; `undefined` when no cache holds it. */
export function cachedObject(informers: Pick<InformerRegistry, "all">, query: ObjectQuery): CachedObject | undefined {
  const key = keyString(query);
  for (const { resource, store } of informers.all()) {
    if (!isNamed(query.kind, resource)) continue;
    const object = store.get(key);
    if (object !== undefined) return { object, resource };
  }
  return undefined;
}

/**
 * Returns the tree in which an object stands, from its topmost owner down. Walks all caches once.
 *
 * @throws NotKnown when no cache holds the object.
 */
export function ownerTree(source: OwnerTreeSource, query: ObjectQuery): OwnersAnswer {
  const { informers } = source;
  const subject = cachedObject(informers, query);
  if (subject === undefined) {
    const kinds = [...new Set(Array.from(informers.all(), ({ resource }) => resource.kind))].join(", ");
    throw new NotKnown(`no cache holds ${query.kind} ${keyString(query)}; the watched kinds are ${kinds || "none"}`);
  }
  const byUid = new Map<string, CachedObject>();
  const owned = new Map<string, CachedObject[]>();
  for (const { resource, store } of informers.all()) {
    for (const object of store.values()) {
      const { uid } = object.metadata;
      if (isStub(object) || byUid.has(uid)) continue;
      const cached = { object, resource };
      byUid.set(uid, cached);
      const owner = ownerUid(object);
      if (owner === undefined) continue;
      const siblings = owned.get(owner);
      if (siblings === undefined) owned.set(owner, [cached]);
      else siblings.push(cached);
    }
  }
  let root = subject;
  for (let level = 0; level < MOST_LEVELS; level++) {
    const owner = byUid.get(ownerUid(root.object) ?? "");
    if (owner === undefined) break;
    root = owner;
  }
  let left = MOST_OBJECTS;
  const answerOf = ({ object, resource }: CachedObject, level: number): OwnedAnswer => {
    const { name, namespace, uid, deletionTimestamp } = object.metadata;
    const children: OwnedAnswer[] = [];
    for (const child of level < MOST_LEVELS ? (owned.get(uid) ?? []) : []) {
      if (left-- <= 0) break;
      children.push(answerOf(child, level + 1));
    }
    return {
      group: resource.group,
      version: resource.version,
      kind: resource.kind,
      namespace,
      name,
      uid,
      isSubject: uid === subject.object.metadata.uid,
      isDeleting: deletionTimestamp !== undefined,
      controllers: source.controllers.flatMap((controller) =>
        controller.resource?.kind === resource.kind && controller.resource.group === resource.group
          ? [controller.name]
          : [],
      ),
      conditions: conditionsOf(object, source.clean),
      owned: children,
    };
  };
  return { root: answerOf(root, 0) };
}

/** Returns the conditions of an object's status. */
export function conditionsOf(object: AnyObject, clean: (text: string) => string): readonly ConditionAnswer[] {
  const { status } = object as { readonly status?: { readonly conditions?: unknown } };
  if (!Array.isArray(status?.conditions)) return [];
  return status.conditions.flatMap((condition: Partial<ConditionAnswer> | null) =>
    typeof condition?.type === "string" && typeof condition.status === "string"
      ? [
          {
            type: condition.type,
            status: condition.status,
            reason: condition.reason,
            message: condition.message === undefined ? undefined : clean(condition.message),
          },
        ]
      : [],
  );
}
