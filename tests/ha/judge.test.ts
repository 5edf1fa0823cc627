import { expect, test } from "bun:test";
import type { LoggedRequest } from "./audit-log.ts";
import { type Evidence, judge, type Offence } from "./judge.ts";
import type { StoredLease } from "./lease-history.ts";
import { runsOf } from "./records.ts";

const DURATION = 15_000;

/** A write of the Lease at this time, with the time as its revision. */
function renewal(at: number, user: string): { lease: StoredLease; request: LoggedRequest } {
  const holder = user === "" ? "" : `identity of ${user}`;
  return {
    lease: { revision: at, holder, duration: DURATION, renewed: at },
    request: request({ user: user === "" ? "a" : user, resource: "leases", at, holder }),
  };
}

function request(about: Partial<LoggedRequest> & { readonly at: number }): LoggedRequest {
  const { at, ...rest } = about;
  return {
    user: "a",
    verb: "update",
    resource: "configmaps",
    name: "w",
    code: 200,
    received: at,
    answered: at,
    revision: at,
    holder: undefined,
    ...rest,
  };
}

function evidence(
  renewals: readonly ReturnType<typeof renewal>[],
  writes: readonly LoggedRequest[],
  more: Partial<Evidence> = {},
): Evidence {
  return {
    lease: renewals.map(({ lease }) => lease),
    leaseName: "lock",
    requests: [...renewals.map((one) => one.request), ...writes],
    runs: [],
    faults: [],
    until: 1e6,
    ...more,
  };
}

const offences = (of: Evidence): readonly (readonly [Offence, number])[] =>
  judge(of).violations.map(({ offence, late }) => [offence, late] as const);

test("judge lets the holder write, and nobody before the Lease is there", () => {
  const writes = [request({ at: 90 }), request({ at: 110 }), request({ at: 5_000 })];
  expect(offences(evidence([renewal(100, "a")], writes))).toEqual([["the Lease had been released", 0]]);
});

test("judge finds a write after another process has taken the Lease, by the order in which etcd wrote", () => {
  const renewals = [renewal(100, "a"), renewal(20_000, "b")];
  // The clock shows the same moment, so the revision decides.
  const before = request({ at: 20_000, revision: 14_999 });
  const after = request({ at: 20_010, revision: 20_001 });
  expect(offences(evidence(renewals, [{ ...before, received: 10_000 }, after]))).toEqual([
    ["another held the Lease", 10],
  ]);
  expect(offences(evidence(renewals, [request({ at: 20_010, user: "b" })]))).toEqual([]);
});

test("judge finds a write after the Lease has run out, or was let go", () => {
  expect(offences(evidence([renewal(100, "a")], [request({ at: 15_101 })]))).toEqual([["the Lease had run out", 1]]);
  const renewals = [renewal(100, "a"), renewal(5_000, "")];
  expect(offences(evidence(renewals, [request({ at: 5_012 })]))).toEqual([["the Lease had been released", 12]]);
});

test("judge lets a write that changed nothing be, when its sender held the Lease between question and answer", () => {
  const renewals = [renewal(100, "a"), renewal(20_000, "b")];
  const write = request({ at: 200 });
  const repeated = { ...write, received: 19_000, answered: 20_500 };
  // From 15.1 s on the Lease has expired, which counts for a write that arrives then.
  expect(offences(evidence(renewals, [write, repeated]))).toEqual([["the Lease had run out", 3_900]]);
  expect(offences(evidence(renewals, [write, { ...repeated, received: 14_000 }]))).toEqual([]);
  expect(offences(evidence(renewals, [write, { ...repeated, received: 20_100 }]))).toEqual([
    ["another held the Lease", 100],
  ]);
});

test("judge counts neither reads, nor what the server refused, nor writes of the Lease itself and its Events", () => {
  const about = { user: "b", at: 200 };
  const writes = [
    request({ ...about, verb: "get" }),
    request({ ...about, code: 409 }),
    request({ ...about, resource: "leases" }),
    request({ ...about, resource: "events", name: "lock.184dc6ab9a2bf1c8" }),
  ];
  expect(judge(evidence([renewal(100, "a")], writes))).toMatchObject({ writes: 0, violations: [] });
});

test("judge knows the holder when the server lost the line of a renewal", () => {
  const renewals = [renewal(100, "a"), renewal(9_000, "a")];
  const of = evidence(renewals, [request({ at: 20_000 })]);
  expect(offences({ ...of, requests: of.requests.filter(({ revision }) => revision !== 9_000) })).toEqual([]);
});

test("judge finds two runs of one key at once, also when one of them contains others", () => {
  const run = (user: string, key: string, from: number, until: number) => ({ user, key, from, until, isCut: false });
  const runs = [
    run("a", "x", 0, 100),
    run("a", "x", 10, 20),
    run("b", "x", 90, 120),
    run("b", "y", 0, 9),
    run("b", "x", 120, 130),
  ];
  expect(judge({ ...evidence([], []), runs }).twoRuns.map(({ second }) => second.from)).toEqual([10, 90]);
});

test("judge measures until another process writes, and how long nobody does", () => {
  const faults = [
    { kind: "SIGTERM", user: "a", leader: true, at: 1_000 },
    { kind: "server restart", user: undefined, leader: false, at: 9_000 },
  ];
  const renewals = [renewal(10, "a"), renewal(2_000, "b")];
  const writes = [request({ at: 1_100 }), request({ at: 2_300, user: "b" }), request({ at: 8_900, user: "b" })];
  const { takeovers } = judge(evidence(renewals, writes, { faults, until: 10_000 }));
  expect(takeovers.map(({ ms, silence }) => [ms, silence])).toEqual([
    [1_300, 6_600],
    [undefined, 1_000],
  ]);
});

const process = { user: "a", ended: undefined, stops: [] };

test("runsOf reads when runs were at work", () => {
  const lines = ["10 1 x begin", "20 1 x step", "30 1 x end", "40 2 y begin", "50 2 y cut", "60 3 x begin", "6"];
  expect(runsOf(lines, { ...process, ended: 70 })).toEqual([
    { user: "a", key: "x", from: 10, until: 30, isCut: false },
    { user: "a", key: "y", from: 40, until: 50, isCut: true },
    { user: "a", key: "x", from: 60, until: 70, isCut: false },
  ]);
});

test("runsOf ends a run when its process is stopped, unless it goes on to work after that", () => {
  const stops = [{ from: 20, until: 1_000 }];
  const until = (lines: readonly string[]) => runsOf(lines, { ...process, stops })[0]!.until;
  expect(until(["10 1 x begin", "1001 1 x cut"])).toBe(20);
  expect(until(["10 1 x begin", "1001 1 x end"])).toBe(20);
  expect(until(["10 1 x begin", "1001 1 x step", "1010 1 x end"])).toBe(1_010);
});
