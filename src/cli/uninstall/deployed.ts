/**
 * What `manifests deploy` has put into a cluster for one service account, and what the process itself has made beside it.
 *
 * Objects that carry labels are known by them, roles by who is bound to them: what only has the name is somebody else's.
 */
import { leaseName } from "../../election/lease-name.ts";
import { GROUP_LABEL } from "../../election/shard-publication.ts";
import type { Transport } from "../../kube/transport/transport.ts";
import { PROCESS } from "../../manager/elections.ts";
import type { ServiceAccount } from "../../module/rbac-manifests.ts";
import { secretOf } from "../webhook-options.ts";
import { doomed, type Doomed, find, type Found, list } from "./cluster-objects.ts";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";

/** The parts of our Deployment that are read here. */
export interface Deployment extends Found {
  readonly spec: {
    readonly replicas?: number;
    readonly selector: { readonly matchLabels?: Readonly<Record<string, string>> };
    readonly template: {
      readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
      readonly spec: {
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

interface Binding extends Found {
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects?: readonly { readonly kind: string; readonly name: string; readonly namespace?: string }[];
}

export interface Deployed {
  readonly deployment: Deployment | undefined;
  /** The bindings that allow it to write. They are deleted first, so that running pods cannot restore anything. */
  readonly bindings: readonly Doomed[];
  /** Everything else, in the order in which it is deleted after the Deployment. */
  readonly rest: readonly Doomed[];
  /** Objects that have the name and are not ours. */
  readonly foreign: readonly string[];
}

export function deploymentPath({ namespace, name }: ServiceAccount): string {
  return `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`;
}

export interface DeployedOptions {
  readonly account: ServiceAccount;
  /** The names of the modules. */
  readonly modules: readonly string[];
  /** Whether to find everything, or only the Deployment. */
  readonly all: boolean;
}

export async function deployed(transport: Transport, { account, modules, all }: DeployedOptions): Promise<Deployed> {
  const { namespace, name } = account;
  const rest: Doomed[] = [];
  const foreign: string[] = [];
  const live = await find<Deployment>(transport, deploymentPath(account));
  const deployment = live !== undefined && isOurs(live, name) ? live : undefined;
  if (live !== undefined && deployment === undefined) foreign.push(`Deployment ${namespace}/${name}`);
  if (!all) return { deployment, bindings: [], rest, foreign };
  const query = `labelSelector=${encodeURIComponent(`${MANAGED_BY}=${OURS},${NAME}=${name}`)}`;
  for (const [kind, api] of NAMESPACED) {
    const collection = `${api}/namespaces/${namespace}/${plural(kind)}`;
    for (const one of await list(transport, collection, query))
      rest.push(doomed(`${collection}/${one.metadata.name}`, kind, one));
  }
  const { name: certificates } = secretOf(account);
  const path = `/api/v1/namespaces/${namespace}/secrets/${certificates}`;
  const secret = await find<Found>(transport, path);
  if (secret?.metadata.labels?.[MANAGED_BY] === OURS) rest.push(doomed(path, "Secret", secret));
  if (deployment !== undefined || rest.length > 0) rest.push(...(await leasesOf(transport, account, modules)));
  const granted = await roles(transport, account);
  rest.push(...granted.filter((one) => !isBinding(one)));
  // The account is deleted last, because what still runs as the account may need it to end.
  const ordered = [...rest.filter((one) => !isAccount(one)), ...rest.filter(isAccount)];
  return { deployment, bindings: granted.filter(isBinding), rest: ordered, foreign };
}

const MANAGED_BY = "app.kubernetes.io/managed-by";
const NAME = "app.kubernetes.io/name";
const OURS = "binnacle";
/** The kinds in the account's namespace, with the root of their API. */
const NAMESPACED = [
  ["PodDisruptionBudget", "/apis/policy/v1"],
  ["NetworkPolicy", "/apis/networking.k8s.io/v1"],
  ["ServiceMonitor", "/apis/monitoring.coreos.com/v1"],
  ["Service", "/api/v1"],
  ["ConfigMap", "/api/v1"],
  ["ServiceAccount", "/api/v1"],
] as const;

function plural(kind: string): string {
  return kind.endsWith("y") ? `${kind.slice(0, -1).toLowerCase()}ies` : `${kind.toLowerCase()}s`;
}

function isAccount({ what }: Doomed): boolean {
  return what.startsWith("ServiceAccount ");
}

function isBinding({ what }: Doomed): boolean {
  return /^(Cluster)?RoleBinding /.test(what);
}

function isOurs({ metadata: { labels } }: Found, name: string): boolean {
  return labels?.[MANAGED_BY] === OURS && labels[NAME] === name;
}

/** Returns the Leases with which the replicas of a deployment have elected a leader, or divided the keys. */
async function leasesOf(
  transport: Transport,
  { namespace, name }: ServiceAccount,
  modules: readonly string[],
): Promise<readonly Doomed[]> {
  const collection = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
  const leases = await list<Found>(transport, collection);
  const names = [name, ...[...modules, PROCESS].map((module) => leaseName(name, fileOf(module)))];
  const isShard = ({ metadata }: Found): boolean =>
    /-shard-\d+$/.test(metadata.name) &&
    metadata.name.startsWith(`${name}-shard-`) &&
    metadata.labels?.[GROUP_LABEL] !== undefined;
  return leases
    .filter((lease) => names.includes(lease.metadata.name) || isShard(lease))
    .map((lease) => doomed(`${collection}/${lease.metadata.name}`, "Lease", lease));
}

/** Returns the roles with the account's name that are bound only to the account, and their bindings. */
async function roles(transport: Transport, { namespace, name }: ServiceAccount): Promise<readonly Doomed[]> {
  const isBound = ({ metadata: { labels }, subjects = [], roleRef }: Binding): boolean =>
    (labels?.[MANAGED_BY] ?? OURS) === OURS &&
    roleRef.name === name &&
    subjects.length === 1 &&
    subjects.every((one) => one.kind === "ServiceAccount" && one.name === name && one.namespace === namespace);
  const found: Doomed[] = [];
  const query = `fieldSelector=metadata.name%3D${name}`;
  for (const prefix of ["Cluster", ""] as const) {
    const plural = `${prefix.toLowerCase()}rolebindings`;
    for (const binding of await list<Binding>(transport, `${RBAC}/${plural}`, query)) {
      if (!isBound(binding)) continue;
      const within = binding.metadata.namespace;
      const folder = within === undefined ? RBAC : `${RBAC}/namespaces/${within}`;
      found.push(doomed(`${folder}/${plural}/${name}`, `${prefix}RoleBinding`, binding));
      const path = `${folder}/${prefix.toLowerCase()}roles/${name}`;
      const role = await find<Found>(transport, path);
      if (role !== undefined && binding.roleRef.kind === `${prefix}Role`)
        found.push(doomed(path, `${prefix}Role`, role));
    }
  }
  if (found.length > 0) {
    const path = `${RBAC}/clusterroles/${name}-metrics-reader`;
    const reader = await find<Found & { rules?: readonly { nonResourceURLs?: readonly string[] }[] }>(transport, path);
    if (reader?.rules?.every(({ nonResourceURLs }) => nonResourceURLs?.join() === "/metrics") === true)
      found.push(doomed(path, "ClusterRole", reader));
  }
  return found;
}

/** In the image and below the mount, all modules are in one folder, so their names contain no folder. */
export function fileOf(module: string): string {
  return module.slice(module.lastIndexOf("/") + 1);
}

/** The ConfigMap that holds modules, and which of its keys one module has. */
export interface MountedModules {
  readonly configMap: string;
  /** The keys of files of these modules. */
  readonly keys: readonly string[];
}

/** Returns the source of the deployment's modules; `undefined` when its image holds them, or when it mounts all files. */
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
  const wanted = spec.replicas ?? 1;
  const { observedGeneration = 0, updatedReplicas = 0, replicas = 0 } = status ?? {};
  return observedGeneration >= (metadata.generation ?? 0) && updatedReplicas >= wanted && replicas <= updatedReplicas;
}

/** Whether no pod of a deployment is left. */
export async function hasNoPods(transport: Transport, { metadata, spec }: Deployment): Promise<boolean> {
  const labels = Object.entries(spec.selector.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`);
  const query = `labelSelector=${encodeURIComponent(labels.join(","))}&limit=1`;
  const pods = await list(transport, `/api/v1/namespaces/${metadata.namespace}/pods`, query);
  return pods.length === 0;
}
