/** Starts etcd and kube-apiserver for a test, with kube-controller-manager or its stand-in. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { openFetchSession } from "#runtime/fetch-session";
import { startClusterControllers } from "../cluster/index.ts";
import type { ClusterConfig } from "../kube/config/cluster-config.ts";
import { loadKubeconfig } from "../kube/config/kubeconfig.ts";
import { namespaceManifest, type ServiceAccount } from "../module/rbac-manifests.ts";
import { createLog } from "../observe/log.ts";
import { writeToStandardError } from "../observe/standard-streams.ts";
import { beginPatience } from "./eventually.ts";
import { RealPlane } from "./real-plane.ts";
import { type Server, type ServerOptions, withAnswer } from "./server.ts";

/**
 * Starts the server. A clock of the test's own applies only to modules and to the stand-in for scheduler and
 * kubelets; other processes use the machine's.
 *
 * @throws Error when `KUBEBUILDER_ASSETS` does not name a folder with the programs.
 */
export async function startReal({ pods, clock, journal }: ServerOptions): Promise<Server> {
  const bin = programs(process.env["KUBEBUILDER_ASSETS"]);
  const controllers = existsSync(join(bin, "kube-controller-manager"));
  if (clock !== undefined) tellWhatKeepsItsTime(controllers);
  const realPlane = await RealPlane.lend({ bin, controllers });
  const { plane } = realPlane;
  const stops: (() => Promise<void> | void)[] = [() => realPlane.giveBack(), beginPatience()];
  const stop = async (): Promise<void> => {
    for (const one of stops.toReversed()) await one();
  };
  try {
    const reached = await loadKubeconfig({ kubeconfig: plane.kubeconfig, env: {} });
    const session = openFetchSession(reached.tls);
    stops.push(() => session.close());
    const backstage = withAnswer(reached, (request) => send(session, request));
    const config = withAnswer(reached, journal.through(backstage.answer!));
    // A token counts only without a client certificate.
    const { ca } = reached.tls;
    const bare = openFetchSession({ ca });
    stops.push(() => bare.close());
    const own = await startClusterControllers(config, { pods, clock, only: controllers ? "pods" : undefined });
    stops.push(() => own.stop());
    const as: Server["as"] = async (account) => {
      const headers = { authorization: `Bearer ${await accountToken(backstage, account)}` };
      const answer = journal.through((request) => send(bare, request));
      return { ...withAnswer(reached, answer), headers: () => headers, reload: () => Promise.resolve(false) };
    };
    const prepare: Server["prepare"] = (kinds) => realPlane.prepare(kinds);
    return { config, backstage, as, prepare, kubeconfig: await readFile(plane.kubeconfig, "utf8"), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

let isTold = false;

/** Warns once in a process: the tests of a file mostly use a clock in the same way. */
function tellWhatKeepsItsTime(controllers: boolean): void {
  if (isTold) return;
  isTold = true;
  const programs = controllers ? "kube-apiserver and kube-controller-manager" : "kube-apiserver";
  const cannot = ["creation and deletion times", "Events", "token lifetimes", "CRD conditions"];
  if (controllers) cannot.push("CronJobs", "deadlines and TTLs of Jobs", "progress deadlines of Deployments");
  createLog({ level: "warn", format: "pretty", write: writeToStandardError }).warn(
    `The clock of this test cannot move ${programs}: they use the machine's time`,
    { unmoved: cannot.join(", "), moved: "modules under test, pods" },
  );
}

async function send(session: ReturnType<typeof openFetchSession>, request: Request): Promise<Response> {
  const { method, headers, signal } = request;
  const body = method === "GET" ? undefined : await request.text();
  return session.fetch(request.url, {
    method,
    headers,
    signal,
    ...(body !== undefined && body !== "" && { body }),
    timeout: false,
    redirect: "manual",
    protocol: "http2",
  });
}

function programs(folder: string | undefined): string {
  if (folder === undefined || folder === "") {
    throw new Error(
      "Cannot start a real server: point KUBEBUILDER_ASSETS at a folder with etcd and kube-apiserver, such as envtest's",
    );
  }
  for (const program of ["etcd", "kube-apiserver"]) {
    if (existsSync(join(folder, program))) continue;
    throw new Error(`Cannot start a real server: KUBEBUILDER_ASSETS is ${folder}, but there is no ${program} in it`);
  }
  return folder;
}

/** Creates a service account in its namespace, and returns a token. @throws Error when the server issues none. */
async function accountToken({ server, answer }: ClusterConfig, account: ServiceAccount): Promise<string> {
  const { namespace, name } = account;
  const send = (path: string, body: object): Promise<Response> => {
    const headers = { "content-type": "application/json" };
    return answer!(new Request(server + path, { method: "POST", headers, body: JSON.stringify(body) }));
  };
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  // Existing objects are fine.
  for (const body of namespaceManifest(namespace)) await send("/api/v1/namespaces", body);
  await send(accounts, { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace } });
  const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 86_400 } };
  const response = await send(`${accounts}/${name}/token`, request);
  const { status, message } = (await response.json()) as {
    readonly status?: { readonly token?: string };
    readonly message?: string;
  };
  if (status?.token === undefined) throw new Error(`Cannot get a token of ${namespace}/${name}: ${message}`);
  return status.token;
}
