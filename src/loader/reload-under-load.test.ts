/**
 * One of three controllers is reloaded again and again while objects change. With `BINNACLE_LONG_RELOADS=1` there are
 * 5,000 objects, 50 changes a second and 50 reloads, and the latencies of the others are printed.
 */
import { expect, test } from "bun:test";
import { ConfigMap } from "../resource/builtin/core.ts";
import { ReloadLab, telling, type ToldRun } from "../../tests/support/reload-lab.ts";
import { until } from "../../tests/support/until.ts";

const isLong = process.env["BINNACLE_LONG_RELOADS"] === "1";
const OBJECTS = isLong ? 5_000 : 100;
const RELOADS = isLong ? 50 : 6;
const DELAYED = 5;
/** Milliseconds. */
const EVERY = isLong ? 20 : 5;
const DELAY = isLong ? 15_000 : 1_500;

/** Runs that last a little, and delayed keys that run once more when their time has come. */
const body = `
  if (object.metadata.name.startsWith("delayed") && context.causes.some(({ source }) => source === "for")) return { requeueAfter: ${DELAY} };
  await context.sleep(1 + (Number(run.value) % 5));`;

class Runs {
  readonly seen = new Map<string, string>();
  readonly delayed = new Map<string, number[]>();
  readonly versions = new Set<number>();
  /** Of the controllers that are not reloaded, milliseconds. */
  readonly latencies: number[] = [];
  readonly written = new Map<string, number>();
  readonly #active = new Set<string>();
  twice = 0;

  begin = ({ controller, version, key, value }: ToldRun): void => {
    const id = `${controller} ${key}`;
    if (this.#active.has(id)) this.twice++;
    this.#active.add(id);
    this.seen.set(id, value);
    if (controller !== "reloaded") {
      const written = this.written.get(`${key} ${value}`);
      if (written !== undefined) this.latencies.push(performance.now() - written);
      return;
    }
    this.versions.add(version);
    if (key.startsWith("delayed")) this.delayed.set(key, [...(this.delayed.get(key) ?? []), performance.now()]);
  };

  end = ({ controller, key }: ToldRun): void => void this.#active.delete(`${controller} ${key}`);

  percentiles(): string {
    const sorted = this.latencies.splice(0).sort((a, b) => a - b);
    const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]?.toFixed(1);
    return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms of ${sorted.length}`;
  }
}

test(`${RELOADS} reloads under load: no key is lost or run twice at once, delayed ones keep their times, nothing is listed`, async () => {
  const runs = new Runs();
  const reloaded = (version: number) =>
    telling({ controller: "reloaded", version, onReload: "resume", body, concurrency: 8 });
  const steady = (controller: string) => telling({ controller, version: 0, onReload: "resume" });
  const files = { "a.ts": steady("a"), "b.ts": steady("b"), "reloaded.ts": reloaded(0) };
  await using lab = await ReloadLab.start(files, runs);
  const { client } = lab.cluster;
  const values = new Map<string, number>();
  const make = (name: string) =>
    client.create(ConfigMap, {
      metadata: { namespace: "default", name, labels: { lab: "yes" } },
      data: { value: String(values.set(name, 0).get(name)) },
    });
  const names = Array.from({ length: OBJECTS }, (_, index) => `object-${index}`);
  for (let index = 0; index < OBJECTS; index += 100) await Promise.all(names.slice(index, index + 100).map(make));
  const delayed = Array.from({ length: DELAYED }, (_, index) => `delayed-${index}`);
  await Promise.all(delayed.map(make));
  const id = (name: string) => `reloaded ${name}`;
  await until(() => [...names, ...delayed].every((name) => runs.seen.has(id(name))), { within: 60_000, every: 20 });
  const { watches, lists } = lab.requests;

  const writing = new AbortController();
  const pending = new Set<Promise<unknown>>();
  const write = async (): Promise<void> => {
    for (let next = 0; !writing.signal.aborted; next++) {
      const name = names[(next * 7) % OBJECTS]!;
      const value = values.get(name)! + 1;
      values.set(name, value);
      runs.written.set(`${name} ${value}`, performance.now());
      const patch = { type: "merge", body: { data: { value: String(value) } } } as const;
      const sent: Promise<unknown> = client
        .patch(ConfigMap, { namespace: "default", name }, patch)
        .finally(() => pending.delete(sent));
      pending.add(sent);
      await Bun.sleep(EVERY);
    }
    await Promise.all(pending);
  };
  const written = write();
  if (isLong) {
    await Bun.sleep(5_000);
    console.log(`others without reloads: ${runs.percentiles()}`);
  }
  const controllers: WeakRef<object>[] = [];
  for (let version = 1; version <= RELOADS; version++) {
    controllers.push(new WeakRef(lab.controller("reloaded")));
    await lab.save("reloaded.ts", reloaded(version));
    await until(() => runs.versions.has(version), {
      within: 90_000,
      what: () => `version ${version} runs: ${lab.errors.join("")}`,
    });
  }
  if (isLong) console.log(`others with reloads: ${runs.percentiles()}`);
  writing.abort();
  await written;

  const current = (controller: string) =>
    names.every((name) => runs.seen.get(`${controller} ${name}`) === String(values.get(name)));
  for (const controller of ["reloaded", "a", "b"]) {
    await until(() => current(controller), {
      within: 90_000,
      every: 20,
      what: `${controller} has seen the last of each object`,
    });
  }
  await until(() => delayed.every((name) => runs.delayed.get(name)?.length === 2), { within: 60_000, every: 20 });
  for (const [first, second] of runs.delayed.values()) expect(second! - first!).toBeGreaterThanOrEqual(DELAY - 1);
  expect(runs.twice).toBe(0);
  expect(runs.versions.size).toBe(RELOADS + 1);
  expect({ ...lab.requests }).toEqual({ watches, lists });
  expect(lab.errors).toEqual([]);
  const left = (): number => {
    Bun.gc(true);
    return controllers.filter((one) => one.deref() !== undefined).length;
  };
  // One may be on the stack, and one be needed by the next; all of them are left where each keeps the one before.
  await until(() => left() <= RELOADS / 2, { every: 20, what: "versions that have ended are collected" });
}, 240_000);
