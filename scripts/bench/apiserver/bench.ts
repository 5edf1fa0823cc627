/**
 * The embedded API server beside etcd and kube-apiserver: time, CPU and memory of the same work, a fresh server for each
 * line. CPU is that of the servers' processes during the work, memory their peak.
 *
 *     bun scripts/bench/apiserver/bench.ts [--binary dist/binnacle] [--objects 10000] [--watchers 100] [--events 1000]
 */
import { spawnSync } from "node:child_process";
import { cpus } from "node:os";
import { join } from "node:path";
import yargs from "yargs";
import { hideBin } from "yargs/helpers";
import { Client, createMany, listMany, watchMany } from "./load.ts";
import { embedded, type Measured, realPair, type Started } from "./servers.ts";

const root = join(import.meta.dirname, "..", "..", "..");
const { binary, objects, watchers, events, only } = await yargs(hideBin(process.argv))
  .scriptName("bench")
  .option("binary", { type: "string", default: join(root, "dist", "binnacle"), describe: "the compiled program" })
  .option("objects", { type: "number", default: 10_000 })
  .option("watchers", { type: "number", default: 100 })
  .option("events", { type: "number", default: 1_000 })
  .option("only", { type: "string", default: "", describe: "only lines whose name has this" })
  .strict()
  .parse();

interface Line {
  readonly name: string;
  /** Prepares objects before the measurement. */
  prepare?(started: Started): Promise<void>;
  run(started: Started): Promise<void>;
}

const lists = 5;

const lines: readonly Line[] = [
  { name: "start to first answer", run: async () => undefined },
  {
    name: `${objects} creates`,
    async run({ access }) {
      using client = new Client(access);
      await createMany(client, objects);
    },
  },
  {
    name: `list of ${objects}, ${lists} times`,
    async prepare({ access }) {
      using client = new Client(access);
      await createMany(client, objects);
    },
    async run({ access }) {
      using client = new Client(access);
      await listMany(client, { count: objects, times: lists });
    },
  },
  {
    name: `${watchers} watchers × ${events} events`,
    run: async ({ access }) => await watchMany(access, { watchers, events }),
  },
];

interface Result {
  readonly ms: number;
  readonly cpu: number;
  readonly memory: number;
}

async function measure(line: Line, server: Measured): Promise<Result> {
  await using started = await server.start();
  if (line.name.startsWith("start")) return { ms: started.startedIn, ...(await started.cost()) };
  await line.prepare?.(started);
  const before = await started.cost();
  const began = performance.now();
  await line.run(started);
  const ms = performance.now() - began;
  const { cpu, memory } = await started.cost();
  return { ms, cpu: cpu - before.cpu, memory };
}

/** Runs in a process of its own: loading the server, creating it, and its first response. */
function inProcess(): string {
  const script = `
    const began = performance.now();
    const { createApiServer } = await import(${JSON.stringify(join(root, "src", "embedded", "apiserver", "server.ts"))});
    const loaded = performance.now();
    await using server = await createApiServer();
    const response = await server.fetch(new Request("http://server/api/v1/namespaces/default"));
    await response.json();
    const answered = performance.now();
    console.log(JSON.stringify([loaded - began, answered - loaded]));`;
  const times = Array.from({ length: 5 }, () => {
    const { stdout } = spawnSync(process.execPath, ["-e", script], { encoding: "utf8", cwd: root });
    return JSON.parse(stdout) as [number, number];
  }).toSorted(([a, b], [c, d]) => a + b - c - d);
  const [load, start] = times[2] ?? [0, 0];
  return `in process, from source: ${start.toFixed(0)} ms, after ${load.toFixed(0)} ms of imports`;
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

function shown({ ms, cpu, memory }: Result): string {
  return `${ms.toFixed(0)} ms, ${cpu.toFixed(2)} s CPU, ${memory.toFixed(0)} MB`;
}

console.log(`${cpus().length} × ${cpus()[0]?.model}, Bun ${Bun.version}`);
if ("start in process".includes(only)) console.log(inProcess());
for (const isDurable of [false, true]) {
  const servers = [embedded(binary, { isDurable }), realPair({ isDurable })];
  console.log(`\n${row(["", ...servers.map(({ name }) => name)])}\n${row(["---", "---", "---"])}`);
  for (const line of lines.filter(({ name }) => name.includes(only))) {
    const cells: string[] = [];
    for (const server of servers) cells.push(shown(await measure(line, server)));
    console.log(row([line.name, ...cells]));
  }
}
