import { conditions, defineController, defineResource, of, watch, z } from "binnacle";
import { ConfigMap } from "binnacle/resources";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { available, Cluster } from "../../tests/support/cluster.ts";
import { InProcess } from "../../tests/support/integration/in-process.ts";
import { until } from "../../tests/support/until.ts";

const Pin = defineResource({
  group: "outside.binnacle.dev",
  version: "v1",
  kind: "Pin",
  spec: z.object({ slow: z.boolean().default(false), far: z.boolean().default(false) }),
  status: z.object({ from: z.string().optional(), conditions: conditions("Ready") }),
});
const PINS = "/apis/outside.binnacle.dev/v1/namespaces/default/pins";
const FAR = "/api/v1/namespaces/kube-system/configmaps";

describe.skipIf(!available)("what is not a run's own", () => {
  let cluster: Cluster;
  let operator: InProcess;
  let failure = "";
  const slow: PromiseWithResolvers<void> = Promise.withResolvers();
  const began: string[] = [];
  const pin = defineController({
    for: Pin,
    owns: [watch(ConfigMap, { track: "label" })],
    async reconcile({ metadata, spec }, { children, status }) {
      if (spec.slow) began.push(metadata.uid);
      if (spec.far) {
        const far = of(ConfigMap, { metadata: { name: metadata.name, namespace: "kube-system" }, data: { ours: "1" } });
        await children.sync({ far }).catch((error: Error) => (failure = error.message));
      }
      if (spec.slow && began.length > 1) return; // of the object that was made anew
      status.set({ from: metadata.uid });
      if (spec.slow) await slow.promise;
    },
  });

  beforeAll(async () => {
    cluster = await Cluster.start({ controllers: false });
    operator = await InProcess.start({ plane: cluster.plane, definitions: [Pin, pin], namespaces: ["default"] });
  }, 240_000);
  afterAll(async () => {
    await operator?.[Symbol.asyncDispose]();
    await cluster?.[Symbol.asyncDispose]();
  });

  const create = (name: string, spec: object) =>
    cluster.send("POST", PINS, { body: { apiVersion: Pin.apiVersion, kind: "Pin", metadata: { name }, spec } });

  test("a child outside the watched namespaces is refused before any write", async () => {
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "far" }, data: { theirs: "1" } };
    await cluster.send("POST", FAR, { body });
    await create("far", { far: true });
    await until(() => failure !== "", { what: () => operator.text });
    expect(failure).toContain("ConfigMap kube-system/far is outside the namespaces");
    expect(((await cluster.exists(`${FAR}/far`)) as unknown as { data: object }).data).toEqual({ theirs: "1" });
  });

  test("the status of an object that was made anew meanwhile is left alone", async () => {
    await create("again", { slow: true });
    await until(() => began.length >= 1, { what: () => operator.text });
    await cluster.patch(`${PINS}/again`, { metadata: { finalizers: null } });
    await cluster.send("DELETE", `${PINS}/again`);
    await create("again", { slow: true });
    await Bun.sleep(100); // until the watch has shown it
    slow.resolve();
    await until(() => began.length >= 2, { what: () => operator.text });
    await operator.idle();
    expect((await cluster.exists(`${PINS}/again`)).status).toBeUndefined();
    expect(operator.lines("error")).toEqual([]);
  });
});
