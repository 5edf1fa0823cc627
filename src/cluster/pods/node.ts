/** Creates the one node of a cluster without machines, and sends the heartbeats of all nodes. */
import { setTimeout } from "node:timers/promises";
import {
  allow,
  type Client,
  defineKeyController,
  type Definition,
  isAlreadyExists,
  isConflict,
  isNotFound,
  source,
  watch,
} from "../../index.ts";
import type { Key } from "../../index.ts";
import { Lease, Node, type NodeCondition } from "../../resource/builtin/index.ts";
import type { Clock } from "../../platform/clock.ts";
import { sameJson } from "../../resource/json.ts";
import { timestamp } from "../workload/time.ts";

const NODE_NAME = "binnacle-node";
export const NODE_ADDRESS = "192.168.127.1";

const LEASES = "kube-node-lease";
const LEASE_SECONDS = 40;
const CAPACITY = { cpu: "64", memory: "256Gi", pods: "10000", "ephemeral-storage": "1Ti" };
const INFO = {
  architecture: "amd64",
  bootID: "",
  containerRuntimeVersion: "binnacle://1.0.0",
  kernelVersion: "",
  kubeProxyVersion: "",
  kubeletVersion: "v1.36.3",
  machineID: "",
  operatingSystem: "linux",
  osImage: "none",
  systemUUID: "",
};
/** The taint that the API server gives new nodes, and that is removed once they are ready. */
const NOT_READY = "node.kubernetes.io/not-ready";

/** Creates the node, and keeps every node of the cluster ready. */
export function nodeController(clock: Clock): Definition {
  return defineKeyController({
    name: "node",
    watches: [
      watch(Node, { enqueue: (node) => [node] }),
      source.from(first({ name: NODE_NAME })),
      source.from(heartbeats()), // for the leases that show whether a node is alive
    ],
    reads: [Lease],
    uses: [allow(Node, "create", "patch", "status/patch"), allow(Lease, "create", "patch")],
    async reconcile({ name }, { client }) {
      if (name !== "node") return keepReady(client, name, clock.now());
      for (const node of await client.list(Node)) await renew(client, node.metadata.name, clock.now());
      return undefined;
    },
  });
}

/** Yields one key, once. */
async function* first<T>(key: T): AsyncGenerator<T> {
  yield key;
}

/** Sends heartbeats by the machine's clock even if a test has its own: days that pass at once have no heartbeats. */
async function* heartbeats(): AsyncGenerator<Key> {
  for (;;) {
    await setTimeout(10_000, undefined, { ref: false });
    yield { name: "node" };
  }
}

async function keepReady(client: Client, name: string, now: number): Promise<undefined> {
  const node = (await client.find(Node, { name })) ?? (name === NODE_NAME ? await create(client) : undefined);
  if (node === undefined || node.metadata.deletionTimestamp !== undefined) return undefined;
  const lease = await client.find(Lease, { namespace: LEASES, name });
  if (lease === undefined) await renew(client, name, now);
  const conditions = conditionsOf(node, now);
  const { addresses = [{ type: "InternalIP", address: NODE_ADDRESS }], capacity = CAPACITY } = node.status ?? {};
  const { allocatable = capacity, nodeInfo } = node.status ?? {};
  const status = { conditions, addresses, capacity, allocatable, nodeInfo: nodeInfo?.kubeletVersion ? nodeInfo : INFO };
  const present = node.status?.conditions ?? [];
  if (!conditions.every((wanted) => present.some((one) => sameJson(one, wanted)))) {
    await client.subresource("status").patch(Node, { name }, { type: "strategic", body: { status } });
  }
  const taints = node.spec?.taints?.filter(({ key }) => key !== NOT_READY);
  if (taints?.length !== node.spec?.taints?.length) {
    const { resourceVersion } = (await client.find(Node, { name }))?.metadata ?? node.metadata;
    try {
      await client.patch(Node, { name }, { type: "merge", body: { spec: { taints } }, resourceVersion });
    } catch (error) {
      if (!isConflict(error) && !isNotFound(error)) throw error; // somebody else changed the node, and that event arrives soon
    }
  }
  return undefined;
}

async function create(client: Client): Promise<Node | undefined> {
  const labels = {
    "kubernetes.io/hostname": NODE_NAME,
    "kubernetes.io/os": "linux",
    "kubernetes.io/arch": "amd64",
  };
  try {
    return await client.create(Node, { metadata: { name: NODE_NAME, labels } });
  } catch (error) {
    if (isAlreadyExists(error)) return undefined; // its event arrives soon
    throw error;
  }
}

const CONDITIONS = [
  { type: "MemoryPressure", status: "False", reason: "KubeletHasSufficientMemory", message: "there is no memory" },
  { type: "DiskPressure", status: "False", reason: "KubeletHasNoDiskPressure", message: "there is no disk" },
  { type: "PIDPressure", status: "False", reason: "KubeletHasSufficientPID", message: "there are no processes" },
  { type: "Ready", status: "True", reason: "KubeletReady", message: "binnacle stands in for the kubelet" },
] as const;

function conditionsOf(node: Node, now: number): NodeCondition[] {
  return CONDITIONS.map((wanted) => {
    const before = node.status?.conditions?.find(({ type }) => type === wanted.type);
    const isSame = before?.status === wanted.status;
    const times = { lastHeartbeatTime: timestamp(now), lastTransitionTime: timestamp(now) };
    if (!isSame || before === undefined) return { ...wanted, ...times };
    const { lastHeartbeatTime = times.lastHeartbeatTime, lastTransitionTime = times.lastTransitionTime } = before;
    return { ...wanted, lastHeartbeatTime, lastTransitionTime };
  });
}

/** Renews the node's lease. @see https://kubernetes.io/docs/concepts/architecture/leases/#node-heart-beats */
async function renew(client: Client, name: string, now: number): Promise<void> {
  const key = { namespace: LEASES, name };
  const renewTime = `${new Date(now).toISOString().slice(0, -1)}000Z`;
  const spec = { holderIdentity: name, leaseDurationSeconds: LEASE_SECONDS, renewTime };
  if ((await client.find(Lease, key)) !== undefined) {
    await client.patch(Lease, key, { type: "merge", body: { spec } });
    return;
  }
  try {
    await client.create(Lease, { metadata: key, spec });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}
