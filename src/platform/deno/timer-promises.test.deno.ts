import { expect, test } from "bun:test";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../../../tests/support/until.ts";
import { loadGraph } from "./module-host.ts";

/** Waits in every way, and tries again at once whenever it fails. */
const WAITING = `
import { scheduler, setImmediate, setInterval, setTimeout as sleep } from "node:timers/promises";
import { promises } from "node:timers";
import { promisify } from "node:util";
import common from "./_common.cjs";
export const state = { rounds: {}, failures: 0 };
const again = async (name, wait) => {
  for (;;) {
    try {
      await wait();
      state.rounds[name] = (state.rounds[name] ?? 0) + 1;
    } catch {
      state.failures++;
      if (state.failures > 1000) throw new Error("it goes on and on");
    }
  }
};
export function begin(url) {
  void again("sleep", () => sleep(1));
  void again("promises", () => promises.setTimeout(1));
  void again("promisified", () => promisify(setTimeout)(1));
  void again("common", () => common.setTimeout(1));
  void again("scheduler", () => scheduler.wait(1));
  void again("immediate", () => setImmediate());
  void again("yield", () => scheduler.yield());
  void (async () => { for await (const value of setInterval(1, "tick")) state.rounds[value] = (state.rounds[value] ?? 0) + 1; })();
  void again("fetch", async () => (await fetch(url)).text());
}
export const abort = () => sleep(60_000, "late", { signal: AbortSignal.timeout(1) });
export const value = () => sleep(1, "value");`;

test("dispose ends what a module waits for, and nothing of it is tried again", async () => {
  const server = createServer((_, response) => void response.end("text"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "binnacle-waits-")));
  try {
    const file = join(folder, "m.ts");
    writeFileSync(file, WAITING);
    writeFileSync(join(folder, "_common.cjs"), 'module.exports = require("timers/promises");');
    const onError = (error: unknown): never => {
      throw error;
    };
    const graph = await loadGraph(file, { onError, timeout: 20_000 });
    const { begin, abort, value, state } = graph.exports as {
      begin: (url: string) => void;
      abort: () => Promise<void>;
      value: () => Promise<string>;
      state: { rounds: Record<string, number>; failures: number };
    };
    const error = await graph.run(abort).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({ name: "AbortError" });
    expect(await graph.run(value)).toBe("value");
    graph.run(() => begin(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`));
    await until(() => Object.values(state.rounds).filter((rounds) => rounds > 2).length === 9);
    graph.dispose();
    const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
    await later(1); // what has settled already goes on once
    const before = { ...state.rounds };
    await later(50); // many of the module's rounds
    expect(state.rounds).toEqual(before);
    expect(state.failures).toBeLessThan(2); // a body that was being read is cut off
  } finally {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true });
  }
});
