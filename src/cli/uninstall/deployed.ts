/**
 * The objects that `manifests deploy` has created in a cluster for one service account, and those that the process has
 * created itself.
 *
 * An object is recognized by its name, its labels and its selector or service account, and a role by its bindings.
 * Labels alone prove nothing, because anybody may set them.
 */
import type { Transport } from "../../kube/transport/transport.ts";
import type { ServiceAccount } from "../../module/rbac-manifests.ts";
import { configObjectName } from "../deploy/deployed-config.ts";
import { metricsServiceName } from "../deploy/listening.ts";
import { dashboardNames } from "../deploy/monitoring/dashboards.ts";
import { secretOf } from "../webhook-options.ts";
import {
  deletionTarget,
  type DeletionTarget,
  find,
  type ClusterObject,
  list,
  MANAGED_BY,
  OURS,
} from "./cluster-objects.ts";
import { fileOf, type LeaseId, leasesOf } from "./copies.ts";
import { type AccountBinding, accountRights } from "./granted.ts";

/** The fields of our Deployment that are read here. */
export interface Deployment extends ClusterObject {
  readonly spec: {
    readonly replicas?: number;
    readonly selector: { readonly matchLabels?: Readonly<Record<string, string>> };
    readonly template: {
      readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
      readonly spec: {
        readonly serviceAccountName?: string;
        readonly containers: readonly { readonly args?: readonly string[] }[];
        readonly volumes?: readonly {
          readonly name: string;
          readonly configMap?: { readonly name?: string; readonly items?: readonly { key: string; path: string }[] };
        }[];
      };
    };
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly updatedReplicas?: number;
  };
}

export interface DeployedObjects {
  readonly deployment: Deployment | undefined;
  /**
   * The bindings that allow it to write. They lose their subject first, so that running pods cannot restore anything.
   */
  readonly bindings: readonly AccountBinding[];
  /** All other objects, in the order in which they are deleted, after the Deployment. */
  readonly rest: readonly DeletionTarget[];
  /** The Leases of its copies, whether they were deployed or not. */
  readonly leases: readonly DeletionTarget[];
  /** Objects that have the name and are not ours. */
  readonly foreign: readonly string[];
}

export function deploymentPath({ namespace, name }: ServiceAccount): string {
  return `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`;
}

export interface DeployedOptions {
  readonly account: ServiceAccount;
  /** The Lease with which its copies elect a leader, or the common beginning of the names of several. */
  readonly lease: LeaseId;
  /** The names of the modules. */
  readonly modules: readonly string[];
  /** Whether to find everything, or only the Deployment. */
  readonly all: boolean;
}

export async function deployedObjects(
  transport: Transport,
  { account, lease, modules, all }: DeployedOptions,
): Promise<DeployedObjects> {
  const { namespace, name } = account;
  const rest: DeletionTarget[] = [];
  const foreign: string[] = [];
  const live = await find<Deployment>(transport, deploymentPath(account));
  const isOwn = live !== undefined && isOurs(live, name) && live.spec.template.spec.serviceAccountName === name;
  const deployment = isOwn ? live : undefined;
  if (live !== undefined && !isOwn) foreign.push(`Deployment ${namespace}/${name}`);
  if (!all) return { deployment, bindings: [], rest, leases: [], foreign };
  for (const { kind, api, names, selects } of NAMESPACED) {
    for (const one of names(account)) {
      const path = `${api}/namespaces/${namespace}/${plural(kind)}/${one}`;
      const object = await find<ClusterObject>(transport, path);
      if (object === undefined) continue;
      const what = deletionTarget(path, kind, object);
      if (isOurs(object, name) && (selects === undefined || selects(object)?.[NAME] === name)) rest.push(what);
      else foreign.push(what.what);
    }
  }
  const { name: certificates } = secretOf(account);
  const path = `/api/v1/namespaces/${namespace}/secrets/${certificates}`;
  const secret = await find<ClusterObject & { readonly type?: string }>(transport, path);
  if (secret?.metadata.labels?.[MANAGED_BY] === OURS && secret.type === "kubernetes.io/tls")
    rest.push(deletionTarget(path, "Secret", secret));
  const rights = await accountRights(transport, account);
  const objects = [...rest, ...rights.roles, ...rights.bindings];
  // The account is deleted last: pods that still run with it may need it to end.
  const ordered = [...objects.filter((one) => !isAccount(one)), ...objects.filter(isAccount)];
  const leases = await leasesOf(transport, lease, modules);
  return { deployment, bindings: rights.bindings, rest: ordered, leases, foreign: [...foreign, ...rights.foreign] };
}

const NAME = "app.kubernetes.io/name";
/** A kind in the account's namespace. */
interface NamespacedKind {
  readonly kind: string;
  /** The path of the kind's API, such as `/apis/apps/v1`. */
  readonly api: string;
  /** The names that `manifests deploy` gives. */
  readonly names: (account: ServiceAccount) => readonly string[];
  /** The labels by which an object selects others; our objects select those with our name. */
  readonly selects?: (object: unknown) => Readonly<Record<string, string>> | undefined;
}

