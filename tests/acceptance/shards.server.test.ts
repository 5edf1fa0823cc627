/** Tests replicas of the binary that divide the keys: one replica works on each, whichever join, leave or die. */
import { describe, expect, test } from "bun:test";
import { Fleet, overlaps } from "../support/integration/shard-fleet.ts";
import { until } from "../support/until.ts";
import { available } from "../support/cluster.ts";

const OBJECTS = 600;

describe.skipIf(!available).each([true, false])("shards, on a server that divides collections: %p", (divides) => {
  test("each key is worked by one replica; another takes over from one that dies, and hands over to one that comes", async () => {
    await using fleet = await Fleet.start({ wait: 20, concurrency: 20, divides });
    await fleet.fill(OBJECTS, 500);
    for (let replica = 0; replica < 3; replica++) await fleet.begin();
    for (const part of await fleet.divided()) expect(part).toBeCloseTo(1 / 3, 2);

    await fleet.work();
    const first = await fleet.worked(OBJECTS);
    expect(first).toHaveLength(OBJECTS);
    const counts = [...Map.groupBy(first, ({ pid }) => pid).values()].map((runs) => runs.length);
    expect(counts).toHaveLength(3);
    for (const count of counts) expect(count).toBeGreaterThan(OBJECTS / 4);
    for (const { operator } of fleet.replicas) {
      const objects = await operator.metric("binnacle_informer_objects", { kind: "Item" });
      expect(objects).toBeLessThan(OBJECTS / 2);
    }

    // One dies, and its keys are worked on again within a lease duration.
    const [dead, ...left] = fleet.replicas;
    const lost = new Set(first.filter(({ pid }) => pid === dead!.pid).map(({ key }) => key));
    const died = Date.now();
    dead!.operator.signal("SIGKILL");
    const again = await until(
      async () => {
        const since = (await fleet.runs()).filter(({ began, pid }) => began >= died && pid !== dead!.pid);
        return new Set(since.map(({ key }) => key)).size >= lost.size && since;
      },
      { within: 90_000, every: 50, what: () => left.map(({ operator }) => operator.text).join("\n") },
    );
    expect(new Set(again.map(({ key }) => key))).toEqual(lost);
    const tookOver = Math.max(...again.map(({ ended }) => ended)) - died;
    expect(tookOver).toBeLessThan(30_000);

    // One joins and gets a part of the keys, and meanwhile no two replicas work on the same key.
    const came = Date.now();
    const next = await fleet.begin();
    const replicas = [...left, next];
    for (const part of await fleet.divided(replicas)) expect(part).toBeCloseTo(1 / 3, 2);
    await until(async () => (await fleet.runs()).filter(({ pid }) => pid === next.pid).length > OBJECTS / 4, {
      what: () => next.operator.text,
    });
    const handedOver = Date.now() - came;

    // One is told to end, and its keys are worked on again at once.
    const [leaving, staying] = left;
    const start = Date.now();
    expect(await leaving!.operator.stop()).toBe(0);
    await fleet.divided([staying!, next]);
    const released = Date.now() - start;
    expect(released).toBeLessThan(10_000);

    await fleet.change(OBJECTS, 1);
    await until(
      async () => {
        const seen = (await fleet.runs()).filter(({ turn }) => turn === 1);
        return new Set(seen.map(({ key }) => key)).size === OBJECTS;
      },
      { within: 90_000, what: "all changes worked" },
    );
    expect(overlaps(await fleet.runs())).toEqual([]);
    console.log(
      `taken over ${tookOver} ms after a crash, handed over ${handedOver} ms after a start, ${released} ms after SIGTERM`,
    );
  }, 180_000);
});
