/**
 * Operators of other frameworks, unchanged, on the embedded API server: each reconciles Widgets of `bench.example.com`
 * into ConfigMaps, and the time until every status is ready is measured.
 *
 *     bun scripts/bench/apiserver/operators.ts --operator ../peers/kube-rs/run [--operator …] [--widgets 2000]
 *
 * An operator is a program that takes KUBECONFIG and PORT from its environment. Exits 1 when one does not finish.
 */
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import yargs from "yargs";
import { hideBin } from "yargs/helpers";
import { Client } from "./load.ts";
import { type Access, embedded } from "./servers.ts";

const root = join(import.meta.dirname, "..", "..", "..");
const { operator, widgets, binary, seconds } = await yargs(hideBin(process.argv))
  .scriptName("operators")
  .option("operator", { type: "string", array: true, demandOption: true, describe: "a program" })
  .option("widgets", { type: "number", default: 2_000 })
  .option("binary", { type: "string", default: join(root, "dist", "binnacle"), describe: "the compiled program" })
  .option("seconds", { type: "number", default: 120, describe: "how long an operator may take" })
  .strict()
  .parse();

const group = "bench.example.com";
const path = `/apis/${group}/v1/namespaces/default/widgets`;
const properties = {
  spec: { type: "object", properties: { size: { type: "integer" }, payload: { type: "string" } } },
  status: {
    type: "object",
    properties: { observedGeneration: { type: "integer" }, ready: { type: "boolean" }, child: { type: "string" } },
  },
};
const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `widgets.${group}` },
  spec: {
    group,
    scope: "Namespaced",
    names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: "object", properties } },
      },
    ],
  },
};

function kubeconfigOf({ url, ca, token }: Access): string {
  const authority = Buffer.from(ca).toString("base64");
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "bench", cluster: { server: url, "certificate-authority-data": authority } }],
    users: [{ name: "bench", user: { token } }],
    contexts: [{ name: "bench", context: { cluster: "bench", user: "bench" } }],
    "current-context": "bench",
  });
}

interface Widget {
  readonly metadata: { readonly generation: number };
  readonly status?: { readonly ready?: boolean; readonly observedGeneration?: number };
}

async function readyOf(client: Client): Promise<number> {
  const { items } = JSON.parse((await client.ask("GET", path)).toString()) as { items: readonly Widget[] };
  const isReady = ({ metadata, status }: Widget): boolean =>
    status?.ready === true && status.observedGeneration === metadata.generation;
  return items.filter(isReady).length;
}

async function measure(program: string): Promise<boolean> {
  const dir = await mkdtemp(join(tmpdir(), "operators-"));
  await using server = await embedded(binary, { isDurable: false }).start();
  await writeFile(join(dir, "kubeconfig"), kubeconfigOf(server.access), { mode: 0o600 });
  using client = new Client(server.access);
  await client.ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", JSON.stringify(definition));
  for (let index = 0; index < widgets; index++) {
    const spec = { size: 1, payload: "x".repeat(200) };
    const widget = { apiVersion: `${group}/v1`, kind: "Widget", metadata: { name: `widget-${index}` }, spec };
    await client.ask("POST", path, JSON.stringify(widget));
  }
  const before = await server.cost();
  const began = performance.now();
  const env = { ...process.env, KUBECONFIG: join(dir, "kubeconfig"), PORT: "18099", RUST_LOG: "error" };
  const child = spawn(program, [], { env, stdio: "ignore" });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  let ready = 0;
  while (ready < widgets && performance.now() - began < seconds * 1000) {
    await Bun.sleep(100);
    ready = await readyOf(client);
  }
  const ms = performance.now() - began;
  const own = await cpuOf(child.pid);
  const after = await server.cost();
  child.kill("SIGTERM");
  await exited;
  await rm(dir, { recursive: true, force: true });
  const cost = `${(after.cpu - before.cpu).toFixed(2)} s CPU, ${after.memory.toFixed(0)} MB`;
  console.log(`| ${program} | ${ready} of ${widgets} in ${ms.toFixed(0)} ms | ${own.toFixed(2)} s CPU | ${cost} |`);
  return ready === widgets;
}

async function cpuOf(pid: number | undefined): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  const fields = stat.split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / 100;
}

console.log("| operator | ready | operator's cost | server's cost |\n| --- | --- | --- | --- |");
const outcomes: boolean[] = [];
for (const program of operator) outcomes.push(await measure(program));
process.exitCode = outcomes.every(Boolean) ? 0 : 1;
