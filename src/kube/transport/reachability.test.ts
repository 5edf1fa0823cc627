import { expect, test } from "bun:test";
import { FakeClock } from "../../testing/fake-clock.ts";
import { UnreachableError } from "../errors/api-error.ts";
import { ReachabilityProbe } from "./reachability.ts";

function start(answers: boolean[], signs: boolean[] = []) {
  const clock = new FakeClock();
  let probes = 0;
  const reachability = new ReachabilityProbe({
    clock,
    random: () => 0.5,
    hasShownLife: () => signs.shift() ?? false,
    probe: async () => {
      if (!answers[Math.min(probes++, answers.length - 1)]) throw new Error("no");
    },
  });
  const changes: boolean[] = [];
  reachability.onChange((reachable) => changes.push(reachable));
  return { clock, reachability, changes, probes: () => probes };
}

const { signal } = new AbortController();

test("ReachabilityProbe waits for nothing while the server is reachable", async () => {
  const { reachability, probes } = start([true]);
  await reachability.wait(signal);
  expect(probes()).toBe(0);
});

test("ReachabilityProbe stays reachable when one probe after a failure succeeds", async () => {
  const { reachability, changes, probes } = start([true]);
  for (let i = 0; i < 10; i++) reachability.suspect();
  await reachability.wait(signal);
  expect([probes(), changes, reachability.reachable]).toEqual([1, [], true]);
});

test("ReachabilityProbe probes every 1 to 2 s for all who wait, and wakes them together", async () => {
  const { clock, reachability, changes, probes } = start([false, false, false, true]);
  reachability.suspect();
  let woken = 0;
  const waiting = Array.from({ length: 20 }, () => reachability.wait(signal).then(() => woken++));
  await clock.advanceInTurns(0);
  expect(reachability.reachable).toBe(false);
  reachability.suspect();
  await clock.advanceInTurns(4_499);
  expect([probes(), woken]).toEqual([3, 0]);
  await clock.advanceInTurns(1);
  await Promise.all(waiting);
  expect([probes(), woken, changes]).toEqual([4, 20, [false, true]]);
  expect(clock.timers).toBe(0);
});

test("ReachabilityProbe wait rejects with the signal's reason, and others keep waiting", async () => {
  const { clock, reachability } = start([false, true]);
  reachability.suspect();
  const controller = new AbortController();
  const given = reachability.wait(controller.signal).catch((error: unknown) => error);
  const kept = reachability.wait(signal);
  const reason = new Error("enough");
  controller.abort(reason);
  expect(await given).toBe(reason);
  await clock.advanceInTurns(2_000);
  await kept;
});

test("ReachabilityProbe close stops the probe and rejects who waits", async () => {
  const { clock, reachability } = start([false]);
  reachability.suspect();
  await clock.advanceInTurns(0);
  const waiting = reachability.wait(signal).catch(String);
  reachability.close();
  expect(await waiting).toContain("closed");
  expect(clock.timers).toBe(0);
});

test("ReachabilityProbe forgets a listener that was disposed", async () => {
  const { clock, reachability, changes } = start([false]);
  const late: boolean[] = [];
  reachability.onChange((reachable) => late.push(reachable))[Symbol.dispose]();
  reachability.suspect();
  await clock.advanceInTurns(0);
  expect([changes, late]).toEqual([[false], []]);
  reachability.close();
});

test("ReachabilityProbe verifies a server that has shown no life, and tells since when and why it is silent", async () => {
  const { clock, reachability, probes } = start([false, false, true], [true, false]);
  reachability.verify();
  await clock.advanceInTurns(0);
  expect(probes()).toBe(0);
  clock.advance(9_999);
  reachability.verify();
  expect(probes()).toBe(0);
  clock.advance(1);
  const since = clock.now();
  reachability.verify();
  await clock.advanceInTurns(1_500);
  reachability.verify();
  expect([probes(), reachability.outage]).toEqual([2, { since, error: new Error("no") }]);
  await clock.advanceInTurns(1_500);
  expect([probes(), reachability.outage]).toEqual([3, undefined]);
});

test("ReachabilityProbe tells the failure of a request that distrusts the server, which says more than the probe's", async () => {
  const error = (code: string, message: string) => new UnreachableError("https://a", { code, message });
  const failures = [error("CERT_HAS_EXPIRED", "expired"), error("ECONNREFUSED", "refused")];
  const clock = new FakeClock();
  const reachability = new ReachabilityProbe({
    clock,
    hasShownLife: () => false,
    probe: async () => {
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
    },
  });
  const request = error("CERT_HAS_EXPIRED", "expired in May");
  const refused = failures[1]!;
  reachability.suspect(request);
  for (const [passed, outage] of [
    [0, request],
    [2_000, refused],
    [2_000, undefined],
  ] as const) {
    await clock.advanceInTurns(passed);
    expect(reachability.outage?.error).toBe(outage);
  }
});
