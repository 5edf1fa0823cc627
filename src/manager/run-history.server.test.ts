import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { defineController, defineResource, of, z } from "binnacle";
import { ConfigMap } from "binnacle/resources";
import { available, Cluster } from "../../tests/support/cluster.ts";
import { InProcess } from "../../tests/support/integration/in-process.ts";
import { until } from "../../tests/support/until.ts";
import { RunHistory } from "../history/run-history.ts";
import { systemClock } from "../platform/clock.ts";

const Site = defineResource({
  group: "history.binnacle.dev",
  version: "v1",
  kind: "Site",
  spec: z.object({ title: z.string() }),
});

const site = defineController({
  name: "site",
  for: Site,
  owns: [ConfigMap],
  async reconcile({ metadata: { name }, spec: { title } }, { children }) {
    await children.sync({ page: of(ConfigMap, { metadata: { name }, data: { title } }) });
  },
});

/** Copies the data of one ConfigMap to another one. */
function copying(name: string, from: string, to: string) {
  return defineController({
    name,
    for: ConfigMap,
    async reconcile({ metadata, data = {} }, { client }) {
      if (metadata.name !== from) return;
      await client.createOrUpdate(ConfigMap, { name: to, namespace: metadata.namespace }, (draft) => {
        draft.data = { ...data };
      });
    },
  });
}

describe.skipIf(!available)("the history of runs", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await Cluster.start({ controllers: false });
  }, 180_000);
  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
  });

  test("leads from the last object of a chain of controllers to the edit with which it began", async () => {
    const history = new RunHistory({ bytes: 8 * 2 ** 20, clock: systemClock, replica: "here" });
    const definitions = [Site, site, copying("second", "one", "two"), copying("third", "two", "three")];
    await using operator = await InProcess.start({ plane: cluster.plane, definitions, history });
    const sites = "/apis/history.binnacle.dev/v1/namespaces/default/sites";
    const body = { apiVersion: Site.apiVersion, kind: "Site", metadata: { name: "one" }, spec: { title: "a" } };
    await cluster.send("POST", sites, { body });
    const titleOf = async (name: string): Promise<unknown> =>
      (await cluster.get(`/api/v1/namespaces/default/configmaps/${name}`))?.data?.["title"];
    await until(async () => (await titleOf("three")) === "a", { within: 30_000 });
    await operator.idle();
    await cluster.patch(`${sites}/one?fieldManager=kubectl-edit`, { spec: { title: "b" } });
    await until(async () => (await titleOf("three")) === "b", { within: 30_000 });
    await operator.idle();
    const title = { old: "a", new: "b" };
    const [third] = history.runs({ controller: "third", key: "default/two" });
    expect(third).toMatchObject({
      causes: [
        { by: { manager: "second" }, changes: [{ path: "data.title", ...title }], run: { controller: "second" } },
      ],
      requests: [{ verb: "update", status: 200, by: "author", changes: [{ path: "data.title", ...title }] }],
      outcome: { result: "success" },
    });
    const second = history.run(third!.causes[0]!.run!.id);
    expect(second).toMatchObject({
      key: "default/one",
      causes: [{ by: { manager: "site" }, run: { controller: "site" } }],
    });
    const first = history.run(second!.causes[0]!.run!.id);
    expect(first).toMatchObject({
      causes: [{ by: { manager: "kubectl-edit", operation: "Update" }, changes: [{ path: "spec.title", ...title }] }],
      children: [{ name: "page", action: "changed", changes: [{ path: "data.title", ...title }] }],
    });
    expect(first!.causes[0]!.run).toBeUndefined();
  }, 120_000);
});
