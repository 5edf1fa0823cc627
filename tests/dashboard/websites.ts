/** A process with a dashboard: controllers of websites, of which some fail, are parked or miss something. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  conditions,
  defineController,
  defineKeyController,
  defineResource,
  of,
  TerminalError,
  watch,
  z,
} from "binnacle";
import { ConfigMap, Deployment } from "binnacle/resources";
import { RunHistory } from "../../src/history/run-history.ts";
import { Manager } from "../../src/manager/manager.ts";
import { collectDefinitions } from "../../src/module/module-definitions.ts";
import { createLog } from "../../src/observe/log.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { startCluster, type TestCluster } from "../../src/testing/index.ts";
import { until } from "../support/until.ts";

/** What a message would have to contain to become a part of the page. */
export const HOSTILE = `<script>document.title = "taken"</script><img src=x onerror='document.title="taken"'> "quoted" & 'so'`;

/** A key that would break out of an attribute. */
export const WORD = `<b onclick=x>bold</b> "a" 'b'`;

export const Website = defineResource({
  group: "demo.example.com",
  version: "v1",
  kind: "Website",
  spec: z.object({ text: z.string(), replicas: z.int().default(1) }),
  status: z.object({ readyReplicas: z.int().optional(), conditions: conditions("Ready") }),
});

export interface WebsiteProcess extends AsyncDisposable {
  readonly cluster: TestCluster;
  readonly manager: Manager;
  /** The address of the page, without the token. */
  readonly origin: string;
  /** The names of websites whose controller does not fail any more. */
  readonly healed: Set<string>;
  create(name: string, spec: { readonly text: string; readonly replicas?: number }): Promise<void>;
  /** Creates a website of each sort, so many as were asked for. */
  createAll(count: number): Promise<void>;
  /** Asks the debug listener. */
  ask<T>(path: string): Promise<T>;
}

/** Starts the process, on a cluster of its own. */
export async function startWebsites(): Promise<WebsiteProcess> {
  await using stack = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "dashboard-"));
  stack.defer(() => rmSync(folder, { recursive: true }));
  const before = process.env["XDG_RUNTIME_DIR"];
  process.env["XDG_RUNTIME_DIR"] = folder;
  stack.defer(() => {
    if (before === undefined) delete process.env["XDG_RUNTIME_DIR"];
    else process.env["XDG_RUNTIME_DIR"] = before;
  });
  const cluster = stack.use(await startCluster({ pods: false }));
  const log = createLog({ level: "debug", format: "json", write: () => {} });
  const manager = new Manager({
    cluster: cluster.config,
    log,
    rootLog: log,
    history: new RunHistory({ bytes: 2 ** 23, clock: systemClock, replica: "here" }),
    settings: { "grace-period": 1_000, "debug-bind-address": "127.0.0.1:0", "install-crds": true },
    isolate: false,
  });
  stack.defer(() => manager.stop());
  await manager.start();
  const healed = new Set<string>();
  await addModule(manager, "websites.ts", [Website, websites(healed)]);
  await addModule(manager, "words.ts", [words()]);
  manager.loaded();
  await until(() => manager.modules.controllers.every(({ hasSynced }) => hasSynced));
  const origin = `http://${manager.address("debug")!}`;
  const create: WebsiteProcess["create"] = async (name, spec) => {
    await cluster.client.create(Website, { metadata: { name, namespace: "default" }, spec });
  };
  const moved = stack.move();
  return {
    cluster,
    manager,
    origin,
    healed,
    create,
    async createAll(count) {
      const names = Array.from({ length: count }, (_, index) => SORTS[index] ?? `fails-${index}`);
      for (let at = 0; at < count; at += 100)
        await Promise.all(names.slice(at, at + 100).map((name) => create(name, { text: "hello", replicas: 2 })));
    },
    ask: async <T>(path: string) => (await fetch(`${origin}${path}`)).json() as Promise<T>,
    [Symbol.asyncDispose]: () => moved.disposeAsync(),
  };
}

/** The name of a website decides what becomes of it. */
const SORTS = [
  "shop",
  "blog",
  "parked-by-its-controller",
  "waits-for-its-deployment",
  "fails-again-and-again",
  "docs",
  "hostile",
  "later",
  "a-website-with-a-name-that-is-as-long-as-names-of-objects-in-a-cluster-come-to-be-in-practice",
  "wiki",
];

function websites(healed: ReadonlySet<string>) {
  return defineController({
    for: Website,
    owns: [ConfigMap, Deployment],
    retry: { first: "1h" },
    async reconcile({ metadata: { name }, spec: { text, replicas } }, { children, status, events, log }) {
      const isHealed = healed.has(name);
      log.info("Writing the page", { text });
      if (name.startsWith("parked") && !isHealed) {
        status.condition({
          type: "Ready",
          status: false,
          reason: "BadText",
          message: `The text "${text}" is forbidden`,
        });
        throw new TerminalError(`the text "${text}" is forbidden by the policy of the house`);
      }
      if (name.startsWith("fails") && !isHealed) throw new Error("cannot reach the registry of texts: ECONNREFUSED");
      if (name === "hostile") {
        events.warning("Odd", HOSTILE);
        log.warn(HOSTILE, { text: HOSTILE });
        status.condition({ type: "Ready", status: false, reason: "Odd", message: HOSTILE });
        throw new TerminalError(HOSTILE);
      }
      const page = of(ConfigMap, { metadata: { name: `${name}-page` }, data: { text } });
      const template = {
        metadata: { labels: { app: name.slice(0, 63) } },
        spec: { containers: [{ name: "web", image: "registry.example.com/web:1" }] },
      };
      const selector = { matchLabels: { app: name.slice(0, 63) } };
      const server = of(Deployment, { metadata: { name }, spec: { replicas, selector, template } });
      const waits = name.startsWith("waits");
      await children.sync({ page, server: waits ? server : undefined });
      status.set({ readyReplicas: waits ? 0 : replicas });
      status.condition(
        waits
          ? {
              type: "Ready",
              status: false,
              reason: "NoPods",
              message: "0 of 2 pods are ready: none could be scheduled",
            }
          : { type: "Ready", status: true, reason: "Served" },
      );
      return name === "later" ? { requeueAfter: "1h" } : undefined;
    },
  });
}

/** Has keys that no object is called by. */
function words() {
  return defineKeyController({
    name: "words",
    watches: [
      watch(Website, {
        enqueue: ({ metadata: { name } }) => (name === "hostile" ? [{ name: WORD }] : []),
      }),
    ],
    async reconcile() {
      throw new TerminalError("no such word");
    },
  });
}

async function addModule(manager: Manager, name: string, exports: readonly unknown[]): Promise<void> {
  const definitions = collectDefinitions(exports as never);
  await manager.add({ name, file: name, definitions, invoke: (fn) => fn(), dispose() {} });
}
