import { expect, test } from "bun:test";
import type { NetworkInterfaceInfo } from "node:os";
import { sendJson, startLoopback } from "../../../tests/support/loopback-server.ts";
import { createTransport } from "../../kube/transport/transport.ts";
import { reachableHost } from "./reachable-host.ts";

interface World {
  readonly nodes: readonly object[];
  readonly own: Readonly<Record<string, string>>;
  readonly platform?: NodeJS.Platform;
}

async function hostIn({ nodes, own, platform = "linux" }: World): Promise<string | undefined> {
  await using server = await startLoopback((_, reply) => sendJson(reply, { items: nodes }));
  const transport = createTransport(server.config);
  const interfaces = () =>
    Object.fromEntries(
      Object.entries(own).map(([name, cidr]) => {
        const address = cidr.split("/")[0]!;
        const info = { address, cidr, family: "IPv4", internal: name === "lo", mac: "", netmask: "" };
        return [name, [info as NetworkInterfaceInfo]];
      }),
    );
  const found = await reachableHost({ transport, signal: new AbortController().signal, interfaces, platform });
  expect(server.lines).toEqual(["GET /api/v1/nodes?limit=10"]);
  await transport.close();
  return found;
}

const node = (address: string, providerID = "") => ({
  spec: { providerID },
  status: {
    addresses: [
      { type: "Hostname", address: "n" },
      { type: "InternalIP", address },
    ],
  },
});

test("reachableHost is this machine's address in the network of the nodes", async () => {
  const own = { lo: "127.0.0.1/8", eth0: "192.168.1.7/24", "br-1": "172.18.0.1/16", "br-2": "172.19.0.1/16" };
  expect(await hostIn({ nodes: [node("172.19.0.3", "kind://docker/kind/kind-control-plane")], own })).toBe(
    "172.19.0.1",
  );
  expect(await hostIn({ nodes: [node("10.0.0.1"), node("192.168.1.20")], own })).toBe("192.168.1.7");
});

test("reachableHost gives up where the nodes are elsewhere", async () => {
  const own = { lo: "127.0.0.1/8", eth0: "192.168.1.7/24" };
  expect(await hostIn({ nodes: [node("10.1.2.3")], own })).toBeUndefined();
  expect(await hostIn({ nodes: [node("127.0.0.1")], own })).toBeUndefined();
  expect(await hostIn({ nodes: [], own })).toBeUndefined();
});

test("reachableHost knows the name that Docker Desktop gives", async () => {
  const kind = node("172.18.0.2", "kind://docker/kind/kind-control-plane");
  expect(await hostIn({ nodes: [kind], own: {}, platform: "darwin" })).toBe("host.docker.internal");
  expect(await hostIn({ nodes: [kind], own: {}, platform: "linux" })).toBeUndefined();
});
