/** Determines what `uninstall` would do. It only reads. */
import { declarationsOf } from "../../controller/declarations.ts";
import type { Transport } from "../../kube/transport/transport.ts";
import type { ServiceAccount } from "../../module/rbac-manifests.ts";
import { groupKind } from "../../resource/handle.ts";
import { count } from "../migration/progress-bar.ts";
import { type RegisteredWebhooks, registeredWebhooks } from "./admission.ts";
import { electing, type LeaseId } from "./copies.ts";
import { type Definition, definition, objectsOf, whatHoldsUp } from "./definitions.ts";
import { type DeployedObjects, deployedObjects, type MountedModules, mountedModules } from "./deployed.ts";
import { definedKinds, type Selection } from "./selection.ts";
import { UserError } from "../usage-error.ts";

export interface PlanOptions {
  readonly transport: Transport;
  readonly selection: Selection;
  /** Whether the whole deployment is removed, and not only modules. */
  readonly all: boolean;
  readonly account: ServiceAccount;
  /** The Service of the webhooks. */
  readonly service: ServiceAccount;
  readonly crds: boolean;
  readonly release: boolean;
  /** The Lease with which copies elect a leader, or the common beginning of the names of several. */
  readonly lease: LeaseId;
  /** Whether other processes may hold the Lease, because they do not run these modules. */
  readonly ignoresLease: boolean;
}

/** Objects of one kind with a finalizer of one controller. */
export interface FinalizerUse {
  /** The kind, as `groupKind` has it. */
  readonly id: string;
  readonly kind: string;
  readonly finalizer: string;
  readonly objects: number;
}

export interface Plan {
  readonly webhooks: readonly RegisteredWebhooks[];
  readonly deployed: DeployedObjects;
  /** The modules' files in a ConfigMap, when the deployment goes on without them. */
  readonly mounted: MountedModules | undefined;
  readonly carried: readonly FinalizerUse[];
  readonly definitions: readonly Definition[];
  /**
   * The definitions whose objects must be stored in another version first, in which they can be finalized when no
   * webhook converts them any more.
   */
  readonly rewrites: readonly Definition[];
  readonly notes: readonly string[];
  /** Whether copies by the Lease may run these modules. */
  readonly hasCopies: boolean;
  /** How copies elect a leader; `undefined` when they do not. */
  readonly elects: "process" | "module" | undefined;
}

export async function makePlan(options: PlanOptions): Promise<Plan> {
  const { transport, selection, all, account, service, crds, release, lease } = options;
  const { modules: chosen } = selection;
  const names = chosen.map(({ name }) => name);
  const notes: string[] = [];
  const deployment = await deployedObjects(transport, { account, lease, modules: names, all });
  const mounted = all ? undefined : mountedIn(deployment, options);
  const kinds = definedKinds(selection);
  const definitions: Definition[] = [];
  const rewrites: Definition[] = [];
  const carried = await finalizerUses(options);
  const known = new Set<string>();
  for (const resource of chosen.flatMap((module) => module.definitions.resources)) {
    if (known.has(groupKind(resource))) continue;
    known.add(groupKind(resource));
    const one = await definition(transport, resource);
    if (one === undefined) continue;
    const user = kinds.shared.get(groupKind(resource));
    // Changes of metadata before the deletion need no conversion.
    const isUsed = carried.some(({ id }) => id === groupKind(resource)) && !(release && crds && user === undefined);
    if (isUsed && one.isConverted && one.storedElsewhere.length > 0) rewrites.push(one);
    if (user !== undefined) notes.push(`${one.what} stays: ${user} uses the kind`);
    else if (!crds && one.objects.count === 0) notes.push(`${one.what} stays; --crds deletes it`);
    else if (!crds) notes.push(`${one.what} stays with ${someObjects(one.objects.count)}; --crds deletes all`);
    else definitions.push({ ...one, isConverted: one.isConverted && !isHeldUp(one, carried) });
  }
  for (const what of deployment.foreign) notes.push(`${what} stays: others have it, or use it`);
  if (all && deployment.deployment !== undefined) notes.push(`Namespace ${account.namespace} stays: others may use it`);
  if (!all && deployment.deployment !== undefined && mounted !== undefined)
    notes.push("Permissions stay as they are: `binnacle manifests rbac` for the modules that are left has less");
  const hasCopies = !options.ignoresLease && !isKnownWithout(deployment, options);
  return {
    webhooks: await registeredWebhooks({
      transport,
      service,
      modules: chosen,
      others: all ? undefined : selection.others,
    }),
    deployed: deployment,
    mounted,
    carried,
    definitions,
    rewrites,
    notes,
    hasCopies,
    elects: hasCopies ? await electing(transport, lease, names) : undefined,
  };
}

/** Whether objects would stay because of other finalizers; then their definition and its conversion stay too. */
function isHeldUp({ objects, resource }: Definition, carried: readonly FinalizerUse[]): boolean {
  const own = carried.filter(({ id }) => id === groupKind(resource)).map(({ finalizer }) => finalizer);
  return whatHoldsUp(objects, own) !== undefined;
}

