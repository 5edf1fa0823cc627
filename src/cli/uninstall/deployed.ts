/**
 * What `manifests deploy` has put into a cluster for one service account, and what the process itself has made beside it.
 *
 * Objects that carry labels are known by them, roles by who is bound to them: what only has the name is somebody else's.
 */
import { GROUP_LABEL } from "../../election/shard-publication.ts";
import type { Transport } from "../../kube/transport/transport.ts";
import type { ServiceAccount } from "../../module/rbac-manifests.ts";
import { secretOf } from "../webhook-options.ts";
import { doomed, type Doomed, find, type Found, list } from "./cluster-objects.ts";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";

/** A Deployment of ours, as far as it is looked at here. */
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
  /** In the order in which they are deleted, after the Deployment. */
  readonly rest: readonly Doomed[];
  /** What has the name and is not ours. */
  readonly foreign: readonly string[];
}

export function deploymentPath({ namespace, name }: ServiceAccount): string {
  return `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`;
}

export async function deployed(transport: Transport, account: ServiceAccount): Promise<Deployed> {
  const { namespace, name } = account;
  const rest: Doomed[] = [];
  const foreign: string[] = [];
  const labelled = async <T extends Found>(path: string, kind: string, isOurs = labelledOurs(name)) => {
    const live = await find<T>(transport, path);
    if (live === undefined) return undefined;
    const one = doomed(path, kind, live);
    if (!isOurs(live)) return void foreign.push(one.what);
    return { live, one };
  };
  const core = `/api/v1/namespaces/${namespace}`;
  const deployment = await labelled<Deployment>(deploymentPath(account), "Deployment");
  const { name: secret } = secretOf(account);
  const managed = ({ metadata }: Found): boolean => metadata.labels?.[MANAGED_BY] === OURS;
  for (const [path, kind, isOurs] of [
    [`/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets/${name}`, "PodDisruptionBudget", undefined],
    [`${core}/services/${name}`, "Service", undefined],
    [`${core}/configmaps/${name}`, "ConfigMap", undefined],
    [`${core}/secrets/${secret}`, "Secret", managed],
  ] as const) {
    const found = await labelled(path, kind, isOurs);
    if (found !== undefined) rest.push(found.one);
  }
  const leases = await list<Found>(transport, `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`);
  const isLease = ({ metadata }: Found): boolean =>
    metadata.name === name || metadata.labels?.[GROUP_LABEL] === name || metadata.name.startsWith(`${name}-`);
  for (const lease of deployment === undefined ? [] : leases.filter(isLease))
    rest.push(doomed(`/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${lease.metadata.name}`, "Lease", lease));
  rest.push(...(await roles(transport, account)));
  const own = await labelled(`${core}/serviceaccounts/${name}`, "ServiceAccount");
  if (own !== undefined) rest.push(own.one);
  return { deployment: deployment?.live, rest, foreign };
}

const MANAGED_BY = "app.kubernetes.io/managed-by";
const OURS = "binnacle";

function labelledOurs(name: string): (object: Found) => boolean {
  return ({ metadata: { labels } }) => labels?.[MANAGED_BY] === OURS && labels["app.kubernetes.io/name"] === name;
}

/** Roles of the account's name that are bound to the account and to nobody else, and their bindings. */
async function roles(transport: Transport, { namespace, name }: ServiceAccount): Promise<readonly Doomed[]> {
  const isOurs = ({ subjects = [], roleRef }: Binding): boolean =>
    roleRef.name === name &&
    subjects.length === 1 &&
    subjects.every((one) => one.kind === "ServiceAccount" && one.name === name && one.namespace === namespace);
  const found: Doomed[] = [];
  const query = `fieldSelector=metadata.name%3D${name}`;
  for (const prefix of ["Cluster", ""] as const) {
    const plural = `${prefix.toLowerCase()}rolebindings`;
    for (const binding of await list<Binding>(transport, `${RBAC}/${plural}`, query)) {
      if (!isOurs(binding)) continue;
      const within = binding.metadata.namespace;
      const folder = within === undefined ? RBAC : `${RBAC}/namespaces/${within}`;
      found.push(doomed(`${folder}/${plural}/${name}`, `${prefix}RoleBinding`, binding));
      const path = `${folder}/${prefix.toLowerCase()}roles/${name}`;
      const role = await find<Found>(transport, path);
      if (role !== undefined && binding.roleRef.kind === `${prefix}Role`) found.push(doomed(path, `${prefix}Role`, role));
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

/** The ConfigMap that holds modules, and which of its keys one module has. */
export interface MountedModules {
  readonly configMap: string;
  /** The keys of files of these modules. */
  readonly keys: readonly string[];
}

/** Where the deployment has modules from; `undefined` when its image holds them. */
export function mountedModules({ spec }: Deployment, modules: readonly string[]): MountedModules | undefined {
  const volume = spec.template.spec.volumes?.find(({ name }) => name === "controllers")?.configMap;
  if (volume?.name === undefined) return undefined;
  const names = modules.map((name) => name.slice(name.lastIndexOf("/") + 1));
  const isOf = (path: string): boolean => names.some((name) => path === name || path.startsWith(`${name}/`));
  const keys = (volume.items ?? []).filter(({ path }) => isOf(path)).map(({ key }) => key);
  return { configMap: volume.name, keys };
}

/** Takes modules out of the deployment, which rolls out without them; last of all their files go from the ConfigMap. */
export async function takeOut(transport: Transport, account: ServiceAccount, { keys }: MountedModules): Promise<void> {
  const path = deploymentPath(account);
  const live = (await find<Deployment>(transport, path))!;
  const { template } = live.spec;
  const volumes = template.spec.volumes!.map((volume) =>
    volume.name !== "controllers"
      ? volume
      : {
          ...volume,
          configMap: {
            ...volume.configMap,
            items: volume.configMap!.items!.filter(({ key }) => !keys.includes(key)),
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
