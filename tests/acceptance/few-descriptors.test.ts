/** Tests a process that may open 20 files: it works, survives a neighbour that takes all remaining ones, and works afterwards. */
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { expect, test } from "bun:test";
import { listenApiServer } from "binnacle-apiserver";
import { Bench, freePort, Operator } from "../support/binary.ts";
import { until } from "../support/until.ts";

const MODULE = `
import { defineController, defineResource, z } from "binnacle";
export const Ticket = defineResource({ group: "few.binnacle.dev", version: "v1", kind: "Ticket",
  spec: z.object({ turn: z.int() }), status: z.object({ turn: z.int().optional() }) });
export const ticket = defineController({ for: Ticket, async reconcile({ spec }, { status }) { status.set({ turn: spec.turn }); } });`;

const TICKETS = "/apis/few.binnacle.dev/v1/namespaces/default/tickets";
const CONNECTIONS = 100;

/** Returns the CPU seconds of a process so far. */
function cpuOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const [user, system] = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .slice(11, 13)
    .map(Number);
  return (user! + system!) / 100;
}

test("ulimit -n 20: reconciles, also while all descriptors are taken, and answers again when they are free", async () => {
  await using bench = await Bench.create();
  await bench.write("controllers/ticket.ts", MODULE);
  const listening = await listenApiServer();
  await using _stop = { [Symbol.asyncDispose]: () => listening.stop() };
  const kubeconfig = await bench.write("kubeconfig", listening.kubeconfig);
  const send = async (method: string, path: string, body?: object): Promise<Response> =>
    listening.server.fetch(
      new Request(`http://embedded${path}`, {
        method,
        headers: { "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json" },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
  const [health, metrics] = [await freePort(), await freePort()];
  const flags = [
    ["--controllers", "controllers"],
    ["--kubeconfig", kubeconfig],
    ["--log-format", "json"],
    ["--health-probe-bind-address", `127.0.0.1:${health}`],
    ["--metrics-bind-address", `127.0.0.1:${metrics}`],
  ].flat();
  const limited = 'ulimit -n 20; exec ./binnacle run --install-crds "$@"';
  await using operator = new Operator(
    Bun.spawn(["bash", "-c", limited, "binnacle", ...flags], {
      cwd: bench.dir,
      env: { PATH: "/usr/bin:/bin", HOME: bench.dir },
      stdout: "pipe",
      stderr: "pipe",
    }),
    { health, metrics },
  );
  await operator.ready();
  const metadata = { name: "one" };
  const spec = (turn: number): object => ({ metadata, spec: { turn } });
  const reconciled = async (turn: number): Promise<void> => {
    await until(
      async () => {
        const { status } = (await (await send("GET", `${TICKETS}/one`)).json()) as { status?: { turn?: number } };
        return status?.turn === turn;
      },
      { what: () => `turn ${turn}: ${operator.text}` },
    );
  };
  await send("POST", TICKETS, { apiVersion: "few.binnacle.dev/v1", kind: "Ticket", ...spec(1) });
  await reconciled(1);

  const neighbours: Socket[] = Array.from({ length: CONNECTIONS }, () => connect(health, "127.0.0.1"));
  for (const neighbour of neighbours) neighbour.on("error", () => {});
  await Bun.sleep(500);
  const before = cpuOf(operator.child.pid);
  await Bun.sleep(1_000);
  expect(cpuOf(operator.child.pid) - before).toBeLessThan(0.5);
  await send("PATCH", `${TICKETS}/one`, spec(2));
  await reconciled(2);
  for (const neighbour of neighbours) neighbour.destroy();
  await until(async () => (await operator.health("/readyz")).status === 200, { what: () => operator.text });
  await send("PATCH", `${TICKETS}/one`, spec(3));
  await reconciled(3);
  expect(operator.log.filter(({ level }) => level === "error")).toEqual([]);
  expect(await operator.stop()).toBe(0);
}, 180_000);
