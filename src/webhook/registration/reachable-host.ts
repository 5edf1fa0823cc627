/** Finds the address of this machine at which the API server of a local cluster reaches it. */
import { networkInterfaces, type NetworkInterfaceInfo } from "node:os";
import type { Transport } from "../../kube/transport/transport.ts";

export interface ReachableHostOptions {
  readonly transport: Pick<Transport, "request">;
  readonly signal: AbortSignal;
  /** @default the system's */
  readonly interfaces?: () => Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>;
  /** @default the system's */
  readonly platform?: NodeJS.Platform | undefined;
}

interface Node {
  readonly spec?: { readonly providerID?: string | undefined } | undefined;
  readonly status?:
    { readonly addresses?: readonly { readonly type: string; readonly address: string }[] | undefined } | undefined;
}

/** Docker Desktop runs containers in a virtual machine, and gives its host this name. */
const DOCKER_DESKTOP = "host.docker.internal";

/**
 * Finds an address of this machine in the network of the cluster's nodes. With kind, k3d and minikube that is the
 * gateway of the container network; with nodes in the local network, it is the address there.
 *
 * @returns `undefined` when no network of this machine has the nodes.
 * @throws ApiError, UnreachableError, the signal's reason.
 */
export async function reachableHost(options: ReachableHostOptions): Promise<string | undefined> {
  const { transport, signal, interfaces = networkInterfaces, platform = process.platform } = options;
  const query = "limit=10";
  const { items } = await transport.request<{ items: readonly Node[] }>({
    method: "GET",
    path: "/api/v1/nodes",
    query,
    signal,
  });
  const own = Object.values(interfaces())
    .flatMap((list) => list ?? [])
    .filter(({ family, internal }) => family === "IPv4" && !internal);
  for (const { status } of items) {
    for (const { type, address } of status?.addresses ?? []) {
      if (type !== "InternalIP") continue;
      const match = own.find((one) => one.cidr !== null && isIn(address, one.cidr));
      // Nodes on this machine reach it by their own address.
      if (match !== undefined) return match.address;
    }
  }
  const isInContainer = items.some(({ spec }) => /^(?:kind|k3s|k3d):/.test(spec?.providerID ?? ""));
  return isInContainer && platform !== "linux" ? DOCKER_DESKTOP : undefined;
}

/** Whether an IPv4 address is in a network such as `172.18.0.1/16`. */
function isIn(address: string, cidr: string): boolean {
  const [network = "", length = ""] = cidr.split("/");
  const [a, b] = [bitsOf(address), bitsOf(network)];
  if (a === undefined || b === undefined) return false;
  const shift = 32 - Number(length);
  return shift === 32 || a >>> shift === b >>> shift;
}

function bitsOf(address: string): number | undefined {
  const bytes = address.split(".").map(Number);
  if (bytes.length !== 4 || bytes.some((byte) => !(byte >= 0 && byte <= 255))) return undefined;
  return bytes.reduce((bits, byte) => ((bits << 8) | byte) >>> 0, 0);
}
