import { expect, test } from "bun:test";
import { createApiServer } from "../server.ts";

test("openApi v2 has custom kinds, as JSON and in protobuf", async () => {
  await using server = await createApiServer();
  const read = async (accept: string): Promise<Buffer> => {
    const response = await server.fetch(new Request("http://server/openapi/v2", { headers: { accept } }));
    return Buffer.from(await response.arrayBuffer());
  };
  const protobuf = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
  const before = await read(protobuf);
  const spec = {
    type: "object",
    required: ["a", "b"],
    properties: {
      a: { type: "string", nullable: true },
      b: { type: "object", "x-kubernetes-preserve-unknown-fields": true, properties: { c: { type: "string" } } },
      d: { type: "integer", default: 1, anyOf: [{ minimum: 1 }] },
    },
  };
  const definition = {
    metadata: { name: "things.example.test" },
    spec: {
      group: "example.test",
      scope: "Namespaced",
      names: { plural: "things", kind: "Thing" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", properties: { spec } } },
        },
      ],
    },
  };
  await server.fetch(
    new Request("http://server/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(definition),
    }),
  );
  let after = before;
  for (let tries = 0; tries < 100 && after.length === before.length; tries += 1) {
    await Bun.sleep(5);
    after = await read(protobuf);
  }
  expect(after.subarray(0, before.length).equals(before)).toBe(true);
  expect(after.subarray(before.length).toString("latin1")).toContain("test.example.v1.Thing");
  const json = JSON.parse((await read("application/json")).toString()) as { definitions: Record<string, object> };
  // What v2 cannot say is left out, and what kubectl does not cope with.
  expect(json.definitions["test.example.v1.Thing"]).toMatchObject({
    properties: {
      spec: {
        type: "object",
        required: ["b"],
        properties: { a: {}, b: { "x-kubernetes-preserve-unknown-fields": true }, d: { type: "integer" } },
      },
    },
    "x-kubernetes-group-version-kind": [{ group: "example.test", version: "v1", kind: "Thing" }],
  });
});
