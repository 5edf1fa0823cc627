import { expect, test } from "bun:test";
import { conditions, defineController, type Definition, definePlugin, defineResource, of, z } from "binnacle";
import { ConfigMap, Lease } from "binnacle/resources";
import { eventually, FakeClock, matchers, runModule, startCluster, type TestCluster } from "./index.ts";

expect.extend(matchers);

const Note = defineResource({
  group: "replicas.example.com",
  version: "v1",
  kind: "Note",
  spec: z.object({}),
  status: z.object({ by: z.string().optional(), conditions: conditions("Ready") }),
});

/** A replica that writes into the status who reconciled an object. */
const noteOf = (by: string) =>
  defineController({
    for: Note,
    async reconcile(_, { status }) {
      status.set({ by });
      status.condition({ type: "Ready", status: true, reason: "Noted" });
    },
  });

const key = (name: string) => ({ namespace: "default", name });

async function workedBy({ client }: TestCluster, name: string): Promise<string | undefined> {
  await client.create(Note, { metadata: key(name), spec: {} });
  await eventually(async () => expect(await client.get(Note, key(name))).toHaveCondition("Ready"), { within: "90s" });
  return (await client.get(Note, key(name))).status?.by;
}

async function holder({ client }: TestCluster): Promise<string | undefined> {
  return (await client.find(Lease, key("notes")))?.spec?.holderIdentity;
}

test("one of two replicas works, and the other goes on when the Lease is taken from it", async () => {
  await using cluster = await startCluster({ pods: false });
  await using first = await runModule(noteOf("first"), cluster, { leaderElection: "notes", show: "none" });
  await using second = await runModule(noteOf("second"), cluster, { leaderElection: "notes" });
  expect([first.isLeader, second.isLeader]).toEqual([true, false]);
  expect(await workedBy(cluster, "a")).toBe("first");

  using fault = cluster.faults.takeLease(first);
  await eventually(() => second.isLeader, { within: "90s" });
  expect(first.isLeader).toBe(false);
  expect(await workedBy(cluster, "b")).toBe("second");
  expect(fault.struck).toBeGreaterThan(0);

  fault[Symbol.dispose]();
  await second.stop();
  await eventually(() => first.isLeader, { within: "90s" });
  expect(await workedBy(cluster, "c")).toBe("first");
}, 180_000);

test("replicas elect a leader by the clock of their test", async () => {
  const clock = new FakeClock();
  await using cluster = await startCluster({ pods: false, clock });
  await using first = await runModule(noteOf("first"), cluster, { leaderElection: "notes", show: "none" });
  await using second = await runModule(noteOf("second"), cluster, { leaderElection: "notes" });
  using _ = cluster.faults.takeLease(first);
  expect(first.isLeader).toBe(true);
  await clock.advanceInTurns(2_000);
  expect(first.isLeader).toBe(false);
  const began = performance.now();
  await eventually(async () => {
    await clock.advanceInTurns(500);
    return second.isLeader;
  });
  expect(performance.now() - began).toBeLessThan(15_000); // a lease duration
  expect(await workedBy(cluster, "a")).toBe("second");
});

test("a replica that is cut off from the server hands over, and follows when it is back", async () => {
  await using cluster = await startCluster({ pods: false });
  await using first = await runModule(noteOf("first"), cluster, { leaderElection: "notes", show: "none" });
  await using second = await runModule(noteOf("second"), cluster, { leaderElection: "notes" });
  const fault = cluster.faults.disconnect({ module: first });
  await eventually(() => second.isLeader, { within: "90s" });
  expect(await workedBy(cluster, "a")).toBe("second");
  fault[Symbol.dispose]();
  await second.stop();
  await eventually(() => first.isLeader, { within: "90s" });
  expect(await workedBy(cluster, "b")).toBe("first");
}, 180_000);

test("faults of one module leave the others alone", async () => {
  await using cluster = await startCluster({ pods: false });
  const copier = (name: string) =>
    defineController({
      name,
      for: Note,
      owns: [ConfigMap],
      async reconcile({ metadata }, { children }) {
        await children.sync({ copy: of(ConfigMap, { metadata: { name: `${metadata.name}-${name}` } }) });
      },
    });
  await using one = await runModule([copier("one"), Note], cluster, { show: "none" });
  await using _ = await runModule(copier("two"), cluster);
  using refused = cluster.faults.refuse(503, { module: one, kind: ConfigMap, times: Infinity, verbs: ["create"] });
  await cluster.client.create(Note, { metadata: key("a"), spec: {} });
  await eventually(async () => cluster.client.get(ConfigMap, key("a-two")));
  await eventually(() => refused.struck > 0);
  expect(await cluster.client.find(ConfigMap, key("a-one"))).toBeUndefined();
});

/** A plugin with a runnable for the leader, which takes a while to end. */
function sweeper(options: { readonly told: string[]; readonly ending?: () => Promise<void> }): Definition {
  const { told, ending = async () => {} } = options;
  return definePlugin({
    name: "sweeper",
    setup(registry) {
      registry.run(async ({ signal }) => {
        told.push("begins");
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        await ending();
        told.push("has ended");
      });
    },
  });
}

test("MGR-02 MGR-05 the Lease is let go when everything has ended, and not before", async () => {
  await using cluster = await startCluster({ pods: false });
  const told: string[] = [];
  const plugin = sweeper({
    told,
    ending: async () => {
      await Bun.sleep(100);
      told.push((await holder(cluster)) === "" ? "the Lease is free" : "the Lease is held");
    },
  });
  const replica = await runModule(plugin, cluster, { leaderElection: "notes" });
  await eventually(() => told.length === 1);
  await replica.stop();
  expect(told).toEqual(["begins", "the Lease is held", "has ended"]);
  expect(await holder(cluster)).toBe("");
});

test("MGR-04 a replica that never led has run nothing of the leader's, and ends without a word", async () => {
  await using cluster = await startCluster({ pods: false });
  await using _ = await runModule(sweeper({ told: [] }), cluster, { leaderElection: "notes" });
  const before = await holder(cluster);
  const told: string[] = [];
  const second = await runModule([noteOf("second"), Note, sweeper({ told })], cluster, { leaderElection: "notes" });
  // Its caches have synced while the election keeps it from working: MGR-01.
  await cluster.client.create(Note, { metadata: key("a"), spec: {} });
  await second.stop();
  expect(told).toEqual([]);
  expect(second.log.filter(({ level }) => level === "warn" || level === "error")).toEqual([]);
  expect(await holder(cluster)).toBe(before);
  expect((await cluster.client.get(Note, key("a"))).status?.by).toBeUndefined();
});
