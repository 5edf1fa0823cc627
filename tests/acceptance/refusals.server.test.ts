/**
 * Tests an API server that rejects requests, loses responses and closes watches: no key is lost, and there are not
 * too many requests.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Behaviours, boxController, BOXES, Lab } from "../support/integration/lab.ts";
import type { Fault } from "../support/integration/faulty-proxy.ts";
import type { LoopbackRequest } from "../support/loopback-server.ts";
import { until } from "../support/until.ts";
import { available } from "../support/cluster.ts";

const COUNT = 60;
const CONCURRENCY = 8;
const names = Array.from({ length: COUNT }, (_, index) => `b${index}`);

describe.skipIf(!available)("refusals of the API server", () => {
  const behaviours = new Behaviours();
  let lab: Lab;
  let turn = 0;

  beforeAll(async () => {
    lab = await Lab.start(behaviours, [boxController(behaviours, { concurrency: CONCURRENCY })], {
      controllers: false,
    });
    for (const name of names) behaviours.set(name, async (box, { status }) => status.set({ turn: box.spec.turn }));
    await Promise.all(
      names.map((name) =>
        lab.cluster.send("POST", BOXES, {
          body: { apiVersion: "lab.binnacle.dev/v1", kind: "Box", metadata: { name }, spec: {} },
        }),
      ),
    );
    await settled();
  }, 180_000);

  afterAll(async () => {
    await lab[Symbol.asyncDispose]();
  }, 180_000);

  const change = async () => {
    turn++;
    await Promise.all(names.map((name) => lab.cluster.patch(`${BOXES}/${name}`, { spec: { turn } })));
  };

  /** Waits until every object's status says that its last change was reconciled. */
  async function settled(within = 30_000): Promise<void> {
    await until(
      async () => {
        const { items } = (await lab.cluster.get(BOXES))!;
        return items!.length === COUNT && items!.every(({ status }) => status?.["turn"] === turn);
      },
      { within, every: 100, what: () => `all statuses: ${lab.operator.text.slice(-1_000)}` },
    );
  }

  const lists = () => lab.proxy.seen.filter(({ method, path }) => method === "GET" && path === BOXES_ALL).length;

  /** Sets a fault, changes every object, and records the requests during the fault and after it. */
  async function burst(
    name: string,
    options: { fault: (request: LoopbackRequest) => Fault | undefined; ms: number; cut: boolean },
  ) {
    const before = lists();
    lab.proxy.faults.length = 0;
    lab.proxy.fault = (request) =>
      request.path.startsWith("/apis/lab.binnacle.dev") ? options.fault(request) : undefined;
    if (options.cut) lab.proxy.cut();
    const began = performance.now();
    await change();
    await Bun.sleep(options.ms);
    lab.proxy.fault = () => undefined;
    const over = performance.now();
    const faults = lab.proxy.faults.length;
    await settled();
    const seconds = (over - began) / 1_000;
    const after = Math.round(performance.now() - over);
    console.log(`${name}: ${faults} requests in ${seconds.toFixed(1)} s, all well ${after} ms after it`);
    expect(faults).toBeGreaterThan(0);
    // This includes requests that were under way when it began.
    expect(faults).toBeLessThanOrEqual(5 * seconds);
    return lists() - before;
  }

  const writes: readonly (readonly [string, Fault])[] = [
    ["429 with Retry-After", { kind: "refuse", code: 429, retryAfter: 1 }],
    ["500", { kind: "refuse", code: 500 }],
    ["503 with Retry-After: 0", { kind: "refuse", code: 503, retryAfter: 0 }],
    ["lost answers", { kind: "lose" }],
  ];
  for (const [name, fault] of writes) {
    test(`a burst of ${name} to writes: no key is lost`, async () => {
      expect(
        await burst(name, { fault: ({ method }) => (method === "GET" ? undefined : fault), ms: 3_000, cut: false }),
      ).toBe(0);
    }, 180_000);
  }

  test("a burst of 429 to everything causes no list", async () => {
    const fault: Fault = { kind: "refuse", code: 429, retryAfter: 1 };
    expect(await burst("429 to all", { fault: () => fault, ms: 3_000, cut: true })).toBe(0);
  }, 180_000);

  // Each earlier burst has doubled the pause before the next connection, up to 4 s.
  test("watches closed at once are opened again a few times, then everything is listed, each time later", async () => {
    const fault = ({ query }: LoopbackRequest): Fault | undefined =>
      query.get("watch") === "true" ? { kind: "close" } : undefined;
    expect(await burst("watches closed at once", { fault, ms: 6_000, cut: true })).toBeLessThanOrEqual(5);
  }, 180_000);
});

const BOXES_ALL = "/apis/lab.binnacle.dev/v1/boxes";
