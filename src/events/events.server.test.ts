import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Json } from "../../tests/support/cluster.ts";
import { Behaviours, boxController, Lab, servers } from "../../tests/support/integration/lab.ts";

const EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events";

interface Event extends Json {
  readonly action: string;
  readonly note: string;
  readonly series?: { readonly count: number };
}

describe.each(servers)("Events on the %s server", (server) => {
  const behaviours = new Behaviours();
  let lab: Lab;

  beforeAll(async () => {
    lab = await Lab.start(behaviours, [boxController(behaviours)], { server });
  }, 240_000);
  afterAll(async () => await lab?.[Symbol.asyncDispose]());

  test("EVT-01 the same one twice is one object with a series of 2, another message another object", async () => {
    await lab.box("told", async (_, { events }) => {
      events.normal("Told", "once");
      events.normal("Told", "once");
      events.warning("Told", "otherwise");
    });
    const { items } = await lab.cluster.exists(
      `${EVENTS}?fieldSelector=reason=Told`,
      ({ items }) => (items as Event[]).some(({ series }) => series?.count === 2) && items!.length === 2,
    );
    const told = (items as Event[]).map(({ note, series }) => `${note} ${series?.count ?? 1}`).toSorted();
    expect(told).toEqual(["once 2", "otherwise 1"]);
  });
});
