/**
 * A process that asks a server what its parent says, and serves `/livez` meanwhile: what the server does to it can be
 * seen from outside.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { InformerRegistry } from "../../../src/cache/informer-registry.ts";
import type { ClusterConfig, TlsSettings } from "../../../src/kube/config/cluster-config.ts";
import { RestMapper } from "../../../src/kube/api/mapper.ts";
import { createTransport, type Transport } from "../../../src/kube/transport/transport.ts";
import { listPages } from "../../../src/kube/api/list.ts";
import { watch } from "../../../src/kube/api/watch.ts";
import { createLog } from "../../../src/observe/log.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { ConfigMap } from "../../../src/resource/builtin/core.ts";
import { healthApp } from "../../../src/server/health-app.ts";
import { HealthChecks } from "../../../src/server/health-checks.ts";
import { startListeners } from "../../../src/server/listeners.ts";

export type Ask = "request" | "lease" | "list" | "pages" | "watch" | "exec" | "informer";

export interface Order {
  readonly ask: Ask;
  readonly server: string;
  readonly tls: TlsSettings;
  readonly proxy?: string | undefined;
  /** Milliseconds after which it is given up. */
  readonly within: number;
}

export interface Report {
  /** How it ended: an error's message, or `answered`. */
  readonly said: string;
  readonly code: string;
  /** MiB of resident memory at the peak, over those at the beginning. */
  readonly growth: number;
  readonly ms: number;
  /** Lines of the log. */
  readonly log: readonly string[];
}

const PATH = "/api/v1/configmaps";

function clusterOf({ server, tls, proxy }: Order): ClusterConfig {
  return {
    server,
    context: "hostile",
    user: "jane",
    namespace: "default",
    tls,
    proxy,
    headers: () => ({}),
    reload: async () => false,
  };
}

/** Ends with an error, or with what it was told to wait for. */
async function carryOut(transport: Transport, order: Order, lines: string[]): Promise<string> {
  const signal = AbortSignal.timeout(order.within);
  const get = { method: "GET", path: PATH, signal } as const;
  switch (order.ask) {
    case "request":
    case "lease":
    case "list": {
      const answer = await transport.request<object>({ ...get, traffic: order.ask });
      return `answered ${Object.keys(answer).length} fields`;
    }
    case "pages": {
      let items = 0;
      const { pages } = await listPages<object>(transport, {
        path: PATH,
        signal,
        onPage: (page) => void (items += page.length),
      });
      return `answered ${items} items on ${pages} pages`;
    }
    case "watch": {
      let events = 0;
      await watch(transport, { path: PATH, signal, onEvent: () => void events++ });
      return `answered ${events} events`;
    }
    case "exec": {
      let bytes = 0;
      const query = new URLSearchParams({ command: "x" });
      const onMessage = (_: number, message: Uint8Array): void => void (bytes += message.length);
      const channels = await transport.channels({ path: `${PATH}/exec`, query, signal, onMessage });
      await channels.closed;
      return `answered ${bytes} bytes`;
    }
    default: {
      const log = createLog({ level: "info", format: "json", write: (line) => void lines.push(line) });
      const registry = new InformerRegistry({ transport, mapper: new RestMapper(transport), log, clock: systemClock });
      const { informer } = registry.acquire(ConfigMap, { needs: { bodies: "all", managers: [] }, user: "victim" });
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      const { state } = informer;
      await registry.stop();
      return JSON.stringify(state);
    }
  }
}

async function run(order: Order): Promise<Report> {
  Bun.gc(true);
  writeFileSync("/proc/self/clear_refs", "5"); // the peak begins anew
  const before = mebibytes("VmRSS");
  const began = performance.now();
  const transport = createTransport(clusterOf(order));
  const log: string[] = [];
  let [said, code] = ["", ""];
  try {
    said = await carryOut(transport, order, log);
  } catch (error) {
    said = error instanceof Error ? error.message : String(error);
    code = error instanceof Error && "code" in error ? String(error.code) : "";
  }
  const ms = performance.now() - began;
  await transport.close();
  return { said, code, growth: mebibytes("VmHWM") - before, ms, log };
}

function mebibytes(field: string): number {
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? 0) / 1024;
}

const checks = { healthz: new HealthChecks(), livez: new HealthChecks(), readyz: new HealthChecks() };
const listeners = await startListeners([{ name: "health-probe", address: "127.0.0.1:0", app: healthApp(checks) }]);
process.on("message", (order: Order) => void run(order).then((report) => process.send?.(report)));
process.on("disconnect", () => process.exit());
process.send?.({ livez: `http://${listeners.address("health-probe")}/livez` });