interface Selecting {
  readonly spec?: {
    readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> };
    readonly podSelector?: { readonly matchLabels?: Readonly<Record<string, string>> };
  };
}

const byLabels = (object: unknown) => (object as Selecting).spec?.selector?.matchLabels;
const own = ({ name }: ServiceAccount): readonly string[] => [name];

const configMapNames = (account: ServiceAccount): readonly string[] => [
  account.name,
  configObjectName(account),
  ...dashboardNames(account.name),
];

const NAMESPACED: readonly NamespacedKind[] = [
  { kind: "PodDisruptionBudget", api: "/apis/policy/v1", names: own, selects: byLabels },
  {
    kind: "NetworkPolicy",
    api: "/apis/networking.k8s.io/v1",
    names: own,
    selects: (object) => (object as Selecting).spec?.podSelector?.matchLabels,
  },
  { kind: "ServiceMonitor", api: "/apis/monitoring.coreos.com/v1", names: own, selects: byLabels },
  { kind: "PrometheusRule", api: "/apis/monitoring.coreos.com/v1", names: own },
  {
    kind: "Service",
    api: "/api/v1",
    names: (account) => [account.name, metricsServiceName(account.name)],
    selects: (object) => (object as { readonly spec?: { readonly selector?: Record<string, string> } }).spec?.selector,
  },
  { kind: "ConfigMap", api: "/api/v1", names: configMapNames },
  { kind: "ServiceAccount", api: "/api/v1", names: own },
];

function plural(kind: string): string {
  return kind.endsWith("y") ? `${kind.slice(0, -1).toLowerCase()}ies` : `${kind.toLowerCase()}s`;
}

function isAccount({ what }: DeletionTarget): boolean {
  return what.startsWith("ServiceAccount ");
}

function isOurs({ metadata: { labels } }: ClusterObject, name: string): boolean {
  return labels?.[MANAGED_BY] === OURS && labels[NAME] === name;
}

/** The ConfigMap that holds modules, and the keys of it that belong to each module. */
export interface MountedModules {
  readonly configMap: string;
  /** The keys of files of these modules. */
  readonly keys: readonly string[];
}

/**
 * Returns the source of the deployment's modules; `undefined` when its image holds them, or when it mounts all files.
 */
export function mountedModules({ spec }: Deployment, modules: readonly string[]): MountedModules | undefined {
  const volume = spec.template.spec.volumes?.find(({ name }) => name === "controllers")?.configMap;
  if (volume?.name === undefined || volume.items === undefined) return undefined;
  const names = modules.map(fileOf);
  const isOf = (path: string): boolean => names.some((name) => path === name || path.startsWith(`${name}/`));
  const keys = volume.items.filter(({ path }) => isOf(path)).map(({ key }) => key);
  return { configMap: volume.name, keys };
}

/** Removes modules from the deployment and waits for the rollout; then it removes their files from the ConfigMap. */
export async function takeOut(transport: Transport, account: ServiceAccount, { keys }: MountedModules): Promise<void> {
  const path = deploymentPath(account);
  const live = await find<Deployment>(transport, path);
  if (live === undefined) return;
  const { template } = live.spec;
  const volumes = template.spec.volumes?.map((volume) =>
    volume.name !== "controllers"
      ? volume
      : {
          ...volume,
          configMap: {
            ...volume.configMap,
            items: volume.configMap?.items?.filter(({ key }) => !keys.includes(key)),
          },
        },
  );
  const spec = { ...live.spec, template: { ...template, spec: { ...template.spec, volumes } } };
  await transport.request({ method: "PUT", path, body: { ...live, spec } });
}

/** Removes files from the ConfigMap, which no pod mounts any more. */
export async function forget(transport: Transport, account: ServiceAccount, modules: MountedModules): Promise<void> {
  const path = `/api/v1/namespaces/${account.namespace}/configmaps/${modules.configMap}`;
  const data = Object.fromEntries(modules.keys.map((key) => [key, null]));
  await transport.request({ method: "PATCH", path, contentType: "application/merge-patch+json", body: { data } });
}

/** Whether only pods of the newest template are left. */
export function isRolledOut({ metadata, spec, status }: Deployment & { metadata: { generation?: number } }): boolean {
  const desired = spec.replicas ?? 1;
  const { observedGeneration = 0, updatedReplicas = 0, replicas = 0 } = status ?? {};
  return observedGeneration >= (metadata.generation ?? 0) && updatedReplicas >= desired && replicas <= updatedReplicas;
}

/** Whether no pod of a deployment is left. */
export async function hasNoPods(transport: Transport, { metadata, spec }: Deployment): Promise<boolean> {
  const labels = Object.entries(spec.selector.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`);
  const query = `labelSelector=${encodeURIComponent(labels.join(","))}&limit=1`;
  const pods = await list(transport, `/api/v1/namespaces/${metadata.namespace}/pods`, query);
  return pods.length === 0;
}
