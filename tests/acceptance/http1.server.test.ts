/** Tests a real API server that speaks only HTTP/1.1: everything works there, over other connections. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { isApiError } from "../../src/kube/errors/api-error.ts";
import { loadKubeconfig } from "../../src/kube/config/kubeconfig.ts";
import { createTransport, type Transport } from "../../src/kube/transport/transport.ts";
import { Bench, type Operator } from "../support/binary.ts";
import { available, Cluster } from "../support/cluster.ts";

const GUESTBOOKS = "/apis/demo.binnacle.dev/v1/namespaces/default/guestbooks";
const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases";

describe.skipIf(!available)("an API server without HTTP/2", () => {
  let cluster: Cluster;
  let bench: Bench;
  let operator: Operator;
  let transport: Transport;

  beforeAll(async () => {
    [cluster, bench] = await Promise.all([Cluster.start({ flags: ["--disable-http2-serving=true"] }), Bench.create()]);
    transport = createTransport(await loadKubeconfig({ kubeconfig: cluster.kubeconfig, env: {} }));
    await bench.example("guestbook");
    operator = await bench.run({ kubeconfig: cluster.kubeconfig, args: ["--install-crds"] });
    await operator.ready();
  }, 180_000);

  afterAll(async () => {
    await operator?.[Symbol.asyncDispose]();
    await transport?.close();
    await bench?.[Symbol.asyncDispose]();
    await cluster?.[Symbol.asyncDispose]();
  });

  test("the binary installs its CRDs, lists, watches and writes", async () => {
    await cluster.send("POST", GUESTBOOKS, {
      body: {
        apiVersion: "demo.binnacle.dev/v1",
        kind: "Guestbook",
        metadata: { name: "one" },
        spec: { message: "hi" },
      },
    });
    await cluster.exists(`${DEPLOYMENTS}/one`, ({ spec }) => spec?.["replicas"] === 1);
    await cluster.patch(`${GUESTBOOKS}/one`, { spec: { replicas: 3 } });
    await cluster.exists(`${DEPLOYMENTS}/one`, ({ spec }) => spec?.["replicas"] === 3);
    await cluster.send("DELETE", `${DEPLOYMENTS}/one`);
    await cluster.exists(`${DEPLOYMENTS}/one`);
    await cluster.send("DELETE", `${GUESTBOOKS}/one`);
    await cluster.gone(`${GUESTBOOKS}/one`);
    expect(operator.log.filter(({ level }) => level === "error")).toEqual([]);
  }, 180_000);

  test("a list, a burst of requests and the Lease are answered", async () => {
    const list = await transport.request<{ items: unknown[] }>({
      method: "GET",
      path: "/api/v1/namespaces",
      traffic: "list",
    });
    expect(list.items.length).toBeGreaterThan(0);
    const many = await Promise.all(
      Array.from({ length: 300 }, () =>
        transport.request<{ kind: string }>({ method: "GET", path: "/api/v1/namespaces/default" }),
      ),
    );
    expect(new Set(many.map(({ kind }) => kind))).toEqual(new Set(["Namespace"]));
    const lease = {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: "mine" },
      spec: { holderIdentity: "me" },
    };
    await transport.request({ method: "POST", path: LEASES, body: lease, traffic: "lease" });
    const held = await transport.request<typeof lease>({ method: "GET", path: `${LEASES}/mine`, traffic: "lease" });
    expect(held.spec.holderIdentity).toBe("me");
    expect(transport.stats.protocol).toBe("http/1.1");
  }, 180_000);

  test("a watch tells changes, and ends with its signal", async () => {
    const stop = new AbortController();
    const seen: string[] = [];
    const ended = transport
      .stream({
        method: "GET",
        path: "/api/v1/namespaces/default/configmaps",
        query: "watch=true",
        signal: stop.signal,
        onChunk: (chunk) => {
          seen.push(Buffer.from(chunk).toString());
          if (seen.join("").includes('"watched"')) stop.abort(new Error("seen"));
        },
      })
      .catch((error: Error) => error.message);
    await cluster.send("POST", "/api/v1/namespaces/default/configmaps", { body: { metadata: { name: "watched" } } });
    expect(await ended).toBe("seen");
  }, 180_000);

  test("exec reaches the server, whose answer is told", async () => {
    const pod = { metadata: { name: "idle" }, spec: { containers: [{ name: "c", image: "i" }] } };
    await cluster.send("POST", "/api/v1/namespaces/default/pods", { body: pod });
    const error = await transport
      .channels({
        path: "/api/v1/namespaces/default/pods/idle/exec",
        query: new URLSearchParams({ command: "true", stdout: "true", container: "c" }),
        onMessage() {},
      })
      .catch((thrown: unknown) => thrown);
    // There is no kubelet behind this server.
    expect(isApiError(error)).toBe(true);
    expect((error as Error).message).toContain("does not have a host assigned");
  }, 180_000);
});
