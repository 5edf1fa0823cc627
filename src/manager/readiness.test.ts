import { expect, test } from "bun:test";
import { notReady, type ReadinessInput } from "./readiness.ts";

type Controller = ReadinessInput["controllers"][number];

const controller = (state: Controller["state"], hasSynced = false): Controller => ({ name: "x", state, hasSynced });
const answered = { answers: new Map([["GET 403", 1]]) };
const silent = { answers: new Map([["GET <error>", 3]]) };
const parts: ReadinessInput = {
  loaded: true,
  stopping: false,
  controllers: [],
  stats: answered,
  noneRuns: undefined,
  neverRan: undefined,
  silence: 0,
};

const cases: readonly [string, Partial<ReadinessInput>, string | undefined][] = [
  ["no controllers", {}, undefined],
  ["not loaded", { loaded: false }, "modules are being loaded"],
  ["no module runs", { noneRuns: "no module runs: a.ts is broken" }, "no module runs: a.ts is broken"],
  ["a module that has never run", { neverRan: "a.ts is broken" }, "a.ts is broken"],
  ["a server that has been silent for 30 s", { silence: 30_000 }, undefined],
  ["a server that is silent for longer", { silence: 31_500 }, "the API server does not answer, and has not for 31s"],
  ["stopping", { stopping: true }, "stopping"],
  [
    "a controller that lists",
    { controllers: [controller({ kind: "syncing", message: "Pod is being listed" })] },
    "controller x has not synced: Pod is being listed",
  ],
  ["a controller that runs", { controllers: [controller({ kind: "running" }, true)] }, undefined],
  [
    "one that synced and is unavailable now",
    { controllers: [controller({ kind: "unavailable", message: "403" }, true)] },
    undefined,
  ],
  [
    "one that is forbidden from the start",
    { controllers: [controller({ kind: "unavailable", message: "403" })] },
    undefined,
  ],
  ["one whose kind does not exist", { controllers: [controller({ kind: "waiting", message: "no kind" })] }, undefined],
  [
    "a server that never answered",
    { stats: silent, controllers: [controller({ kind: "unavailable", message: "unreachable" })] },
    "controller x has not synced: unreachable",
  ],
];
test.each(cases)("notReady: %s", (_, given, expected) => {
  const told = notReady({ ...parts, ...given });
  expect(told?.text).toBe(expected as never);
  // Names of controllers and messages are only for clients on this machine.
  expect(told?.cause ?? "").not.toMatch(/controller x|a\.ts|403|unreachable/);
});
