/** Tests webhooks under `binnacle dev`: on its own cluster without any set-up, and on another one without a trace. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { loadKubeconfig } from "../../src/kube/config/kubeconfig.ts";
import { createTransport, type Transport } from "../../src/kube/transport/transport.ts";
import { Bench } from "../support/binary.ts";
import { until } from "../support/until.ts";
import { available, Cluster } from "../support/cluster.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const VALIDATING = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
const ROUNDS = 12;

const policy = (refused: string): string => `
import { defineWebhook, Denied } from "binnacle";
import { ConfigMap } from "binnacle/resources";
export const policy = defineWebhook({
  for: ConfigMap,
  objectSelector: { matchLabels: { app: "policy" } },
  validate({ data }) { if (data?.what === "${refused}") throw new Denied("no ${refused} here"); },
});`;

interface Configuration {
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly webhooks: readonly { readonly failurePolicy: string; readonly clientConfig: { readonly url?: string } }[];
}

/** `binnacle dev` in a folder. */
class Dev implements AsyncDisposable {
  readonly child: Bun.Subprocess<"ignore", "pipe", "pipe">;
  text = "";

  constructor(bench: Bench, ...args: string[]) {
    this.child = Bun.spawn([join(bench.dir, "binnacle"), "dev", ...args], {
      cwd: bench.dir,
      env: { PATH: join(bench.dir, "nothing"), HOME: bench.dir },
      stdout: "pipe",
      stderr: "pipe",
    });
    for (const stream of [this.child.stdout, this.child.stderr]) void this.#read(stream);
  }

  async #read(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of stream) this.text += decoder.decode(chunk, { stream: true });
  }

  async end(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    this.child.kill(signal);
    await this.child.exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) await this.end();
  }
}

/** Returns what the API server says about an object; `created` when it is admitted. Nothing is stored. */
async function say(transport: Transport, what: string): Promise<string> {
  const metadata = { generateName: "a-", labels: { app: "policy" } };
  const body = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { what } };
  return transport.request({ method: "POST", path: MAPS, query: "dryRun=All", body }).then(
    () => "created",
    (error: unknown) => String(error),
  );
}

describe("on its own cluster", () => {
  let bench: Bench;
  let dev: Dev;
  let transport: Transport;

  beforeAll(async () => {
    bench = await Bench.create();
    await bench.write("controllers/policy.ts", policy("v0"));
    dev = new Dev(bench);
    await until(() => dev.text.includes("  try "), { what: () => dev.text, within: 90_000 });
    const kubeconfig = join(bench.dir, ".binnacle/kubeconfig");
    transport = createTransport(await loadKubeconfig({ kubeconfig, env: {} }));
    await until(async () => (await say(transport, "v0")).includes("no v0 here"), { what: () => dev.text });
  }, 180_000);

  afterAll(async () => {
    await transport?.close();
    await dev?.[Symbol.asyncDispose]();
    await bench?.[Symbol.asyncDispose]();
  });

  test("a webhook is registered by URL, with nothing to set up", async () => {
    const { items } = await transport.request<{ items: Configuration[] }>({ method: "GET", path: VALIDATING });
    expect(items).toHaveLength(1);
    expect(items[0]?.webhooks[0]?.failurePolicy).toBe("Fail");
    expect(items[0]?.webhooks[0]?.clientConfig.url).toStartWith("https://127.0.0.1:");
  });

  test("a handler that is saved is in force", async () => {
    const took: number[] = [];
    for (let round = 1; round <= ROUNDS; round++) {
      expect(await say(transport, `v${round}`)).toBe("created");
      expect(await say(transport, `v${round - 1}`)).toContain(`no v${round - 1} here`);
      const saved = performance.now();
      await bench.write("controllers/policy.ts", policy(`v${round}`));
      await until(async () => (await say(transport, `v${round - 1}`)) === "created", {
        what: () => dev.text,
        every: 1,
      });
      took.push(performance.now() - saved);
    }
    const sorted = took.toSorted((a, b) => a - b);
    console.log(
      `binnacle dev: a saved handler is in force after ${sorted[ROUNDS / 2]!.toFixed(0)} ms (p50), ` +
        `${sorted.at(-1)!.toFixed(0)} ms at the most of ${ROUNDS}`,
    );
  }, 180_000);

  test("a module that goes takes its registration along", async () => {
    await bench.remove("controllers/policy.ts");
    await until(
      async () =>
        (await transport.request<{ items: unknown[] }>({ method: "GET", path: VALIDATING })).items.length === 0,
      { what: () => dev.text },
    );
    expect(await say(transport, `v${ROUNDS}`)).toBe("created");
  }, 180_000);
});

