/** Tests a leader whose module blocks the event loop for longer than the renew deadline: its writes after that are refused. */
import { describe, expect, test } from "bun:test";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AuditLog } from "../ha/audit-log.ts";
import { judge } from "../ha/judge.ts";
import { grantEverything, startJudgedPlane } from "../ha/judged-plane.ts";
import { leaseHistory } from "../ha/lease-history.ts";
import { kindOf, Load } from "../ha/load.ts";
import { binnacle, Replica } from "../ha/replica.ts";
import { until } from "../support/until.ts";
import { available } from "../support/cluster.ts";

const LEASE = { namespace: "default", name: "blocked" };

/** Blocks once, in the first process that reaches `block`, and writes right after that. */
const MODULE = `
import { openSync } from "node:fs";
import { defineController, defineResource, of, z } from "binnacle";
import { ConfigMap } from "binnacle/resources";
const Widget = defineResource({ group: "ha.binnacle.dev", version: "v1", kind: "Widget",
  spec: z.object({ size: z.int(), payload: z.string() }), status: z.object({ ready: z.boolean().optional() }) });
function isFirst() { try { openSync("blocked", "wx"); return true; } catch { return false; } }
export const widget = defineController({ for: Widget, owns: [ConfigMap], concurrency: 16,
  async reconcile({ metadata: { name }, spec }, { children, log }) {
    if (spec.payload === "block" && isFirst()) {
      log.info("blocks");
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 12_000);
      log.info("wakes");
    }
    const data = { size: String(spec.size), payload: spec.payload };
    await children.sync({ child: of(ConfigMap, { metadata: { name: "w-" + name }, data }) });
  } });`;

describe.skipIf(!available)("fencing", () => {
  test("a leader whose event loop is blocked for 12 s writes nothing after it without a new term", async () => {
    await using cleanup = new AsyncDisposableStack();
    const dir = await mkdtemp(join(tmpdir(), "binnacle-fencing-"));
    cleanup.defer(() => rm(dir, { recursive: true, force: true }));
    await Bun.write(join(dir, "controllers", "widget.ts"), MODULE);
    const plane = cleanup.use(await startJudgedPlane(dir));
    const definition = await readFile(join(import.meta.dirname, "../ha/widgets.yaml"), "utf8");
    await grantEverything(plane, definition);
    const kind = kindOf(definition);
    const load = new Load(plane, { kind, objects: 20 });
    await load.fill();
    const command = binnacle(join(dir, "controllers"));
    const start = async (name: string): Promise<Replica> => {
      const replica = cleanup.use(await Replica.start({ plane, dir, name, lease: LEASE, command }));
      await until(() => replica.isReady(), { within: 60_000, what: () => `${name} ready` });
      return replica;
    };
    const first = await start("a");
    const second = await start("b");
    load.start(20);
    await until(async () => (await load.unsettled()) === undefined || (await first.log()).includes("leads"), {
      what: "work",
    });

    const body = JSON.stringify({ spec: { payload: "block" } });
    const headers = { "content-type": "application/merge-patch+json" };
    await (await plane.request(`${kind.path}/one-0`, { method: "PATCH", headers, body })).text();
    await until(async () => (await first.log()).includes('"wakes"'), { within: 90_000, what: "the module wakes" });
    await until(async () => (await first.log()).includes("This replica has lost the lead"), { what: "a fence" });
    // The present leader keeps working, and the other process writes nothing.
    await Bun.sleep(6_000);
    await load.stop();
    await until(async () => (await load.unsettled()) === undefined, { within: 60_000, what: "everything is done" });

    expect(await first.terminate()).toBe(0);
    expect(await second.terminate()).toBe(0);
    const audit = new AuditLog(join(dir, "audit.log"));
    await audit.read();
    // It ends at the renew deadline, at which a leader is fenced, and not only at the lease duration.
    const lease = (await leaseHistory(plane, LEASE)).map((one) => ({ ...one, duration: 10_000 }));
    const verdict = judge({
      requests: audit.requests,
      lease,
      leaseName: LEASE.name,
      runs: [],
      faults: [],
      until: Date.now(),
    });
    expect(verdict.writes).toBeGreaterThan(50);
    expect(verdict.violations).toEqual([]);
  }, 240_000);
});
