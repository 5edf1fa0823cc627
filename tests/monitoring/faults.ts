/** The faults that the alerts are about, each as a run of the program in which it is provoked. */
import type { ALERTS } from "../../src/cli/deploy/monitoring/alerts.ts";
import { createAuthority, issue } from "binnacle-apiserver";
import { freePort, type Bench, type Operator } from "../support/binary.ts";
import type { Cluster } from "../support/cluster.ts";
import { FaultyProxy } from "../support/integration/faulty-proxy.ts";
import { TcpProxy } from "../support/tcp-proxy.ts";
import { kubeconfigOf, type Stage } from "./stage.ts";

/** What a fault can use. */
export interface FaultStage extends Stage {
  readonly cluster: Cluster;
  readonly bench: Bench;
  /** Ended when the recording is over. */
  readonly cleanup: AsyncDisposableStack;
}

/** The replicas of a run, and what happens while they are recorded. */
export interface Provoked {
  readonly replicas: readonly Operator[];
  /** Called at each scrape with the seconds since the first one. */
  readonly at?: (seconds: number) => unknown;
}

export interface Fault {
  readonly name: string;
  /** The alerts that it causes; no other may fire. */
  readonly alerts: readonly (typeof ALERTS)[number]["name"][];
  readonly provoke: (stage: FaultStage) => Promise<Provoked>;
}

/** When a fault begins that begins in the middle of a recording. */
const ONSET = 120;

/** Reconciles ConfigMaps with this label as their data say, those without a mode every 5 s. */
const greeting = (app: string): string => `
import { defineController, TerminalError, watch } from "binnacle";
import { ConfigMap } from "binnacle/resources";
export const greeting = defineController({
  name: "greeting", for: watch(ConfigMap, { labels: { app: "${app}" } }), timeout: "5s",
  async reconcile({ data }) {
    if (data?.mode === "fail") throw new Error("the other side does not answer");
    if (data?.mode === "park") throw new TerminalError("there is no such size");
    if (data?.mode === "hang") await new Promise(() => {});
    return { requeueAfter: "5s" };
  },
});`;

/** The modules of a controller of ConfigMaps with this label. */
export function greetingOf(app: string): Readonly<Record<string, string>> {
  return { "greeting.ts": greeting(app) };
}

/** Admits every LimitRange. */
const GENTLE = `
import { defineWebhook } from "binnacle";
import { LimitRange } from "binnacle/resources";
export const limits = defineWebhook({ for: LimitRange, validate() {} });`;

const LIMITS = `
import { defineWebhook } from "binnacle";
import { LimitRange } from "binnacle/resources";
export const limits = defineWebhook({ for: LimitRange, validate(range) {
  if (range.metadata.labels?.app === "throws") range.spec.limits[7].max.cpu.length;
} });`;

const HOST = `
import { defineResource, z } from "binnacle";
export const Host = defineResource({ group: "shop.example.com", kind: "Host", hub: "v1", storage: "v1", versions: {
  v1: { spec: z.object({ address: z.string() }) },
  v1beta1: { spec: z.object({ host: z.string() }),
    toHub: ({ spec: { host } }) => ({ spec: { address: host } }),
    fromHub({ spec: { address } }) {
      if (address === "broken") throw new Error("this host cannot be converted");
      return { spec: { host: address } };
    } } } });`;

/** Grows until nine tenths of its limit are in use, as a leak does. */
const LEAK = (limit: number): string => `
import { definePlugin } from "binnacle";
import { readFileSync } from "node:fs";
export const leak = definePlugin({ name: "leak", setup(registry) {
  registry.run(async ({ signal }) => {
    const kept = [];
    while (!signal.aborted) {
      const anonymous = Number(/RssAnon:\\s+(\\d+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? 0) * 1024;
      if (anonymous < ${limit} * 0.93) kept.push(new Uint8Array(1024 * 1024).fill(kept.length));
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  });
} });`;

const missing = `
import { defineController, foreignResource, z } from "binnacle";
export const Certificate = foreignResource({ group: "cert-manager.io", version: "v1", kind: "Certificate", schema: z.object({}) });
export const certificates = defineController({ name: "certificates", for: Certificate, async reconcile() {} });`;

const maps = "/api/v1/namespaces/default/configmaps";
const ranges = "/api/v1/namespaces/default/limitranges";

/** Creates ConfigMaps that the controller of {@link greeting} works, one for each mode. */
async function objects({ cluster }: FaultStage, app: string, ...modes: readonly string[]): Promise<void> {
  for (const [index, mode] of modes.entries()) {
    const metadata = { name: `${app}-${index}`, labels: { app } };
    await cluster.send("POST", maps, { body: { apiVersion: "v1", kind: "ConfigMap", metadata, data: { mode } } });
  }
}