describe.skipIf(!available)("on another cluster", () => {
  const own = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .find(({ family, internal }) => family === "IPv4" && !internal);
  let cluster: Cluster;
  let bench: Bench;
  let transport: Transport;

  beforeAll(async () => {
    [cluster, bench] = await Promise.all([Cluster.start({ controllers: false }), Bench.create()]);
    await bench.write("controllers/policy.ts", policy("v0"));
    transport = createTransport(await loadKubeconfig({ kubeconfig: cluster.kubeconfig, env: {} }));
  }, 180_000);

  afterAll(async () => {
    await transport?.close();
    await bench?.[Symbol.asyncDispose]();
    await cluster?.[Symbol.asyncDispose]();
  });

  const registered = async (): Promise<readonly Configuration[]> =>
    (await transport.request<{ items: Configuration[] }>({ method: "GET", path: VALIDATING })).items;
  const start = (...args: string[]): Dev => new Dev(bench, "--kubeconfig", cluster.kubeconfig, ...args);
  const inForce = (dev: Dev): Promise<unknown> =>
    until(async () => (await say(transport, "v0")).includes("no v0 here"), { what: () => dev.text });

  test("it is registered for this process alone, ignores failures, and is removed at the end", async () => {
    await using dev = start("--webhook-host", "127.0.0.1");
    await inForce(dev);
    const [found, ...others] = await registered();
    expect(others).toEqual([]);
    expect(found?.webhooks[0]?.failurePolicy).toBe("Ignore");
    expect(found?.metadata.annotations?.["binnacle.dev/owner"]).toContain(`/${dev.child.pid}/`);
    expect(Date.parse(found?.metadata.annotations?.["binnacle.dev/expires"] ?? "")).toBeGreaterThan(Date.now());
    await dev.end();
    expect(await registered()).toEqual([]);
    expect(await say(transport, "v0")).toBe("created");
  }, 180_000);

  test("what a crash leaves disturbs nobody, and is removed at the next start", async () => {
    const crashed = start("--webhook-host", "127.0.0.1");
    await inForce(crashed);
    await crashed.end("SIGKILL");
    expect(await registered()).toHaveLength(1);
    expect(await say(transport, "v0")).toBe("created");
    await bench.write("controllers/policy.ts", "export {};");
    await using next = start("--webhook-host", "127.0.0.1");
    await until(async () => (await registered()).length === 0, { what: () => next.text });
    // The output of the process is read concurrently.
    await until(() => next.text.includes("Removed a webhook registration that was left behind"), {
      what: () => next.text,
    });
    await next.end();
    await bench.write("controllers/policy.ts", policy("v0"));
  }, 180_000);

  test.skipIf(own === undefined)(
    "the address at which the nodes reach this machine is found",
    async () => {
      const node = { apiVersion: "v1", kind: "Node", metadata: { name: "kind-control-plane" } };
      await cluster.send("POST", "/api/v1/nodes", { body: node });
      const addresses = [{ type: "InternalIP", address: own!.address }];
      await cluster.send("PATCH", "/api/v1/nodes/kind-control-plane/status", {
        body: { status: { addresses } },
        type: "application/merge-patch+json",
      });
      await using dev = start();
      await inForce(dev);
      expect((await registered())[0]?.webhooks[0]?.clientConfig.url).toStartWith(`https://${own!.address}:`);
    },
    60_000,
  );
});
