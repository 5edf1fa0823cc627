/** Reaches the replicas of a Deployment through the API server, with the rights of the kubeconfig's user. */
import { isForbidden } from "../../kube/errors/api-error.ts";
import { loadKubeconfig } from "../../kube/config/kubeconfig.ts";
import { createTransport, type Transport } from "../../kube/transport/transport.ts";
import { messageOf } from "../../platform/error-message.ts";
import type { Deployment } from "../../resource/builtin/apps.ts";
import type { Pod } from "../../resource/builtin/core.ts";
import { labelSelector } from "../../resource/selector.ts";
import { DEBUG_AUDIENCE } from "../../server/debug/debug-file.ts";
import type { Host } from "../command.ts";
import { UserError } from "../usage-error.ts";
import { DebugClient, type DebugTarget, fetchLocally, type Targets } from "./debug-client.ts";
import { forwardPort } from "./port-forward.ts";

export interface ClusterOptions {
  readonly deployment: string;
  readonly namespace?: string | undefined;
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
}

const FLAG = "debug-bind-address";
/** Seconds that a token of the pod's account lives; the API server gives none that lives for less. */
const TOKEN_SECONDS = 600;

/** @throws UserError when the Deployment has no running pod, or its pods have no debug listener. */
export async function clusterTargets(options: ClusterOptions, host: Host): Promise<Targets> {
  const cluster = await loadKubeconfig({ kubeconfig: options.kubeconfig, context: options.context, env: host.env });
  await using cleanup = new AsyncDisposableStack();
  const transport = cleanup.use(closing(createTransport(cluster, { userAgent: `binnacle/${host.embedded.version}` })));
  const { namespace = cluster.namespace, deployment } = options;
  const clients: DebugClient[] = [];
  for (const pod of await runningPods(transport, { namespace, deployment })) {
    const forward = cleanup.use(await forwardPort(transport, pod.metadata, portOf(pod)));
    const target: DebugTarget = {
      name: pod.metadata.name,
      address: forward.address,
      token: () => tokenOf(target, { transport, pod }),
      why: () => forward.failure,
    };
    clients.push(new DebugClient(target));
  }
  const kept = cleanup.move();
  return { clients, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

function closing(transport: Transport): Transport & AsyncDisposable {
  return Object.assign(transport, { [Symbol.asyncDispose]: () => transport.close() });
}

async function runningPods(
  transport: Transport,
  { namespace, deployment }: { readonly namespace: string; readonly deployment: string },
): Promise<readonly Pod[]> {
  const base = `/namespaces/${encodeURIComponent(namespace)}`;
  const name = `Deployment ${namespace}/${deployment}`;
  const path = `/apis/apps/v1${base}/deployments/${encodeURIComponent(deployment)}`;
  const { spec } = await transport.request<Deployment>({ method: "GET", path });
  const query = `labelSelector=${encodeURIComponent(String(labelSelector(spec.selector)))}`;
  const { items } = await transport.request<{ readonly items: readonly Pod[] }>({
    method: "GET",
    path: `/api/v1${base}/pods`,
    query,
  });
  const running = items.filter(({ status, metadata }) => status?.phase === "Running" && !metadata.deletionTimestamp);
  if (running.length === 0) throw new UserError(`Cannot ask ${name}: none of its ${items.length} pods is running`);
  return running;
}

/** Returns the port of the debug listener in a pod, by the arguments and the environment of its containers. */
function portOf(pod: Pod): number {
  for (const { args = [], command = [], env = [] } of pod.spec?.containers ?? []) {
    const words = [...command, ...args];
    const at = words.findIndex((word) => word === `--${FLAG}` || word.startsWith(`--${FLAG}=`));
    const text =
      at < 0
        ? env.find(({ name }) => name === "BINNACLE_DEBUG_BIND_ADDRESS")?.value
        : (words[at]!.split("=")[1] ?? words[at + 1]);
    const port = Number(text?.split(":").at(-1));
    if (port > 0) return port;
  }
  throw new UserError(
    `Cannot ask pod ${pod.metadata.name}: it has no debug listener. Deploy it with \`binnacle manifests deploy --debug\`, ` +
      `or add --${FLAG}=127.0.0.1:8082 to its arguments`,
  );
}

/** Creates a token of the pod's ServiceAccount with the user's rights, and exchanges it for the token of the process. */
async function tokenOf(
  target: DebugTarget,
  { transport, pod }: { readonly transport: Transport; readonly pod: Pod },
): Promise<string> {
  const { namespace } = pod.metadata;
  const account = pod.spec?.serviceAccountName ?? "default";
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`;
  const body = {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    spec: { audiences: [DEBUG_AUDIENCE], expirationSeconds: TOKEN_SECONDS },
  };
  let own: string;
  try {
    ({
      status: { token: own },
    } = await transport.request<{ readonly status: { readonly token: string } }>({ method: "POST", path, body }));
  } catch (error) {
    if (!isForbidden(error)) throw error;
    throw new UserError(
      `Cannot act on ${target.name}: that takes the right to create tokens of its ServiceAccount ${namespace}/${account}, ` +
        `which the cluster role "edit" has: ${messageOf(error)}`,
    );
  }
  const response = await fetchLocally(`http://${target.address}/debug/token`, {
    method: "POST",
    headers: { authorization: `Bearer ${own}` },
  });
  const answer = (await response.json()) as { readonly token?: string; readonly error?: string };
  if (answer.token !== undefined) return answer.token;
  throw new UserError(`Cannot act on ${target.name}: ${answer.error ?? `it answers ${response.status}`}`);
}
