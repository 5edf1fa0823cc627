import { expect, test } from "bun:test";
import { defaultDurations } from "../../tests/support/integration/election-world.ts";
import { LeaseServer } from "../../tests/support/integration/lease-server.ts";
import { sendJson } from "../../tests/support/loopback-server.ts";
import type { Lease, LeaseSpec } from "../election/lease.ts";
import { createLog } from "../observe/log.ts";
import { systemClock } from "../platform/clock.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { Manager } from "./manager.ts";
import { until } from "../../tests/support/until.ts";

const held = (identity: string): LeaseSpec => ({
  holderIdentity: identity,
  leaseDurationSeconds: 15,
  leaseTransitions: 0,
  acquireTime: "2026-01-02T03:04:05.000000Z",
});

/** A process without modules that seeks the Lease. */
async function setUp(spec?: LeaseSpec) {
  const cleanup = new AsyncDisposableStack();
  const leases = cleanup.use(
    await LeaseServer.start(spec, ({ body }, reply) => sendJson(reply, JSON.parse(body || "{}"))),
  );
  const clock = new FakeClock();
  const lines: { readonly level: string; readonly msg: string }[] = [];
  const manager = new Manager({
    cluster: leases.server.config,
    log: createLog({ level: "info", format: "json", write: (line) => void lines.push(JSON.parse(line)) }),
    settings: { "health-probe-bind-address": "127.0.0.1:0", "metrics-bind-address": "127.0.0.1:0" },
    clock,
    connectionClock: systemClock,
    election: {
      ...defaultDurations,
      mode: "process",
      id: "lock",
      namespace: "default",
      release: true,
      identity: "us",
    },
  });
  cleanup.defer(() => manager.stop());
  await manager.start();
  manager.loaded();
  const get = async (path: string): Promise<readonly [number, string]> => {
    const response = await fetch(`http://${manager.address("health-probe")}${path}`);
    return [response.status, await response.text()];
  };
  const metrics = async (): Promise<string> => (await fetch(`http://${manager.address("metrics")}/metrics`)).text();
  return { leases, clock, manager, lines, get, metrics, [Symbol.asyncDispose]: () => cleanup.disposeAsync() };
}

test("LE-10 Elections fail /healthz when a leader did not notice for long that its Lease ran out", async () => {
  await using world = await setUp();
  const { leases, manager, clock, get } = world;
  await until(() => manager.elections!.isLeader);
  await until(() => leases.server.requests.some(({ path }) => path.endsWith("/events")));
  expect(await get("/healthz/leaderElection")).toEqual([200, "ok"]);
  // Time has passed, and no timer has run: neither the metrics nor anything else compared the clocks.
  const now = clock.now.bind(clock);
  clock.now = () => now() + 35_000;
  expect(await get("/healthz/leaderElection")).toEqual([200, "ok"]);
  clock.now = () => now() + 35_001;
  expect(await get("/healthz/leaderElection")).toEqual([
    500,
    "internal server error: failed election to renew leadership on lease lock\n",
  ]);
  const [status, text] = await get("/healthz?verbose");
  expect([status, text]).toEqual([
    500,
    expect.stringContaining("[-]leaderElection failed: failed election to renew leadership on lease lock"),
  ]);
});

test("LE-10 Elections are well while another replica leads, and when the lead was lost long ago", async () => {
  await using world = await setUp();
  const { leases, manager, clock, get, metrics } = world;
  await until(() => manager.elections!.isLeader && clock.timers >= 2);
  expect(await metrics()).toContain('leader_election_master_status{name="lock"} 1');
  leases.put(held("thief"));
  await clock.advanceInTurns(5_500);
  await until(() => !manager.elections!.isLeader && leases.watches === 1);
  for (let second = 0; second < 120; second++) {
    if (second % 10 === 0) leases.put(held("thief"));
    await Bun.sleep(1);
    await clock.advanceInTurns(1_000);
  }
  expect(manager.elections!.isLeader).toBe(false);
  expect(await get("/healthz/leaderElection")).toEqual([200, "ok"]);
  expect((await get("/readyz?verbose"))[1]).toContain("leaderElection/lock following thief");
  const text = await metrics();
  expect(text).toContain('leader_election_master_status{name="lock"} 0');
  expect(text).toContain('leader_election_slowpath_total{name="lock"} 1');
});

test("Elections log who holds the Lease once for each change", async () => {
  await using world = await setUp(held("first"));
  const { leases, clock, manager, lines } = world;
  await until(() => leases.watches === 1);
  for (const holder of ["first", "first", "second", "second", ""]) {
    leases.put(held(holder));
    await Bun.sleep(10);
  }
  await until(() => (clock.advance(0), clock.advance(200), manager.elections!.isLeader));
  expect(lines).toContainEqual(expect.objectContaining({ holder: "second", since: "2026-01-02T03:04:05.000000Z" }));
  const told = lines.map(({ msg }) => msg).filter((msg) => /lead/.test(msg));
  expect(told).toEqual(["Another replica leads", "Another replica leads", "Nobody leads", "This replica leads"]);
});

test.each(["lost", "handed over"])(
  "Elections say in Events of the Lease who leads, and that the lead is %s",
  async (how) => {
    await using world = await setUp();
    const { leases, manager, clock } = world;
    const sent = (): string[] =>
      leases.server.requests.flatMap(({ method, path, body }) => {
        if (path.endsWith("/leases/lock") && method === "PUT") {
          return (JSON.parse(body) as Lease).spec?.holderIdentity === "" ? ["released"] : [];
        }
        if (!path.endsWith("/events")) return [];
        const { reason, note, regarding } = JSON.parse(body) as Record<"reason" | "note" | "regarding", string>;
        expect(regarding).toMatchObject({ kind: "Lease", name: "lock" });
        return [`${reason}: ${note}`];
      });
    await until(() => manager.elections!.isLeader && sent().length === 1);
    if (how === "lost") {
      leases.put(held("thief"));
      await until(() => (clock.advance(200), sent().length === 2));
    } else await manager.stop();
    const events = ["LeaderElection: us became leader", "LeaderElection: us stopped leading"];
    expect(sent()).toEqual(how === "lost" ? events : [...events, "released"]);
  },
);

test("Elections show and log the beginning of a holder of 300 kB", async () => {
  await using world = await setUp(held("x".repeat(300_000)));
  const { leases, lines, get } = world;
  await until(() => leases.watches === 1);
  expect((await get("/readyz?verbose"))[1].length).toBeLessThan(1_000);
  expect(JSON.stringify(lines).length).toBeLessThan(2_000);
});