/** @throws UserError when the deployment cannot go on without the modules. */
function mountedIn({ deployment }: DeployedObjects, { selection, account }: PlanOptions): MountedModules | undefined {
  if (deployment === undefined || deployment.spec.replicas === 0) return undefined;
  const mounted = mountedModules(
    deployment,
    selection.modules.map(({ name }) => name),
  );
  if (mounted !== undefined) return mounted.keys.length > 0 ? mounted : undefined;
  const { namespace, name } = account;
  throw new UserError(
    `Cannot uninstall while Deployment ${namespace}/${name} may run these modules, from its image or from a ConfigMap that it mounts ` +
      `as a whole: deploy it without them, or stop it first with kubectl scale --replicas=0 --namespace ${namespace} deployment/${name}`,
  );
}

/** Whether the copies that elect a leader by the Lease belong to the deployment, which names the files that it runs. */
function isKnownWithout({ deployment }: DeployedObjects, { all, account, lease }: PlanOptions): boolean {
  if (all || deployment === undefined || mountedModules(deployment, []) === undefined) return false;
  return lease.id === account.name && lease.namespace === account.namespace;
}

async function finalizerUses({ transport, selection }: PlanOptions): Promise<readonly FinalizerUse[]> {
  const carried: FinalizerUse[] = [];
  const known = new Map<string, Awaited<ReturnType<typeof objectsOf>>>();
  for (const controller of selection.modules.flatMap(({ definitions }) => definitions.controllers)) {
    const { for: primary, finalizers } = declarationsOf(controller);
    if (primary === undefined || finalizers.length === 0) continue;
    const { resource } = primary;
    const id = groupKind(resource);
    const objects = known.get(id) ?? (await objectsOf(transport, resource));
    known.set(id, objects);
    for (const finalizer of finalizers) {
      const holders = objects.finalizers.get(finalizer);
      if (holders !== undefined) carried.push({ id, kind: resource.kind, finalizer, objects: holders.objects });
    }
  }
  return carried;
}

/** Whether the plan has nothing to do. */
export function isEmpty(
  { webhooks, deployed: { deployment, rest, leases }, mounted, carried, definitions }: Plan,
  all: boolean,
): boolean {
  const pieces = all ? rest.length + leases.length + (deployment === undefined ? 0 : 1) : 0;
  return webhooks.length + carried.length + definitions.length + pieces === 0 && mounted === undefined;
}

/** Describes the plan for people, in the order in which it is carried out. */
export function shown(plan: Plan, { all, release }: Pick<PlanOptions, "all" | "release">): string {
  const { webhooks, deployed: found, mounted, carried, definitions, rewrites, notes } = plan;
  const steps: string[] = [];
  for (const { resource, storedElsewhere } of rewrites) {
    const where = `now some may be in ${storedElsewhere.join(", ")}`;
    steps.push(
      `store all ${resource.kind} objects in version ${resource.version} (${where}), while they can be converted`,
    );
  }
  for (const { what, isInForce } of found.bindings)
    if (isInForce) steps.push(`take the subject from ${what}, so that what runs can no longer write anything`);
  for (const { kind, name, leaving, staying } of webhooks) {
    const rest = staying === 0 ? "" : ` (${staying} stay)`;
    if (leaving === 0) {
      steps.push(`delete ${kind} ${name}`);
      continue;
    }
    steps.push(`unregister ${leaving} webhook${leaving === 1 ? "" : "s"} of ${kind} ${name}${rest}`);
  }
  const { deployment } = found;
  const place = deployment && `${deployment.metadata.namespace}/${deployment.metadata.name}`;
  if (all && place !== undefined) steps.push(`stop and delete Deployment ${place}`);
  if (mounted !== undefined) steps.push(`roll out Deployment ${place} without ${mounted.keys.join(", ")}`);
  for (const { kind, finalizer, objects } of carried) {
    const deed = release ? "release, without finalizing," : "finalize and release";
    steps.push(`${deed} ${someObjects(objects, kind)}: finalizer ${finalizer}`);
  }
  for (const { what } of [...found.leases, ...found.rest]) steps.push(`delete ${what}`);
  for (const { what, objects } of definitions) {
    const { count: number } = objects;
    const lost = number === 0 ? "" : `, and with it ${someObjects(number)}`;
    steps.push(`delete ${what}${lost}`);
  }
  const lines = steps.map((step, index) => `${String(index + 1).padStart(3)}. ${step}`);
  return `${[...lines, ...notes.map((note) => `     ${note}`)].join("\n")}\n`;
}

/** Returns text such as `3 Guestbook objects`. */
export function someObjects(number: number, kind = ""): string {
  return `${count(number)} ${kind === "" ? "" : `${kind} `}object${number === 1 ? "" : "s"}`;
}
