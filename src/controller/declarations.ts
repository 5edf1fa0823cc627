/** The declarations of a controller: its kinds, its sources, and the permissions that follow from them. */
import { isNamespaceSelector, Namespace } from "../cache/selected-namespaces.ts";
import { Permissions } from "../client/permissions.ts";
import { isCustomKind } from "../reconcile/custom-kind.ts";
import { finalizerName } from "../reconcile/finalizer.ts";
import { hasField, schemaOfForeign } from "../resource/foreign.ts";
import { handle, type Resource } from "../resource/handle.ts";
import { allowedVerbs, type AnyController, type AnyObjectController, type Permission } from "./definition.ts";
import { type KeySource, keySource } from "./source.ts";
import { type KindWatch, kindWatch } from "./watch.ts";

/** A controller's options with all defaults filled in and all targets resolved. */
export interface Declarations {
  readonly name: string;
  /** Earlier names of the controller. */
  readonly formerly: readonly string[];
  /** `undefined` for a key controller. */
  readonly for: KindWatch | undefined;
  readonly owns: readonly KindWatch[];
  readonly watches: readonly KindWatch[];
  readonly reads: readonly KindWatch[];
  readonly sources: readonly KeySource[];
  /** The finalizers of this controller and its earlier names; empty when it finalizes nothing. */
  readonly finalizers: readonly string[];
  readonly permissions: Permissions;
}

const READ = ["get", "list", "watch"] as const;

/** Kinds whose objects hold Kubernetes Events. */
const Event: Resource = handle({
  apiVersion: "events.k8s.io/v1",
  kind: "Event",
  scope: "Namespaced",
  plural: "events",
});

/** Whether the controller reconciles objects of a kind, and not bare keys. */
export function isObjectController(controller: AnyController): controller is AnyObjectController {
  return "for" in controller;
}

/** The controller's name: the one in its options, or the kind in lower case. */
export function controllerName(controller: AnyController): string {
  return controller.name ?? kindWatch((controller as AnyObjectController).for).resource.kind.toLowerCase();
}

/** Kinds in `for` and `owns` need whole objects, so `parts` cannot narrow them. */
function refuseParts({ resource, options }: KindWatch): void {
  const { select, keep } = options;
  if (select === undefined && keep === undefined) return;
  throw new TypeError(
    `Cannot declare ${resource.kind} in \`for\` or \`owns\` with \`${select === undefined ? "keep" : "select"}\`: ` +
      "these need whole objects; use it in `watches` or `reads`",
  );
}

/** Returns the namespaces for which permissions are needed; a label selector may match any. */
function permittedIn({ options: { namespaces } }: KindWatch): readonly string[] | "all" | undefined {
  return isNamespaceSelector(namespaces) ? "all" : namespaces;
}

/** A cache, because definitions never change and are read often. */
const cache = new WeakMap<AnyController, Declarations>();

/** Reads a controller's options. It starts nothing and needs no cluster. */
export function declarationsOf(controller: AnyController): Declarations {
  const declarations = cache.get(controller) ?? read(controller);
  cache.set(controller, declarations);
  return declarations;
}

function read(controller: AnyController): Declarations {
  const name = controllerName(controller);
  const object = isObjectController(controller) ? controller : undefined;
  const primary = object === undefined ? undefined : kindWatch(object.for);
  const owns = (object?.owns ?? []).map(kindWatch);
  for (const watch of primary === undefined ? owns : [primary, ...owns]) refuseParts(watch);
  const reads = (controller.reads ?? []).map(kindWatch);
  const watches: KindWatch[] = [];
  const sources: KeySource[] = [];
  for (const mapped of controller.watches ?? []) {
    const source = keySource(mapped);
    if (source === undefined) watches.push(kindWatch(mapped));
    else sources.push(source);
  }
  // Children that are tracked by a label have no owner reference, so only a finalizer can remove them.
  const finalizes = object?.finalize !== undefined || owns.some(({ options }) => options.track === "label");
  const formerly = object?.formerly ?? [];
  const finalizers =
    primary === undefined || !finalizes ? [] : [name, ...formerly].map((one) => finalizerName(primary.resource, one));

  const permissions = new Permissions();
  if (primary !== undefined) {
    const { resource } = primary;
    const namespaces = permittedIn(primary);
    // The fields that an earlier name owns in the status are taken over by a patch of the object itself.
    const isPatched = finalizers.length > 0 || formerly.length > 0;
    permissions.allow(resource, isPatched ? [...READ, "patch"] : READ, { namespaces });
    if (mayWriteStatus(resource)) {
      const verbs = isCustomKind(resource) ? ["update", "patch"] : ["patch"];
      permissions.allow(resource, verbs, { subresource: "status", namespaces });
    }
    // The OwnerReferencesPermissionEnforcement admission requires this permission for `blockOwnerDeletion`.
    if (owns.some(({ options }) => options.track !== "label"))
      permissions.allow(resource, ["update"], { subresource: "finalizers", namespaces });
    // Events of a cluster-scoped object are in the namespace default.
    permissions.allow(Event, ["create", "patch"], {
      namespaces: resource.scope === "Cluster" ? ["default"] : namespaces,
    });
  }
  for (const watch of owns) {
    const verbs = [...READ, "create", "update", "patch", "delete"];
    permissions.allow(watch.resource, verbs, { namespaces: permittedIn(watch) });
  }
  for (const watch of [...watches, ...reads]) {
    permissions.allow(watch.resource, READ, { namespaces: permittedIn(watch) });
  }
  const all = [...(primary === undefined ? [] : [primary]), ...owns, ...watches, ...reads];
  if (all.some(({ options }) => isNamespaceSelector(options.namespaces))) permissions.allow(Namespace, READ);
  permitUses(permissions, controller.uses ?? []);
  return { name, formerly, for: primary, owns, watches, reads, sources, finalizers, permissions };
}

/** Whether a controller of the kind may write its status. For a foreign kind, its schema shows whether it has one. */
function mayWriteStatus(resource: Resource): boolean {
  const schema = schemaOfForeign(resource);
  return schema === undefined ? resource.subresources?.includes("status") !== false : hasField(schema, ["status"]);
}

/** Adds the permissions of `uses`. */
function permitUses(permissions: Permissions, uses: readonly Permission[]): void {
  for (const permission of uses) {
    const { resource, verbs, names } = allowedVerbs(permission);
    for (const verb of verbs) {
      // A part of a user's extras may contain a slash.
      const slash = verb.lastIndexOf("/");
      const subresource = slash < 0 ? undefined : verb.slice(0, slash);
      permissions.allow(resource, [verb.slice(slash + 1)], { subresource, names });
    }
  }
}
