/**
 * What an event costs on its way: queue, delta FIFO → store → handlers, list decode; beside client-go's own parts.
 *
 *     bun scripts/bench/bench.ts            the lines of both, and the ratio: above 1 is better than client-go
 */
import { heapStats } from "bun:jsc";
import { existsSync } from "node:fs";
import { arch, cpus } from "node:os";
import { join } from "node:path";
import { Delivery } from "../../src/cache/delivery.ts";
import { DeltaFifo } from "../../src/cache/delta-fifo.ts";
import { KeptPaths } from "../../src/cache/object-set.ts";
import { Projection } from "../../src/cache/object-transformer.ts";
import { Indexer } from "../../src/cache/store.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { WorkQueue } from "../../src/queue/work-queue.ts";
import type { AnyObject } from "../../src/resource/handle.ts";
import { keyString } from "../../src/resource/meta.ts";

const KEYS = 100_000;
const EVENTS = 100_000;
const OBJECTS = 100_000;

/** Results by name, per second or in bytes. */
const lines = new Map<string, number>();

function heap(): number {
  for (let round = 0; round < 3; round++) Bun.gc(true);
  const { heapSize, extraMemorySize } = heapStats();
  return heapSize + extraMemorySize;
}

/** Returns the best of so many rounds, in seconds. */
function best(rounds: number, work: () => void): number {
  let least = Infinity;
  for (let round = 0; round < rounds; round++) {
    const began = performance.now();
    work();
    least = Math.min(least, performance.now() - began);
  }
  return least / 1_000;
}

function queue(): void {
  const names = Array.from({ length: KEYS }, (_, index) => `default/object-${index}`);
  const seconds = best(15, () => {
    const all = new WorkQueue({ name: "bench" });
    for (const name of names) all.add(name);
    for (let item = all.take(); item !== undefined; item = all.take()) all.done(item.key);
  });
  lines.set("queue add+get+done per second", KEYS / seconds);
  const full = new WorkQueue({ name: "bench" });
  const before = heap();
  for (const name of names) full.add(name);
  lines.set("queue bytes per key", (heap() - before) / KEYS);
  full.stop();
}

function pod(index: number, version: number): AnyObject {
  const name = `pod-${index}`;
  const metadata = { name, namespace: "default", uid: name, resourceVersion: String(version), labels: { app: "web" } };
  return { apiVersion: "v1", kind: "Pod", metadata: { ...metadata, creationTimestamp: "" } };
}

function informer(count: number): void {
  const pods = Array.from({ length: EVENTS }, (_, index) => pod(index % 1_000, index + 1));
  const seconds = best(3, () => {
    const store = new Indexer();
    const fifo = new DeltaFifo({ known: store });
    const log = { error: () => {} };
    const delivery = new Delivery(store, { log, clock: systemClock, informer: "bench", onResync: () => {} });
    let told = 0;
    for (let index = 0; index < count; index++) {
      delivery.addHandler({ onAdd: () => told++, onUpdate: () => told++, onDelete: () => told++ }, { name: "h" });
    }
    for (let start = 0; start < EVENTS; start += 100) {
      for (const object of pods.slice(start, start + 100)) fifo.update(object);
      fifo.drain((key, { object }) => {
        const old = store.get(key);
        if (old === undefined) delivery.add(key, object, { isInitial: false });
        else delivery.update(key, object, old);
      });
    }
    if (told !== EVENTS * count) throw new Error(`Told ${told} of ${EVENTS * count}`);
  });
  lines.set(`delta FIFO to store to ${count} handlers, events per second`, EVENTS / seconds);
}

function listed(): string {
  const items = Array.from({ length: OBJECTS }, (_, index) => ({
    metadata: {
      name: `pod-${index}`,
      namespace: "default",
      uid: `uid-${index}`,
      resourceVersion: String(index),
      creationTimestamp: "2026-01-01T00:00:00Z",
      labels: { app: "web", instance: String(index % 50) },
      managedFields: [
        {
          manager: "kubelet",
          operation: "Update",
          apiVersion: "v1",
          fieldsType: "FieldsV1",
          fieldsV1: { "f:status": { "f:phase": {}, "f:podIP": {} } },
        },
      ],
    },
    spec: {
      nodeName: `node-${index % 100}`,
      containers: [
        {
          name: "main",
          image: "registry.example.com/team/app:1.2.3",
          env: [
            { name: "A", value: "b" },
            { name: "C", value: "d" },
          ],
          resources: { limits: { cpu: "500m", memory: "128Mi" } },
        },
      ],
    },
    status: { phase: "Running", podIP: "10.0.0.1" },
  }));
  return JSON.stringify({ kind: "PodList", apiVersion: "v1", metadata: { resourceVersion: "1" }, items });
}

function decode(): void {
  const text = listed();
  const seconds = best(3, () => void JSON.parse(text));
  lines.set("list decode, MB per second", text.length / 1e6 / seconds);
  const whole = new Projection([{ bodies: "all", managers: [] }]);
  const takes: Readonly<Record<string, (object: AnyObject) => AnyObject>> = {
    whole: (object) => whole.take(object),
    projected: (
      (kept) => (object: AnyObject) =>
        kept.take(object)
    )(new KeptPaths(["spec.nodeName", "status.podIP"])),
    "metadata only": (
      (kept) => (object: AnyObject) =>
        kept.take(object)
    )(new KeptPaths([])),
  };
  for (const [name, take] of Object.entries(takes)) lines.set(`bytes per object, ${name}`, kept(text, take));
}

/** Returns the bytes per object of a list that is in a store. */
function kept(text: string, take: (object: AnyObject) => AnyObject): number {
  const store = new Map<string, AnyObject>();
  const before = heap();
  fill(store, { text, take });
  const bytes = (heap() - before) / store.size;
  store.clear();
  return bytes;
}

function fill(store: Map<string, AnyObject>, from: { text: string; take: (object: AnyObject) => AnyObject }): void {
  const { items } = JSON.parse(from.text) as { items: AnyObject[] };
  for (const object of items) {
    store.set(keyString(object.metadata), from.take({ ...object, apiVersion: "v1", kind: "Pod" }));
  }
}

/** Returns the results of client-go by name; empty without Go. */
function clientGo(): Map<string, number> {
  const matches = new Map<string, number>();
  const go = Bun.which("go") ?? "/usr/local/go/bin/go";
  if (!existsSync(go)) return matches;
  const { stdout, success, stderr } = Bun.spawnSync([go, "run", "."], { cwd: join(import.meta.dirname, "client-go") });
  if (!success) throw new Error(`client-go's part failed: ${stderr.toString()}`);
  for (const line of stdout.toString().trim().split("\n")) {
    const [name = "", value] = line.split("\t");
    matches.set(name, Number(value));
  }
  return matches;
}

const theirs = clientGo();
queue();
informer(1);
informer(100);
decode();
console.log(`${cpus().length} × ${cpus()[0]?.model}, ${arch()}, bun ${Bun.version}`);
for (const [name, value] of lines) {
  const other = theirs.get(name);
  const ratio = other === undefined ? "" : name.includes("bytes") ? other / value : value / other;
  const columns = [
    Math.round(value),
    other === undefined ? "–" : Math.round(other),
    ratio === "" ? "" : ratio.toFixed(2),
  ];
  console.log(`${name.padEnd(60)}${columns.map((column) => String(column).padStart(12)).join("")}`);
}
