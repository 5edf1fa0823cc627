/** The needs of a controller for the kinds that it declares, and the leases of their informers. */
import type { InformerLease } from "../cache/informer-registry.ts";
import type { Needs } from "../cache/object-transformer.ts";
import type { Portion } from "../cache/portion.ts";
import { controllerOf, markedOwner, OWNER_UID_LABEL } from "../reconcile/owner.ts";
import { type AnyObject, groupKind, groupOf, type Resource } from "../resource/handle.ts";
import type { Declarations } from "./declarations.ts";
import type { Runtime } from "./runtime.ts";
import { keptPaths, type KindWatch } from "./watch.ts";

/** Returns the needs of a controller for a kind that it declares under this option. */
export function needsOf(
  { name, formerly, for: primary }: Pick<Declarations, "name" | "formerly" | "for">,
  option: "for" | "owns" | "watches" | "reads",
  watch: KindWatch,
): Needs {
  if (option === "watches" || option === "reads") return EVERYTHING;
  const bodies = option === "for" || primary === undefined ? "all" : bodiesOwnedBy(primary.resource, watch);
  return { bodies, managers: [name, ...formerly] };
}

/** Whole objects, without managed fields: for `watches` and `reads`. */
export const EVERYTHING: Needs = Object.freeze({ bodies: "all", managers: Object.freeze([]) });

/**
 * The functions by owner and track. An equal need of a reloaded module must be the same function; otherwise
 * everything would be listed again.
 */
const cache = new Map<string, (object: AnyObject) => boolean>();

/**
 * Keeps, of an owned kind, the bodies only of objects that an object of `owner` controls; the other objects of the
 * cluster stay stubs.
 */
export function bodiesOwnedBy(owner: Resource, watch: KindWatch): (object: AnyObject) => boolean {
  const labelled = watch.options.track === "label";
  const id = `${groupKind(owner)} ${labelled}`;
  let bodies = cache.get(id);
  if (bodies === undefined) cache.set(id, (bodies = ownedBy(owner, labelled)));
  return bodies;
}

function ownedBy({ group, kind }: Resource, labelled: boolean): (object: AnyObject) => boolean {
  const isOwned = (object: AnyObject): boolean => {
    const controller = controllerOf(object);
    if (controller !== undefined) return controller.kind === kind && groupOf(controller.apiVersion) === group;
    // Somebody may have removed the reference or the label; then the mark identifies the owner.
    const { labels } = object.metadata;
    return (
      (labelled && labels !== undefined && Object.hasOwn(labels, OWNER_UID_LABEL)) || markedOwner(object) !== undefined
    );
  };
  // Most objects have no owner and no mark, so the check of each object is kept short.
  return (object) => {
    const { ownerReferences, annotations } = object.metadata;
    return (labelled || ownerReferences !== undefined || annotations !== undefined) && isOwned(object);
  };
}

export interface AcquireKindOptions {
  readonly needs: Needs;
  /** The portion of the kind's objects that is kept. @default all */
  readonly portion?: Portion | undefined;
  /** The user's name in the log. */
  readonly user: string;
}

/** @throws SyntaxError for an invalid selector. */
export function acquireKind(
  runtime: Pick<Runtime, "informers" | "settings">,
  watch: KindWatch,
  { needs, portion, user }: AcquireKindOptions,
): InformerLease {
  const { resource } = watch;
  const { labels, fields, namespaces } = watch.options;
  return runtime.informers.acquire(resource, {
    namespaces: namespaces ?? (resource.scope === "Cluster" ? [] : runtime.settings.namespace),
    labels,
    fields,
    keep: keptPaths(watch),
    portion,
    needs,
    user,
  });
}
