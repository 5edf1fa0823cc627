/** Empties a control plane of everything that tests have made. */
import { sleep } from "../../platform/clock.ts";
import type { ControlPlane } from "./running.ts";

type Plane = Pick<ControlPlane, "request">;

interface Meta {
  readonly name: string;
  readonly namespace?: string;
  readonly finalizers?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
}

interface Resource {
  /** The path of its group and version, such as `/apis/apps/v1`. */
  readonly api: string;
  readonly plural: string;
  /** Whether a collection can be deleted with one request. */
  readonly asOne: boolean;
}

interface Discovery {
  readonly items: readonly {
    readonly metadata: { readonly name?: string };
    readonly versions: readonly {
      readonly version: string;
      readonly resources?: readonly {
        readonly resource: string;
        readonly verbs: readonly string[];
      }[];
    }[];
  }[];
}

const DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const PARTIAL = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
const ADMISSION = "/apis/admissionregistration.k8s.io/";
const EXTENSIONS = "/apis/apiextensions.k8s.io/";

/** Milliseconds for everything, and between two looks. */
const WITHIN = 60_000;
const EVERY = 50;
/** Milliseconds for one request. */
const PATIENCE = 30_000;
/** Groups whose objects no test makes, and which the server itself maintains. */
const LEFT_ALONE = ["flowcontrol.apiserver.k8s.io", "apiregistration.k8s.io", "internal.apiserver.k8s.io"];
/** Namespaces of the server, where tests only make Leases. */
const SYSTEM = ["kube-system", "kube-public", "kube-node-lease"];

/** Removes everything except the server's own objects and these kinds. @throws Error when an object stays */
export async function emptied(plane: Plane, kinds: readonly string[] = []): Promise<void> {
  const began = performance.now();
  for (;;) {
    const left = await removeAll(plane, kinds);
    if (left.length === 0) return;
    if (performance.now() - began > WITHIN) {
      throw new Error(`A control plane is not empty after ${WITHIN / 1_000} s: ${left.slice(0, 10).join(", ")}`);
    }
    await sleep(EVERY);
  }
}

/** Removes all objects. @returns the paths of the existing ones */
async function removeAll(plane: Plane, kinds: readonly string[]): Promise<readonly string[]> {
  const paths: string[] = [];
  const resources = await discover(plane);
  // Webhooks and policies go first, because they may refuse writes. Objects go before the definitions of their kinds,
  // and namespaces when they are empty.
  const rank = ({ api, plural }: Resource): number =>
    api.startsWith(ADMISSION) ? 0 : api.startsWith(EXTENSIONS) ? 2 : plural === "namespaces" ? 3 : 1;
  for (const step of [0, 1, 2, 3]) {
    const some = resources.filter((one) => rank(one) === step);
    paths.push(...(await Promise.all(some.map((resource) => removeOf(plane, resource, kinds)))).flat());
  }
  return paths;
}

async function removeOf(plane: Plane, resource: Resource, kinds: readonly string[]): Promise<readonly string[]> {
  const { api, plural, asOne } = resource;
  const pathOf = (namespace: string | undefined): string =>
    namespace === undefined ? `${api}/${plural}` : `${api}/namespaces/${namespace}/${plural}`;
  const list = await get<{ items?: readonly { readonly metadata: Meta }[] }>(plane, `${api}/${plural}`, PARTIAL);
  if (list === "later") return [`${api}/${plural}`];
  const all = list?.items ?? [];
  const isKept = (metadata: Meta): boolean =>
    api.startsWith(EXTENSIONS) ? kinds.includes(metadata.name) : isOwn(resource, metadata);
  const mine = all.filter(({ metadata }) => !isKept(metadata)).map(({ metadata }) => metadata);
  for (const [namespace, some] of Map.groupBy(mine, (one) => one.namespace)) {
    const path = pathOf(namespace);
    for (const { name, finalizers = [] } of some) {
      if (finalizers.length === 0 || api.startsWith(EXTENSIONS)) continue;
      await send(plane, "PATCH", `${path}/${name}`, { metadata: { finalizers: null } });
    }
    const isWhole = all.filter(({ metadata }) => metadata.namespace === namespace).length === some.length;
    const options = { gracePeriodSeconds: 0, propagationPolicy: "Background" };
    if (isWhole && asOne && some.length > 1) await send(plane, "DELETE", path, options);
    else for (const { name } of some) await send(plane, "DELETE", `${path}/${name}`, options);
    if (plural !== "namespaces") continue;
    for (const { name } of some) {
      const object = { apiVersion: "v1", kind: "Namespace", metadata: { name }, spec: { finalizers: [] } };
      await send(plane, "PUT", `${path}/${name}/finalize`, object);
    }
  }
  return mine.map(({ namespace, name }) => `${pathOf(namespace)}/${name}`);
}

/** Whether the server or its controllers recreate the object when it is missing, or need it. */
function isOwn({ plural }: Resource, { name, namespace = "", labels = {} }: Meta): boolean {
  if (SYSTEM.includes(namespace)) return plural !== "leases" || name.startsWith("apiserver-");
  if (plural === "namespaces") return name === "default" || SYSTEM.includes(name);
  if (labels["kubernetes.io/bootstrapping"] !== undefined) return true;
  if (plural === "configmaps") return name === "kube-root-ca.crt";
  if (plural === "serviceaccounts") return name === "default";
  if (plural === "priorityclasses") return name.startsWith("system-");
  if (plural === "ipaddresses") return name === "10.96.0.1";
  // The Service of the server, with its addresses and their range.
  return ["services", "endpoints", "endpointslices", "servicecidrs"].includes(plural) && name === "kubernetes";
}

/** Returns the resources that can be listed and deleted, in the version that the server prefers. */
async function discover(plane: Plane): Promise<readonly Resource[]> {
  const both = await Promise.all(["/api", "/apis"].map((path) => get<Discovery>(plane, path, DISCOVERY)));
  return both.flatMap((answer, index) =>
    (answer as Discovery).items.flatMap(({ metadata: { name = "" }, versions: [first] }) => {
      if (first === undefined || LEFT_ALONE.includes(name)) return [];
      const api = index === 0 ? `/api/${first.version}` : `/apis/${name}/${first.version}`;
      return (first.resources ?? [])
        .filter(({ verbs }) => verbs.includes("list") && verbs.includes("delete"))
        .map(({ resource, verbs }) => ({
          api,
          plural: resource,
          asOne: verbs.includes("deletecollection"),
        }));
    }),
  );
}

/** @returns `undefined` for 404, as with a kind whose definition has just been deleted. */
async function get<T>(plane: Plane, path: string, accept: string): Promise<T | "later" | undefined> {
  const response = await plane.request(path, { headers: { accept }, signal: AbortSignal.timeout(PATIENCE) });
  if (response.ok) return (await response.json()) as T;
  const text = await response.text();
  if (response.status === 404) return undefined;
  // The storage of a kind is being made.
  if (response.status === 429) return "later";
  throw new Error(`GET ${path}: ${response.status} ${text}`);
}

/** Sends a request. A refusal is ignored, because the next check finds the object again. */
async function send(plane: Plane, method: string, path: string, body: object): Promise<void> {
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const response = await plane.request(path, {
    method,
    headers: { "content-type": type },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(PATIENCE),
  });
  await response.arrayBuffer();
}
