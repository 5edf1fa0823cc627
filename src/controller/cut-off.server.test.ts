import { defineController, of } from "binnacle";
import { ConfigMap } from "binnacle/resources";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Behaviours, Box, BOXES, Lab, servers } from "../../tests/support/integration/lab.ts";
import { until } from "../../tests/support/until.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";

describe.each(servers)("a write that the %s server carries out after its run was cut off", (server) => {
  /** A version of the module, which writes its name into a child, or into the object by hand. */
  const version = (name: string) => [
    Box,
    defineController({
      name: "box",
      for: Box,
      owns: [ConfigMap],
      async reconcile({ metadata }, { children, client }) {
        if (metadata.name === "child") {
          await children.sync({ map: of(ConfigMap, { metadata: { name: "child" }, data: { by: name } }) });
        }
        if (metadata.name === "hand" && metadata.annotations?.["by"] !== name) {
          await client.patch(
            Box,
            { name: "hand", namespace: "default" },
            { type: "merge", body: { metadata: { annotations: { by: name } } } },
          );
        }
      },
    }),
  ];
  let lab: Lab;

  beforeAll(async () => {
    lab = await Lab.start(new Behaviours(), version("first"), { server, grace: 200 });
  }, 240_000);
  afterAll(async () => await lab?.[Symbol.asyncDispose]());

  test.each([
    { name: "child", path: `${MAPS}/child`, by: ({ data }: Told) => data?.["by"] },
    { name: "hand", path: `${BOXES}/hand`, by: ({ metadata }: Told) => metadata.annotations?.["by"] },
  ])("is corrected by the next version: $name", async ({ name, path, by }) => {
    await lab.restart(version("first"));
    await lab.cluster.send("POST", BOXES, {
      body: { apiVersion: Box.apiVersion, kind: "Box", metadata: { name }, spec: {} },
    });
    const written = (text: string) => lab.cluster.exists(path, (object) => by(object as Told) === text, 5_000);
    await written("first");

    const arrived = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    lab.proxy.before = async ({ method, path: asked, body }) => {
      if (method === "GET" || asked !== path || !body.includes("second")) return;
      arrived.resolve();
      await goOn.promise;
    };
    const reloaded = lab.operator.replace(version("second"));
    await arrived.promise;
    await reloaded;
    await lab.operator.replace(version("third"));
    await written("third");
    await lab.operator.idle();
    const before = lab.proxy.writes.length;
    goOn.resolve();
    await until(() => lab.proxy.writes.length > before, { what: "the late write" });
    await lab.operator.idle();
    await written("third");
    expect(lab.operator.lines("error")).toEqual([]);
  });
});

interface Told {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly data?: Readonly<Record<string, string>>;
}
