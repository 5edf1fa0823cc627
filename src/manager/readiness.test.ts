import { expect, test } from "bun:test";
import { Readiness, type ReadinessModules, type ReadinessProcess } from "./readiness.ts";

type Controller = Pick<ReadinessModules["controllers"][number], "name" | "state" | "hasSynced">;

interface Situation {
  readonly loaded: boolean;
  readonly stopping: boolean;
  readonly controllers: readonly Controller[];
  readonly stats: ReadinessProcess["connection"]["stats"];
  readonly noneRuns: string | undefined;
  readonly neverRan: string | undefined;
}

function readinessIn({ loaded, stopping, controllers, stats, noneRuns, neverRan }: Situation): Readiness {
  const readiness = new Readiness(
    {
      connection: { stats },
      stopping: stopping ? AbortSignal.abort() : new AbortController().signal,
      development: false,
    },
    { controllers: controllers as never, noneRuns: () => noneRuns, neverRan: () => neverRan },
  );
  if (loaded) readiness.loaded();
  return readiness;
}

const controller = (state: Controller["state"], hasSynced = false): Controller => ({ name: "x", state, hasSynced });
const answered = { answers: new Map([["GET 403", 1]]) };
const silent = { answers: new Map([["GET <error>", 3]]) };
const parts: Situation = {
  loaded: true,
  stopping: false,
  controllers: [],
  stats: answered,
  noneRuns: undefined,
  neverRan: undefined,
};

const cases: readonly [string, Partial<Situation>, string | undefined][] = [
  ["no controllers", {}, undefined],
  ["not loaded", { loaded: false }, "modules are being loaded"],
  ["no module runs", { noneRuns: "no module runs: a.ts is broken" }, "no module runs: a.ts is broken"],
  ["a module that has never run", { neverRan: "a.ts is broken" }, "a.ts is broken"],
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
test.each(cases)("Readiness: %s", (_, given, expected) => {
  const told = readinessIn({ ...parts, ...given }).notReady();
  expect(told?.text).toBe(expected as never);
  // Names of controllers and messages are only for clients on this machine.
  expect(told?.cause ?? "").not.toMatch(/controller x|a\.ts|403|unreachable/);
});
