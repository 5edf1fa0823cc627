/** What daemons hand over to the runs of their objects. */
import { afterEach, expect, test } from "bun:test";
import { defineController, type DaemonContext, z } from "binnacle";
import { ConfigMap } from "binnacle/resources";
import { until } from "../../tests/support/until.ts";
import type { ShapeOf } from "../controller/definition.ts";
import { runModule, startCluster } from "../testing/index.ts";

interface Move {
  readonly leader: string;
}
type Follow = DaemonContext<ShapeOf<typeof ConfigMap>, Move>;

let cleanup = new AsyncDisposableStack();
afterEach(async () => {
  await cleanup.disposeAsync();
  cleanup = new AsyncDisposableStack();
});

/** Runs a controller whose daemon does what the test tells its context, and whose runs say what they were handed. */
async function start(onRun: (leaders: readonly string[], attempt: number) => void | Promise<void>, daemon = holdOn) {
  const cluster = cleanup.use(await startCluster({ pods: false }));
  const began = Promise.withResolvers<Follow>();
  const follower = defineController({
    name: "follower",
    for: ConfigMap,
    daemons: {
      follow: {
        value: z.object({ leader: z.string().min(1) }),
        async run(object, context) {
          if (object.metadata.name === "db") began.resolve(context);
          await daemon(context);
        },
      },
    },
    async reconcile({ metadata }, { causes, attempt }) {
      if (metadata.name !== "db") return;
      await onRun(
        causes.flatMap(({ daemon, value }) => (daemon === "follow" && value !== undefined ? [value.leader] : [])),
        attempt,
      );
    },
  });
  const module = cleanup.use(await runModule(follower, cluster));
  const key = { namespace: "default", name: "db" };
  await cluster.client.create(ConfigMap, { metadata: key });
  const context = await began.promise;
  await module.idle();
  return { cluster, module, context, key };
}

async function holdOn({ signal }: Follow): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => resolve());
  await promise;
}

test("a value is in the causes of each run until one has succeeded, and the newest of one reason counts", async () => {
  const seen: string[] = [];
  let failures = 2;
  const { module, context } = await start((leaders, attempt) => {
    seen.push(`${attempt}: ${leaders.join()}`);
    if (leaders.length > 0 && failures-- > 0) {
      // What comes during a run is newer than what it was handed.
      if (failures === 0) context.enqueue("failed over", { leader: "c" });
      throw new Error("not now");
    }
  });
  seen.length = 0;
  context.enqueue("failed over", { leader: "a" });
  context.enqueue("failed over", { leader: "b" });
  context.enqueue("joined", { leader: "z" });
  await until(() => seen.length === 3);
  await module.idle();
  context.enqueue();
  await module.idle();
  expect(seen).toEqual(["1: b,z", "2: b,z", "3: z,c", "1: "]);
});

test("values stay when more causes come than are kept", async () => {
  const seen: string[][] = [];
  const block = Promise.withResolvers<void>();
  let isBlocked = false;
  const { module, context } = await start(async (leaders) => {
    seen.push([...leaders]);
    if (isBlocked) await block.promise;
  });
  isBlocked = true;
  seen.length = 0;
  context.enqueue();
  await until(() => seen.length === 1);
  context.enqueue("failed over", { leader: "a" });
  for (let other = 0; other < 20; other++) context.enqueue(`news ${other}`);
  block.resolve();
  await module.idle();
  expect(seen).toEqual([[], ["a"]]);
});

test("a value that does not fit the schema is refused where it is handed over", async () => {
  const { context } = await start(() => {});
  expect(() => context.enqueue("failed over", { leader: "" })).toThrow(
    /^Cannot hand over the value of daemon 'follow', it does not fit its schema: .*→ at leader/s,
  );
});

test("the signal of a daemon that has resolved does not fire, and it can write and queue no more", async () => {
  let runs = 0;
  const { cluster, context, key, module } = await start(
    () => void runs++,
    async ({ signal }) => void signal,
  );
  const before = runs;
  context.enqueue("too late", { leader: "a" });
  await expect(context.client.create(ConfigMap, { metadata: { ...key, name: "late" } })).rejects.toThrow("has ended");
  await cluster.client.delete(ConfigMap, key);
  await module.idle();
  expect([context.signal.aborted, runs]).toEqual([false, before]);
});
