import { defineController, defineResource, of, watch, z } from "binnacle";
import { ConfigMap } from "binnacle/resources";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { available, Cluster } from "../../tests/support/cluster.ts";
import { InProcess } from "../../tests/support/integration/in-process.ts";
import { until } from "../../tests/support/until.ts";

const Flag = defineResource({
  group: "selected.binnacle.dev",
  version: "v1",
  kind: "Flag",
  spec: z.object({ colour: z.string() }),
  status: z.object({ seen: z.string().optional() }),
});

describe.skipIf(!available)("what a selector shows and hides", () => {
  let cluster: Cluster;
  let operator: InProcess | undefined;

  beforeAll(async () => {
    cluster = await Cluster.start({ controllers: false });
  }, 180_000);
  afterEach(async () => {
    await operator?.[Symbol.asyncDispose]();
    operator = undefined;
  });
  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
  });

  const flags = (namespace: string) => `/apis/selected.binnacle.dev/v1/namespaces/${namespace}/flags`;
  const create = (namespace: string, name: string, labels: Record<string, string> = {}) =>
    cluster.send("POST", flags(namespace), {
      body: { apiVersion: Flag.apiVersion, kind: "Flag", metadata: { name, labels }, spec: { colour: "red" } },
    });
  const label = (namespace: string, team: string | null) =>
    cluster.patch(`/api/v1/namespaces/${namespace}`, { metadata: { labels: { team } } });
  const addNamespace = (name: string, team?: string) =>
    cluster.send("POST", "/api/v1/namespaces", {
      body: { metadata: { name, labels: team === undefined ? {} : { team } } },
    });

  test("namespaces with labels come and go while the process runs", async () => {
    const finalized: string[] = [];
    const mine = { namespaces: { labels: { team: "a" } } };
    const controller = defineController({
      for: watch(Flag, mine),
      owns: [watch(ConfigMap, mine)],
      async reconcile({ metadata, spec }, { children, status }) {
        await children.sync({
          map: of(ConfigMap, { metadata: { name: metadata.name }, data: { colour: spec.colour } }),
        });
        status.set({ seen: spec.colour });
      },
      async finalize({ metadata }) {
        finalized.push(`${metadata.namespace}/${metadata.name}`);
      },
    });
    await addNamespace("first", "a");
    await addNamespace("second");
    operator = await InProcess.start({ plane: cluster.plane, definitions: [Flag, controller] });
    const seen = async (namespace: string, name: string) =>
      (await cluster.get(`${flags(namespace)}/${name}`))?.status?.["seen"];
    await create("first", "one");
    await create("second", "two");
    await until(async () => (await seen("first", "one")) === "red", { what: () => operator!.text });
    expect(await seen("second", "two")).toBeUndefined();
    expect(operator.manager.modules.controllers[0]!.state.kind).toBe("running");

    await label("second", "a");
    await until(async () => (await seen("second", "two")) === "red", { what: () => operator!.text });
    await addNamespace("third", "a");
    await create("third", "three");
    await until(async () => (await seen("third", "three")) === "red", { what: () => operator!.text });

    // What leaves is finalized and let go; what comes back is taken up again.
    await label("first", null);
    await until(async () => (await cluster.get(`${flags("first")}/one`))?.metadata.finalizers === undefined, {
      what: () => operator!.text,
    });
    expect(finalized).toEqual(["first/one"]);
    await cluster.patch(`${flags("first")}/one`, { spec: { colour: "blue" } });
    await label("first", "a");
    await until(async () => (await seen("first", "one")) === "blue", { what: () => operator!.text });
    // A kind that is new to the server may still be getting its storage.
    const warnings = operator.lines("warn").filter((line) => !JSON.stringify(line).includes("(re)initializing"));
    expect(warnings).toEqual([]);
  }, 180_000);

  test("what left the selector while nobody watched is finalized and let go", async () => {
    const finalized: string[] = [];
    const controller = defineController({
      name: "left",
      for: watch(Flag, { labels: "watched=yes" }),
      async reconcile() {},
      async finalize({ metadata, spec }) {
        finalized.push(`${metadata.name} ${spec.colour}`);
      },
    });
    await addNamespace("left");
    operator = await InProcess.start({ plane: cluster.plane, definitions: [Flag, controller] });
    await create("left", "stays", { watched: "yes" });
    await create("left", "leaves", { watched: "yes" });
    const finalizers = async (name: string) => (await cluster.get(`${flags("left")}/${name}`))?.metadata.finalizers;
    await until(async () => (await finalizers("leaves")) !== undefined && (await finalizers("stays")) !== undefined, {
      what: () => operator!.text,
    });
    await operator[Symbol.asyncDispose]();
    await cluster.patch(`${flags("left")}/leaves`, { metadata: { labels: { watched: null } } });
    operator = await InProcess.start({ plane: cluster.plane, definitions: [Flag, controller] });
    await until(async () => (await finalizers("leaves")) === undefined, { what: () => operator!.text });
    expect(finalized).toEqual(["leaves red"]);
    expect(await finalizers("stays")).toHaveLength(1);
  }, 180_000);
});
