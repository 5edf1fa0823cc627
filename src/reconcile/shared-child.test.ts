/** A child that two controllers of one object give different fields. */
import { of } from "binnacle";
import { Deployment } from "binnacle/resources";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Behaviours, boxController, Lab } from "../../tests/support/integration/lab.ts";
import type { ShapeOf } from "../controller/definition.ts";

type Owned = ShapeOf<typeof Deployment>;
const DEPLOYMENT = "/apis/apps/v1/namespaces/default/deployments/shared";

const shared = (labels: Record<string, string>) => {
  const containers = [{ name: "web", image: "web:1" }];
  return of(Deployment, {
    metadata: { name: "shared", labels },
    spec: {
      selector: { matchLabels: { app: "web" } },
      template: { metadata: { labels: { app: "web" } }, spec: { containers } },
    },
  });
};

describe("a child that two controllers of one object apply", () => {
  const one = new Behaviours<Owned>();
  const other = new Behaviours<Owned>();
  let lab: Lab<Owned>;

  beforeAll(async () => {
    const owns = [Deployment];
    const definitions = [boxController(one, { owns }), boxController(other, { name: "other", owns })];
    lab = await Lab.start(one, definitions, { server: "embedded" });
  });
  afterAll(async () => await lab?.[Symbol.asyncDispose]());

  test("settles, with the fields of both, also when both make it at once and after a restart", async () => {
    other.set("both", async (_, { children }) => void (await children.sync({ shared: shared({ b: "2" }) })));
    await lab.box("both", async (_, { children }) => void (await children.sync({ shared: shared({ a: "1" }) })));
    await lab.operator.idle(300);
    expect((await lab.cluster.exists(DEPLOYMENT)).metadata.labels).toEqual({ a: "1", b: "2" });
    expect(lab.operator.lines("warn")).toEqual([]);
    const runs = (one.runs.get("both") ?? 0) + (other.runs.get("both") ?? 0);
    expect(runs).toBeLessThan(12);
    await lab.restart();
    await lab.operator.idle(300);
    const writes = lab.proxy.writes.length;
    await lab.turn("both");
    await lab.operator.idle();
    expect(lab.proxy.writes.slice(writes).filter((write) => write.includes("deployments"))).toEqual([]);
    expect(lab.operator.lines("warn")).toEqual([]);
  });
});
