import { expect, test } from "bun:test";
import { conditions, defineController, defineResource, type RunContext, z } from "binnacle";
import { eventually, FakeClock, runModule, startCluster } from "./index.ts";

const Kettle = defineResource({
  group: "clock.example.com",
  version: "v1",
  kind: "Kettle",
  spec: z.object({}),
  status: z.object({ boiledAt: z.number().optional(), conditions: conditions("Ready") }),
});
const key = { namespace: "default", name: "one" };
const DAY = 24 * 3_600_000;

type Context = Pick<RunContext, "now" | "sleep" | "signal" | "mustFinish">;

/** A controller of one kettle that runs this function. */
async function kettle(options: { clock?: FakeClock; boil: (context: Context) => Promise<number | undefined> }) {
  const cleanup = new AsyncDisposableStack();
  const cluster = cleanup.use(await startCluster({ clock: options.clock }));
  const definition = defineController({
    for: Kettle,
    async reconcile({ status }, context) {
      if (status?.boiledAt === undefined) context.status.set({ boiledAt: await options.boil(context) });
    },
  });
  const module = cleanup.use(await runModule(definition, cluster, { show: "none" }));
  await cluster.client.create(Kettle, { metadata: key, spec: {} });
  const boiledAt = async () => (await cluster.client.get(Kettle, key)).status?.boiledAt;
  return { cluster, module, boiledAt, [Symbol.asyncDispose]: () => cleanup.disposeAsync() };
}

test("a run tells the time and waits by the clock of its test", async () => {
  const clock = new FakeClock();
  const began = clock.now();
  let isWaiting = false;
  await using one = await kettle({
    clock,
    async boil({ now, sleep }) {
      expect(now()).toBe(began);
      isWaiting = true;
      await sleep("240h");
      return now();
    },
  });
  await eventually(() => isWaiting);
  clock.advance(10 * DAY - 1);
  expect(await one.boiledAt()).toBeUndefined();
  clock.advance(1);
  await eventually(async () => expect(await one.boiledAt()).toBe(began + 10 * DAY));
});

test("days pass at once on a cluster where nothing happens", async () => {
  const clock = new FakeClock();
  await using one = await kettle({ clock, boil: async ({ now }) => now() });
  await eventually(one.boiledAt);
  await one.module.idle();
  const before = performance.now();
  await clock.advanceInTurns(10 * DAY);
  expect(performance.now() - before).toBeLessThan(20_000); // some 10 ms on a quiet machine
});

test("the signal fires as soon as the module is to leave, and the run may still write", async () => {
  let isWaiting = false;
  await using one = await kettle({
    async boil({ signal, sleep }) {
      isWaiting = true;
      await sleep("1h").catch(() => {});
      return signal.aborted ? 1 : 2;
    },
  });
  await eventually(() => isWaiting);
  const before = performance.now();
  await one.module.stop();
  expect(performance.now() - before).toBeLessThan(1_500); // the grace period is 2 s
  expect(await one.boiledAt()).toBe(1);
});

test("what a run throws because its signal fired is no failure, and what must finish has the grace period", async () => {
  let isWaiting = false;
  await using cut = await kettle({
    async boil({ sleep }) {
      isWaiting = true;
      await sleep("1h");
      return 1;
    },
  });
  await eventually(() => isWaiting);
  await cut.module.stop();
  expect(cut.module.log.filter(({ level }) => level === "error")).toEqual([]);

  isWaiting = false;
  await using finishing = await kettle({
    async boil({ mustFinish, sleep, signal }) {
      return await mustFinish(async (last) => {
        isWaiting = true;
        await sleep("1h").catch(() => {}); // until the module must leave
        await sleep(100, { signal: last });
        return signal.aborted && !last.aborted ? 1 : 2;
      });
    },
  });
  await eventually(() => isWaiting);
  await finishing.module.stop();
  expect(await finishing.boiledAt()).toBe(1);
});
