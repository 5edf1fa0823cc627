/**
 * Tests the binary within the limits of a container: of its memory, which it says is nearly used up before the kernel kills
 * it, and of a fraction of a processor, with which it keeps its Lease and answers probes.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { listenApiServer } from "binnacle-apiserver";
import { Bench, freePort, Operator } from "../support/binary.ts";
import { ControlGroup, type GroupLimits } from "../support/cgroups.ts";
import { until } from "../support/until.ts";

/** Takes a MiB every 50 ms while the file is there, and lets go of all when it is not. */
const GREEDY = `
import { existsSync } from "node:fs";
import { definePlugin } from "binnacle";
let taken = [];
export const greedy = definePlugin({ name: "greedy", setup() {
  setInterval(() => {
    if (existsSync("grow")) taken.push(new Uint8Array(1024 * 1024).fill(1));
    else taken = [];
  }, 50);
} });`;

/** Each run takes some 20 ms of a whole processor. */
const BUSY = `
import { defineController, defineResource, z } from "binnacle";
export const Ticket = defineResource({ group: "limits.binnacle.dev", version: "v1", kind: "Ticket",
  spec: z.object({}), status: z.object({ turn: z.int().optional() }) });
let sum = 1;
export const ticket = defineController({ for: Ticket, concurrency: 8,
  async reconcile(_, { status }) {
    for (let index = 0; index < 10_000_000; index++) sum = (sum * 31 + index) | 0;
    status.set({ turn: 1 });
    return { requeueAfter: 100 };
  } });`;

const TICKETS = "/apis/limits.binnacle.dev/v1/namespaces/default/tickets";
const LEASE = "/apis/coordination.k8s.io/v1/namespaces/default/leases/limits";
const OBJECTS = 100;
const PROBES = 20;

const tried = await ControlGroup.make({ memory: 64, cpu: 0.5 });
const isAvailable = typeof tried !== "string";
if (isAvailable) await tried[Symbol.asyncDispose]();
else console.log(`Skipped: tests of a container's limits (${tried})`);

describe.skipIf(!isAvailable)("the limits of a container", () => {
  let bench: Bench;
  let server: Awaited<ReturnType<typeof listenApiServer>>;
  beforeAll(async () => {
    bench = await Bench.create();
    await bench.write("greedy/greedy.ts", GREEDY);
    await bench.write("busy/busy.ts", BUSY);
    server = await listenApiServer();
    await bench.write("kubeconfig", server.kubeconfig);
  });
  afterAll(async () => {
    await server?.stop();
    await bench?.[Symbol.asyncDispose]();
  });

  const send = async (method: string, path: string, body?: object): Promise<unknown> => {
    const init = { method, headers: { "content-type": "application/json" } };
    const request = new Request(
      `http://embedded${path}`,
      body === undefined ? init : { ...init, body: JSON.stringify(body) },
    );
    const response = await server.server.fetch(request);
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };

  async function start(limits: GroupLimits, args: readonly string[]) {
    const group = await ControlGroup.make(limits);
    if (typeof group === "string") throw new Error(group);
    const [health, metrics] = [await freePort(), await freePort()];
    const addresses = [
      "--health-probe-bind-address",
      `127.0.0.1:${health}`,
      "--metrics-bind-address",
      `127.0.0.1:${metrics}`,
    ];
    const child = Bun.spawn(
      [
        ...group.command,
        "./binnacle",
        "run",
        "--kubeconfig",
        "kubeconfig",
        "--log-format",
        "json",
        ...addresses,
        ...args,
      ],
      { cwd: bench.dir, env: { PATH: "/usr/bin:/bin", HOME: bench.dir }, stdout: "pipe", stderr: "pipe" },
    );
    const operator = new Operator(child, { health, metrics });
    const dispose = async (): Promise<void> => {
      await operator[Symbol.asyncDispose]();
      await group[Symbol.asyncDispose]();
    };
    return { operator, [Symbol.asyncDispose]: dispose };
  }

  test("128 MiB: memory that is nearly used up shows, once for each time, before the kernel kills", async () => {
    await using running = await start({ memory: 128 }, ["--controllers", "greedy"]);
    const { operator } = running;
    await operator.ready();
    expect(await operator.metric("binnacle_memory_limit_bytes")).toBe(128 * 2 ** 20);
    const warnings = () => operator.log.filter(({ level, limit }) => level === "warn" && limit === "128 MiB");
    // It grows until the warning, which comes at nine tenths, and lets go.
    await bench.write("grow", "");
    await until(() => warnings().length === 1, {
      what: () => `a warning:\n${operator.text}`,
      every: 5,
      within: 60_000,
    });
    await rm(`${bench.dir}/grow`);
    await until(() => operator.log.some(({ msg }) => msg === "There is enough memory again"), {
      what: () => `memory is free again:\n${operator.text}`,
      within: 60_000,
    });
    expect(await operator.metric("binnacle_memory_warnings_total")).toBe(1);
    expect(await operator.metric("binnacle_memory_collections_total")).toBeGreaterThan(0);
    expect(warnings()[0]).toMatchObject({ used: expect.stringMatching(/^1\d\d MiB$/) });
    await bench.write("grow", "");
    await operator.child.exited;
    expect(operator.child.signalCode).toBe("SIGKILL");
    await until(() => warnings().length === 2, { what: () => `the second warning:\n${operator.text}` });
  }, 240_000);

  test("a fifth of a processor: a busy queue costs neither the Lease nor the answers to probes", async () => {
    const election = ["--leader-elect", "--leader-election-id=limits", "--leader-election-namespace=default"];
    await using running = await start({ cpu: 0.2 }, ["--controllers", "busy", "--install-crds", ...election]);
    const { operator } = running;
    await operator.ready();
    for (let index = 0; index < OBJECTS; index++) {
      const metadata = { name: `t${index}` };
      await send("POST", TICKETS, { apiVersion: "limits.binnacle.dev/v1", kind: "Ticket", metadata, spec: {} });
    }
    const runs = () => operator.metric("controller_runtime_reconcile_total", { controller: "ticket" });
    await until(async () => (await runs()) > 10, {
      what: () => `it leads and runs:\n${operator.text}`,
      within: 60_000,
    });
    const failed: string[] = [];
    let slowest = 0;
    for (let count = 0; count < PROBES; count++) {
      for (const path of ["/livez", "/readyz"]) {
        const began = performance.now();
        const { status } = await operator.health(path);
        slowest = Math.max(slowest, performance.now() - began);
        if (status !== 200) failed.push(`${path}: ${status}`);
      }
      await Bun.sleep(500); // as a kubelet, which asks every few seconds
    }
    // The manifests give an answer 5 s; how long it takes here depends on what else the machine does.
    console.log(`the slowest of ${2 * PROBES} probes took ${Math.round(slowest)} ms`);
    expect(failed).toEqual([]);
    expect(operator.log.filter(({ msg }) => msg.includes("lost the lead"))).toEqual([]);
    expect(await operator.metric("leader_election_master_status")).toBe(1);
    expect(await send("GET", LEASE)).toMatchObject({ spec: { leaseTransitions: 0 } });
  }, 180_000);
});
