import { expect, test } from "bun:test";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../../../tests/support/until.ts";
import { loadGraph } from "./module-host.ts";
import { followProcessListeners } from "../process-listeners.ts";

/** A module that opens much and closes nothing. */
const LEAKING = `
import http from "node:http";
import net from "node:net";
import { spawn } from "node:child_process";
import { watch } from "node:fs";
export const state = { ticks: 0 };
const on = () => {};
export function open(port, folder) {
  setInterval(() => void state.ticks++, 2);
  const again = () => { state.ticks++; setTimeout(again, 2); };
  again();
  const socket = net.connect(port, "127.0.0.1", () => socket.write("net"));
  void Bun.connect({ hostname: "127.0.0.1", port, socket: { open: (one) => void one.write("bun"), data() {} } });
  void fetch("http://127.0.0.1:" + port + "/fetch");
  http.get({ port, host: "127.0.0.1", path: "/http", agent: new http.Agent() });
  new WebSocket("ws://127.0.0.1:" + port + "/socket");
  const servers = [Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("x") })];
  const nodes = [net.createServer(() => {}), http.createServer(() => {})];
  for (const server of nodes) server.listen(0, "127.0.0.1");
  watch(folder, () => void state.ticks++);
  process.on("SIGUSR2", on);
  process.once("exit", on);
  process.prependListener("beforeExit", on);
  const children = [Bun.spawn(["sleep", "600"]).pid, spawn("sleep", ["600"]).pid];
  return () => ({ ports: [servers[0].port, ...nodes.map((server) => server.address().port)], children });
}`;

const EVENTS = ["SIGUSR2", "exit", "beforeExit"] as const;
const listeners = () => EVENTS.map((event) => process.listenerCount(event));

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function isOpen(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(port, "127.0.0.1", () => resolve(true));
  socket.on("error", () => resolve(false));
  return promise.finally(() => socket.destroy());
}

test("loadGraph ends with a module its timers, sockets, servers, watchers, children and listeners", async () => {
  followProcessListeners();
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "binnacle-leak-")));
  const said = new Map<Socket, string>();
  const server = createServer((socket) => {
    said.set(socket, "");
    socket.on("data", (data) => said.set(socket, said.get(socket)! + data));
    socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    writeFileSync(join(folder, "m.ts"), LEAKING);
    const before = listeners();
    const graph = await loadGraph(join(folder, "m.ts"), { onError: () => {} });
    const { open, state } = graph.exports as {
      open: (port: number, folder: string) => () => { ports: number[]; children: number[] };
      state: { ticks: number };
    };
    const opened = graph.run(() => open((server.address() as AddressInfo).port, folder));
    await until(() => said.size === 5 && [...said.values()].every((text) => text !== "") && state.ticks > 2);
    const { ports, children } = opened();
    expect(await Promise.all(ports.map(isOpen))).toEqual([true, true, true]);
    expect(children.map(isAlive)).toEqual([true, true]);
    expect(listeners()).toEqual(before.map((count) => count + 1));

    graph.dispose();
    await until(() => [...said.keys()].every(({ destroyed }) => destroyed));
    await until(() => !children.some(isAlive));
    expect(await Promise.all(ports.map(isOpen))).toEqual([false, false, false]);
    expect(listeners()).toEqual(before);
    const { ticks } = state;
    writeFileSync(join(folder, "changed"), "");
    await Bun.sleep(50); // many of the module's ticks
    expect(state.ticks).toBe(ticks);
  } finally {
    server.close();
    for (const socket of said.keys()) socket.destroy();
    rmSync(folder, { recursive: true });
  }
});

test("followProcessListeners keeps no listeners that a module has removed itself", async () => {
  followProcessListeners();
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "binnacle-listen-")));
  writeFileSync(
    join(folder, "m.ts"),
    `export const cycle = () => { const one = () => {}; process.on("SIGUSR2", one); process.off("SIGUSR2", one); };
    export const stay = () => void process.on("SIGUSR2", () => {});`,
  );
  const before = listeners();
  const graph = await loadGraph(join(folder, "m.ts"), { onError: () => {} });
  rmSync(folder, { recursive: true });
  const { cycle, stay } = graph.exports as { cycle: () => void; stay: () => void };
  graph.run(stay);
  for (let count = 0; count < 1_000; count++) graph.run(cycle);
  graph.run(stay);
  expect(process.listenerCount("SIGUSR2")).toBe(before[0]! + 2);
  graph.dispose();
  expect(listeners()).toEqual(before);
});
