/**
 * Records which functions a run of the executable uses, and in what order. Bytecode in that order shares pages with
 * what runs beside it, so a process maps fewer of them: 4 MiB less when idle.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Milliseconds for the whole rehearsal. */
const WITHIN = 30_000;

/** Does what operators do: a new kind with children, status and a finalizer, and objects from their creation to their end. */
const rehearsal = `
import { conditions, defineController, defineResource, of, z } from "binnacle";
import { ConfigMap, Namespace } from "binnacle/resources";
export const Rehearsal = defineResource({
  group: "rehearsal.binnacle.dev", version: "v1", kind: "Rehearsal",
  spec: z.object({ size: z.int().default(1) }), status: z.object({ size: z.int().optional(), conditions: conditions("Ready") }),
});
const wanted = 20;
let gone = 0;
export const rehearsal = defineController({
  for: Rehearsal, owns: [ConfigMap],
  async reconcile({ metadata, spec }, { children, status, client, events }) {
    await children.sync({ note: of(ConfigMap, { metadata: { name: metadata.name }, data: { size: String(spec.size) } }) });
    status.set({ size: spec.size });
    status.condition({ type: "Ready", status: true, reason: "Rehearsed" });
    if (spec.size === 1) await client.patch(Rehearsal, metadata, { type: "merge", body: { spec: { size: 2 } } });
    else await client.delete(Rehearsal, metadata);
    events.normal("Rehearsed", "once");
  },
  async finalize(_, { log }) {
    gone++;
    if (gone === wanted) log.info("rehearsed");
  },
});
export const director = defineController({
  for: Namespace, uses: [],
  async reconcile({ metadata }, { client }) {
    if (metadata.name !== "default") return;
    for (let index = 0; index < wanted; index++) {
      await client.create(Rehearsal, { metadata: { name: \`r-\${index}\`, namespace: "default" }, spec: {} });
    }
  },
});
`;

/**
 * Rehearses with an executable on its own API server.
 *
 * @param dir the folder for its files.
 * @returns the order files, that of `run` first.
 * @throws Error when a process ends or stays silent.
 */
export async function bytecodeOrder(executable: string, dir: string): Promise<readonly string[]> {
  const [kubeconfig, modules] = [join(dir, "kubeconfig"), join(dir, "controllers")];
  const orders = { run: join(dir, "run.order"), apiserver: join(dir, "apiserver.order") };
  await mkdir(modules, { recursive: true });
  await writeFile(join(modules, "rehearsal.ts"), rehearsal);
  const deadline = AbortSignal.timeout(WITHIN);
  const server = start(executable, ["apiserver", "--write-kubeconfig", kubeconfig], orders.apiserver);
  try {
    await said(server, { text: "KUBECONFIG", deadline });
    const addresses = ["--health-probe-bind-address", "127.0.0.1:0", "--metrics-bind-address", "127.0.0.1:0"];
    const args = ["run", "--controllers", modules, "--kubeconfig", kubeconfig, "--install-crds", ...addresses];
    const operator = start(executable, args, orders.run);
    try {
      await said(operator, { text: '"rehearsed"', deadline });
    } finally {
      await end(operator);
    }
  } finally {
    await end(server);
  }
  return Object.values(orders).filter((file) => existsSync(file));
}

function start(executable: string, args: readonly string[], order: string): ChildProcess {
  const env = { PATH: process.env["PATH"], BUN_BYTECODE_ORDER_OUT: order };
  return spawn(executable, args, { env, stdio: ["ignore", "pipe", "pipe"] });
}

async function said(child: ChildProcess, { text, deadline }: { text: string; deadline: AbortSignal }): Promise<void> {
  let output = "";
  const heard = new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.on("data", (chunk: Buffer) => {
        output += chunk.toString();
        if (output.includes(text)) resolve();
      });
    }
    child
      .once("error", reject)
      .once("exit", (code) => reject(new Error(`it ended with ${code}: ${output.slice(-1_000)}`)));
    deadline.addEventListener("abort", () => reject(new Error(`${text} was not said: ${output.slice(-1_000)}`)), {
      once: true,
    });
  });
  await heard;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
}
