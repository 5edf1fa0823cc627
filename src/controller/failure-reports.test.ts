import { defineController, TerminalError } from "binnacle";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Behaviours, Box, boxController, Lab } from "../../tests/support/integration/lab.ts";
import { until } from "../../tests/support/until.ts";

const EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events";
const DEFAULT_CONDITION = "lab.binnacle.dev/box-reconciled";

interface Told {
  readonly reason: string;
  readonly note: string;
  readonly regarding: { readonly name: string };
  readonly series?: { readonly count: number };
}

describe("a key that keeps failing", () => {
  const behaviours = new Behaviours();
  const retry = { first: "5ms", max: "20ms" } as const;
  let lab: Lab;

  beforeAll(async () => {
    lab = await Lab.start(behaviours, [boxController(behaviours, { retry: { ...retry, condition: true } })], {
      server: "embedded",
    });
  }, 240_000);
  afterAll(async () => await lab?.[Symbol.asyncDispose]());

  const toldOf = async (name: string): Promise<readonly Told[]> =>
    ((await lab.cluster.get(EVENTS))!.items as unknown as readonly Told[]).filter(
      ({ regarding, reason }) => regarding.name === name && reason.startsWith("Reconcile"),
    );
  const conditionOf = async (name: string, type = DEFAULT_CONDITION) =>
    (await lab.get(name)).status?.conditions?.find((one) => one.type === type);

  /** Fails so often, and then no more. */
  async function failing(name: string, times: number, message: (attempt: number) => string): Promise<void> {
    behaviours.set(name, async (_, { attempt }) => {
      if (attempt <= times) throw new Error(message(attempt));
    });
    const body = { apiVersion: Box.apiVersion, kind: "Box", metadata: { name }, spec: {} };
    await lab.cluster.send("POST", "/apis/lab.binnacle.dev/v1/namespaces/default/boxes", { body });
    await until(() => (behaviours.runs.get(name) ?? 0) > times, { what: `${times} failures of ${name}` });
  }

  test("says so on its object from the third failure on, as one Event, and takes the condition back", async () => {
    await failing("twice", 2, () => "the disk is full");
    await failing("often", 12, () => "the disk is full");
    const [told, ...others] = await until(
      async () => {
        const events = await toldOf("often");
        return events.length > 0 ? events : undefined;
      },
      { what: "an Event" },
    );
    expect(told).toMatchObject({ reason: "ReconcileFailed", note: "the disk is full" });
    expect(others).toEqual([]);
    expect(await toldOf("twice")).toEqual([]);
    expect(await conditionOf("twice")).toBeUndefined();
    await until(async () => (await conditionOf("often"))?.status === "True", { what: "the condition taken back" });
    expect(await conditionOf("often")).toMatchObject({ reason: "Reconciled" });
  });

  test("with another message each time says so now and then", async () => {
    await failing("differs", 20, (attempt) => `request ${attempt} failed`);
    const notes = (await toldOf("differs")).map(({ note }) => note);
    expect(notes.toSorted()).toEqual(["3", "4", "8", "16"].map((n) => `request ${n} failed`).toSorted());
  });

  test("that is parked says so in the condition at once", async () => {
    await lab.box("parked", async () => {
      throw new TerminalError("no such plan");
    });
    expect(await conditionOf("parked")).toMatchObject({ status: "False", reason: "ReconcileParked" });
  });

  test("names the condition as the controller does, after as many failures, and needs none", async () => {
    await lab.restart([boxController(behaviours, { retry: { ...retry, tellAfter: 1, condition: "Reconciled" } })]);
    await lab.box("named", async () => {
      throw new TerminalError("no");
    });
    expect(await conditionOf("named", "Reconciled")).toMatchObject({ status: "False" });
    await lab.restart([boxController(behaviours, { retry })]);
    await failing("plain", 4, () => "boom");
    await until(async () => (await toldOf("plain")).length === 1, { what: "an Event" });
    expect((await lab.get("plain")).status?.conditions).toBeUndefined();
  });

  test("wrong options are refused", () => {
    const define = (options: object) => () => defineController({ for: Box, async reconcile() {}, retry: options });
    expect(define({ tellAfter: 0 })).toThrow("field 'tellAfter': expected a whole number of at least 1, got 0");
    expect(define({ condition: "not a name" })).toThrow("expected true, false or the name of a condition");
  });
});
