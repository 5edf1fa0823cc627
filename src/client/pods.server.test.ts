import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { allow, isConflict, isTooManyRequests, type ObjectContext } from "binnacle";
import { Pod } from "binnacle/resources";
import { until } from "../../tests/support/until.ts";
import type { Cluster } from "../../tests/support/cluster.ts";
import { Behaviours, boxController, type BoxShape, Lab, servers } from "../../tests/support/integration/lab.ts";
import { type LoopbackServer, sendStatus, startLoopback } from "../../tests/support/loopback-server.ts";
import type { ShapeOf } from "../controller/definition.ts";
import { loadKubeconfig } from "../kube/config/kubeconfig.ts";
import { createTransport } from "../kube/transport/transport.ts";
import type { ConfigMap } from "../resource/builtin/core.ts";

type Context = ObjectContext<BoxShape, ShapeOf<typeof ConfigMap>>;

const PODS = "/api/v1/namespaces/default/pods";
const at = (name: string) => ({ namespace: "default", name });

describe.each(servers)("pods on the %s server", (server) => {
  const behaviours = new Behaviours();
  let lab: Lab;

  beforeAll(async () => {
    const uses = [allow(Pod, "get", "delete", "eviction/create", "log/get")];
    lab = await Lab.start(behaviours, [boxController(behaviours, { uses, retry: { first: "1h", max: "1h" } })], {
      server,
    });
    const account = { body: { metadata: { name: "default" } } };
    await lab.cluster.send("POST", "/api/v1/namespaces/default/serviceaccounts", account).catch(() => {});
  }, 240_000);
  afterAll(async () => await lab?.[Symbol.asyncDispose]());

  async function run(name: string, code: (context: Context) => Promise<void>): Promise<void> {
    await lab.box(name, async (_, context) => code(context));
    const failure = behaviours.failures.get(name);
    if (failure !== undefined) throw failure;
  }

  async function pod(name: string, nodeName?: string): Promise<void> {
    const spec = { containers: [{ name: "web", image: "web" }], nodeName, terminationGracePeriodSeconds: 0 };
    await lab.cluster.send("POST", PODS, { body: { metadata: { name, labels: { app: name } }, spec } });
    const status = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
    const type = "application/strategic-merge-patch+json";
    await lab.cluster.send("PATCH", `${PODS}/${name}/status`, { body: { status }, type });
  }

  test("evict removes a pod, unless it is another one or a PodDisruptionBudget forbids it", async () => {
    await pod("evicted");
    const budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
    const selector = { matchLabels: { app: "evicted" } };
    await lab.cluster.send("POST", budgets, { body: { metadata: { name: "b" }, spec: { minAvailable: 1, selector } } });
    const allowing = async (disruptionsAllowed: number): Promise<void> => {
      const counts = { currentHealthy: 1 + disruptionsAllowed, desiredHealthy: 1, expectedPods: 1 };
      const body = { status: { observedGeneration: 1, disruptionsAllowed, ...counts } };
      await lab.cluster.send("PATCH", `${budgets}/b/status`, { body, type: "application/merge-patch+json" });
    };
    await allowing(0);
    await run("evict", async ({ client }) => {
      const refused = await client.evict(at("evicted")).catch((error: unknown) => error);
      expect(isTooManyRequests(refused)).toBe(true);
      await allowing(5); // each attempt takes one
      const other = await client
        .evict(at("evicted"), { preconditions: { uid: "other" } })
        .catch((error: unknown) => error);
      expect(isConflict(other)).toBe(true);
      await client.evict(at("evicted"), { dryRun: true });
      expect((await client.get(Pod, at("evicted"))).metadata.deletionTimestamp).toBeUndefined();
      await client.evict(at("evicted"), { gracePeriodSeconds: 0 });
      expect(await client.find(Pod, at("evicted"))).toBeUndefined();
    });
  });

  // Only a real server asks a kubelet: here one that plays the part behind the real protocol.
  if (server === "real") describe("logs", logs);

  function logs(): void {
    let kubelet: LoopbackServer;
    const rest = Promise.withResolvers<void>();
    let closed = 0;

    beforeAll(async () => {
      kubelet = await startLoopback(
        async ({ path, query }, reply) => {
          if (!path.endsWith("/default/logged/web")) return sendStatus(reply, 404, { reason: "NotFound" });
          reply.on("close", () => closed++);
          reply.writeHead(200, { "content-type": "text/plain" });
          const text = Buffer.from("one\ntwö\nthree");
          reply.write(text.subarray(0, 7)); // in the middle of a letter
          await Bun.sleep(20);
          reply.write(text.subarray(7));
          if (query.get("follow") === "true") await rest.promise;
          reply.end(query.get("timestamps") === "true" ? " at noon" : " o'clock\n");
        },
        { protocol: "http/1.1" },
      );
      const port = Number(new URL(kubelet.config.server).port);
      await lab.cluster.send("POST", "/api/v1/nodes", { body: { metadata: { name: "n" } } });
      const addresses = [{ type: "InternalIP", address: "127.0.0.1" }];
      const status = { addresses, daemonEndpoints: { kubeletEndpoint: { Port: port } } };
      const type = "application/merge-patch+json";
      await lab.cluster.send("PATCH", "/api/v1/nodes/n/status", { body: { status }, type });
      await pod("logged", "n");
    });
    afterAll(async () => await kubelet?.[Symbol.asyncDispose]());

    test("come line by line, with the options that were asked for", async () => {
      await run("logs", async ({ client }) => {
        const lines = await Array.fromAsync(client.logs(at("logged"), { tailLines: 3, timestamps: true }));
        expect(lines).toEqual(["one", "twö", "three at noon"]);
      });
      expect(kubelet.lines.at(-1)).toBe("GET /containerLogs/default/logged/web?tailLines=3&timestamps=true");
    });

    test("are followed until the container ends, or nobody reads on", async () => {
      const seen: string[] = [];
      await run("followed", async ({ client }) => {
        for await (const line of client.logs(at("logged"), { follow: true })) {
          seen.push(line);
          if (line === "twö") rest.resolve(); // the end comes after what was read
        }
        expect(seen).toEqual(["one", "twö", "three o'clock"]);
        const before = closed;
        for await (const line of client.logs(at("logged"), { follow: true })) if (line === "one") break;
        await until(() => closed > before, { what: "an end of the stream" });
      });
    });

    // The kubelet's side of exec is SPDY, which is not played here: so far as the API server carries it by itself.
    test("exec speaks the real server's protocol: a pod that is not there, and a kubelet that refuses", async () => {
      const transport = createTransport(
        await loadKubeconfig({ kubeconfig: (lab.cluster as Cluster).kubeconfig, env: {} }),
      );
      try {
        const open = async (name: string): Promise<string> => {
          let result = "";
          const { closed } = await transport.channels({
            path: `${PODS}/${name}/exec`,
            query: new URLSearchParams({ command: "ls", stdout: "true" }),
            onMessage: (channel, bytes) => void (result += `${channel} ${Buffer.from(bytes).toString()}`),
          });
          await closed;
          return result;
        };
        expect(await open("none").catch(String)).toContain('pods "none" not found');
        expect(await open("logged")).toMatch(/^3 \{.*"status":"Failure".*unable to upgrade connection/);
      } finally {
        await transport.close();
      }
    });

    test("of a pod that is not there, or has no such container, fail", async () => {
      await run("unlogged", async ({ client }) => {
        const read = (name: string, container?: string) =>
          Array.fromAsync(client.logs(at(name), { container })).catch(String);
        expect(await read("none")).toContain('pods "none" not found');
        expect(await read("logged", "other")).toContain("container other is not valid for pod logged");
      });
    });
  }
});