const range = (app: string): object => ({
  apiVersion: "v1",
  kind: "LimitRange",
  metadata: { generateName: "range-", labels: { app } },
  spec: { limits: [] },
});

/** Runs one replica of a controller whose objects have these modes. */
const withModes =
  (...modes: readonly string[]) =>
  async (stage: FaultStage): Promise<Provoked> => {
    const { name, start } = stage;
    await objects(stage, name, ...modes);
    return { replicas: [await start({ files: greetingOf(name) })] };
  };

const webhookArgs = async (): Promise<readonly string[]> => {
  const port = await freePort();
  return [`--webhook-bind-address=127.0.0.1:${port}`, `--webhook-host=127.0.0.1:${port}`];
};

export const FAULTS: readonly Fault[] = [
  {
    name: "healthy",
    alerts: [],
    async provoke(stage) {
      const { cluster, name, start } = stage;
      await objects(stage, name, "", "", "");
      const files = { ...greetingOf(name), "limits.ts": GENTLE };
      const elect = ["--leader-elect", "--leader-election-id=healthy", "--leader-election-namespace=default"];
      const webhooks = await webhookArgs();
      const args = [...elect, "--memory-limit=1Gi"];
      const leader = await start({ files, args: [...args, ...webhooks, "--register-webhooks"] });
      const other = await start({ files: greetingOf(name), args });
      return {
        replicas: [leader, other],
        at: () => cluster.send("POST", `${ranges}?dryRun=All`, { body: range("fine") }),
      };
    },
  },
  { name: "failing", alerts: ["BinnacleRunsFailing"], provoke: withModes("fail", "", "", "", "", "") },
  { name: "parked", alerts: ["BinnacleKeysParked"], provoke: withModes("park", "", "") },
  { name: "stuck", alerts: ["BinnacleRunStuck"], provoke: withModes("hang", "", "") },
  {
    name: "suspended",
    alerts: ["BinnacleModuleBroken", "BinnacleRunsFailing"],
    provoke: withModes(...Array.from({ length: 12 }, () => "fail")),
  },
  {
    name: "leaderless",
    alerts: ["BinnacleNoLeader"],
    async provoke(stage) {
      const { cluster, name, start, cleanup } = stage;
      await objects(stage, name, "");
      const leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
      const spec = (): object => {
        const renewTime = new Date().toISOString().replace("Z", "000Z");
        return { holderIdentity: "another-operator", leaseDurationSeconds: 15, renewTime };
      };
      const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name }, spec: spec() };
      await cluster.send("POST", leases, { body: lease });
      const renewing = setInterval(() => void cluster.patch(`${leases}/${name}`, { spec: spec() }), 2_000);
      cleanup.defer(() => clearInterval(renewing));
      const args = ["--leader-elect", `--leader-election-id=${name}`, "--leader-election-namespace=default"];
      const files = greetingOf(name);
      return { replicas: [await start({ files, args }), await start({ files, args })] };
    },
  },
  {
    name: "shardless",
    alerts: ["BinnacleNoLeader"],
    async provoke(stage) {
      const { name, start, account } = stage;
      await objects(stage, name, "");
      const kubeconfig = await account(/leases/);
      const args = ["--shards=2", `--leader-election-id=${name}`, "--leader-election-namespace=default"];
      const files = greetingOf(name);
      return { replicas: [await start({ files, args, kubeconfig }), await start({ files, args, kubeconfig })] };
    },
  },
  {
    name: "silent",
    alerts: ["BinnacleApiServerSilent"],
    async provoke(stage) {
      const { cluster, name, start, cleanup } = stage;
      await objects(stage, name, "", "");
      const proxy = cleanup.use(await TcpProxy.start(cluster.plane.url));
      const kubeconfig = await kubeconfigOf(stage, { server: proxy.url });
      return {
        replicas: [await start({ files: greetingOf(name), kubeconfig })],
        at: (seconds) => seconds === ONSET && proxy.inject({ stalled: true }),
      };
    },
  },
  {
    name: "stalled",
    alerts: ["BinnacleInformerStalled"],
    async provoke(stage) {
      const { cluster, name, start, cleanup } = stage;
      await objects(stage, name, "", "");
      const proxy = cleanup.use(await FaultyProxy.start(cluster.plane));
      const { server, tls } = proxy.cluster;
      const kubeconfig = await kubeconfigOf(stage, { server, ca: tls.ca!, cert: tls.cert!, key: tls.key! });
      return {
        replicas: [await start({ files: greetingOf(name), kubeconfig })],
        at: (seconds) => seconds === ONSET && (proxy.delay = 3_600_000),
      };
    },
  },
  {
    name: "broken",
    alerts: ["BinnacleModuleBroken"],
    async provoke(stage) {
      const { name, start } = stage;
      await objects(stage, name, "");
      const broken = `throw new Error("there is no such size");`;
      return { replicas: [await start({ files: { ...greetingOf(name), "broken.ts": broken } })] };
    },
  },
  {
    name: "waiting",
    alerts: ["BinnacleModuleWaiting"],
    async provoke(stage) {
      const { name, start } = stage;
      await objects(stage, name, "");
      return { replicas: [await start({ files: { ...greetingOf(name), "missing.ts": missing } })] };
    },
  },
  {
    name: "forbidden",
    alerts: ["BinnacleModuleWaiting"],
    async provoke(stage) {
      const { name, start, account } = stage;
      const kubeconfig = await account(/^configmaps$/);
      return { replicas: [await start({ files: greetingOf(name), kubeconfig })] };
    },
  },
  {
    name: "webhook",
    alerts: ["BinnacleWebhookErrors"],
    async provoke({ cluster, start }) {
      const args = [...(await webhookArgs()), "--register-webhooks"];
      return {
        replicas: [await start({ files: { "limits.ts": LIMITS }, args })],
        at: (seconds) => {
          const body = range(seconds > ONSET ? "throws" : "fine");
          return cluster.send("POST", `${ranges}?dryRun=All`, { body }).catch(() => {}); // is refused
        },
      };
    },
  },
  {
    name: "conversion",
    alerts: ["BinnacleConversionErrors"],
    async provoke({ cluster, start }) {
      const args = [...(await webhookArgs()), "--install-crds"];
      const hosts = (version: string) => `/apis/shop.example.com/${version}/namespaces/default/hosts`;
      const host = (name: string, address: string): object => ({
        apiVersion: "shop.example.com/v1",
        kind: "Host",
        metadata: { name },
        spec: { address },
      });
      const replica = await start({ files: { "host.ts": HOST }, args });
      await cluster.exists("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/hosts.shop.example.com");
      return {
        replicas: [replica],
        async at(seconds) {
          if (seconds === 60) await cluster.send("POST", hosts("v1"), { body: host("fine", "10.0.0.1") });
          if (seconds === ONSET) await cluster.send("POST", hosts("v1"), { body: host("broken", "broken") });
          for (const name of ["fine", "broken"]) await cluster.get(`${hosts("v1beta1")}/${name}`).catch(() => {});
        },
      };
    },
  },
  {
    name: "unregistered",
    alerts: ["BinnacleWebhookNotRegistered"],
    async provoke({ start, account }) {
      const args = [...(await webhookArgs()), "--register-webhooks"];
      const kubeconfig = await account(/webhookconfigurations/);
      return { replicas: [await start({ files: { "limits.ts": LIMITS }, args, kubeconfig })] };
    },
  },
  {
    name: "certificate",
    alerts: ["BinnacleCertificateExpires"],
    async provoke({ bench, name, start }) {
      const authority = createAuthority("webhooks");
      const until = Date.now() + 3 * 24 * 3_600_000;
      const { cert, key } = issue(authority, { subject: { name: "webhooks" }, hosts: ["127.0.0.1"], until });
      await bench.write(`${name}-certs/tls.crt`, cert);
      await bench.write(`${name}-certs/tls.key`, key);
      await bench.write(`${name}-certs/ca.crt`, authority.cert);
      const args = [`--webhook-bind-address=127.0.0.1:${await freePort()}`, `--webhook-cert-path=${name}-certs`];
      return { replicas: [await start({ files: { "limits.ts": LIMITS }, args })] };
    },
  },
  {
    name: "memory",
    alerts: ["BinnacleMemoryNearLimit"],
    async provoke(stage) {
      const { name, start } = stage;
      await objects(stage, name, "");
      const files = { ...greetingOf(name), "leak.ts": LEAK(200 * 2 ** 20) };
      return { replicas: [await start({ files, args: ["--memory-limit=200Mi"] })] };
    },
  },
  {
    name: "down",
    alerts: ["BinnacleDown"],
    async provoke(stage) {
      const { name, start } = stage;
      await objects(stage, name, "", "");
      const replica = await start({ files: greetingOf(name) });
      return { replicas: [replica], at: (seconds) => seconds === ONSET && replica.signal("SIGKILL") };
    },
  },
];
