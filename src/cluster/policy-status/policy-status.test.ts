import { expect, test } from "bun:test";
import { CustomResourceDefinition, ValidatingAdmissionPolicy } from "../../resource/builtin/index.ts";
import { eventually } from "../../testing/eventually.ts";
import { startCluster } from "../../testing/start-cluster.ts";

const validations = (...expressions: readonly string[]) => expressions.map((expression) => ({ expression }));
const rule = (group: string, resource: string, version = "v1") => ({
  apiGroups: [group],
  apiVersions: [version],
  operations: ["CREATE" as const],
  resources: [resource],
});

test("the status of a policy tells which expressions do not fit the kinds that it matches", async () => {
  await using cluster = await startCluster({ server: "embedded" });
  const { client } = cluster;
  const statusOf = (name: string) =>
    eventually(async () => {
      const { status } = await client.get(ValidatingAdmissionPolicy, { name });
      expect(status?.typeChecking).toBeDefined();
      return status;
    });
  const create = (name: string, spec: object) => client.create(ValidatingAdmissionPolicy, { metadata: { name }, spec });

  const deployments = { resourceRules: [rule("apps", "deployments")] };
  await create("fits", { matchConstraints: deployments, validations: validations("object.spec.replicas > 1") });
  expect(await statusOf("fits")).toEqual({ observedGeneration: 1, typeChecking: {} });

  await create("confused", {
    matchConstraints: deployments,
    validations: [
      { expression: "object.spec.replicas > '1'", messageExpression: "'replicas: ' + object.spec.replicas" },
      { expression: "object.spec.nothing == variables.name && object.metadata.labels['a'] == 'b'" },
    ],
    variables: [{ name: "name", expression: "object.metadata.name" }],
  });
  const shown = "apps/v1, Kind=Deployment: ERROR: <input>:1";
  expect((await statusOf("confused"))?.typeChecking?.expressionWarnings).toEqual([
    {
      fieldRef: "spec.validations[0].expression",
      warning: `${shown}:22: found no matching overload for '_>_' applied to '(int, string)'\n | object.spec.replicas > '1'\n | .....................^\n`,
    },
    {
      fieldRef: "spec.validations[0].messageExpression",
      warning: `${shown}:14: found no matching overload for '_+_' applied to '(string, int)'\n | 'replicas: ' + object.spec.replicas\n | .............^\n`,
    },
    {
      fieldRef: "spec.validations[1].expression",
      warning: `${shown}:12: undefined field 'nothing'\n | object.spec.nothing == variables.name && object.metadata.labels['a'] == 'b'\n | ...........^\n`,
    },
  ]);

  const spec = { type: "object", properties: { size: { type: "integer" } } };
  await client.create(CustomResourceDefinition, {
    metadata: { name: "tubs.example.test" },
    spec: {
      group: "example.test",
      scope: "Namespaced",
      names: { plural: "tubs", singular: "tub", kind: "Tub", listKind: "TubList" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", properties: { spec } } },
        },
      ],
    },
  });
  await eventually(async () => {
    const { status } = await client.live.get(CustomResourceDefinition, { name: "tubs.example.test" });
    expect(status?.conditions?.some(({ type, status: is }) => type === "Established" && is === "True")).toBe(true);
  });
  await create("custom", {
    matchConstraints: { resourceRules: [rule("example.test", "tubs"), rule("", "pods")] },
    validations: validations("object.spec.size > '1'", "object.metadata.name.startsWith('a')"),
  });
  const [warning, ...more] = (await statusOf("custom"))?.typeChecking?.expressionWarnings ?? [];
  expect(more).toEqual([]);
  expect(warning?.warning).toBe(
    "/v1, Kind=Pod: ERROR: <input>:1:12: undefined field 'size'\n | object.spec.size > '1'\n | ...........^\n\n" +
      "example.test/v1, Kind=Tub: ERROR: <input>:1:18: found no matching overload for '_>_' applied to '(int, string)'\n | object.spec.size > '1'\n | .................^\n",
  );
});
