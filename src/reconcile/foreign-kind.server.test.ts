import { conditions, defineController, defineResource, foreignResource, resource, watch, z } from "binnacle";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Behaviours, Lab, servers } from "../../tests/support/integration/lab.ts";
import { until } from "../../tests/support/until.ts";

const GROUP = "foreign.example.com";

interface Schema {
  readonly type: string;
  readonly [keyword: string]: unknown;
}

/** A CustomResourceDefinition of somebody else's, whose status has these fields. */
function crd(kind: string, status: Readonly<Record<string, Schema>>): object {
  const singular = kind.toLowerCase();
  const schema = {
    type: "object",
    properties: {
      spec: { type: "object", properties: { turn: { type: "integer" } } },
      status: { type: "object", properties: status },
    },
  };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${singular}s.${GROUP}` },
    spec: {
      group: GROUP,
      scope: "Namespaced",
      names: { kind, plural: `${singular}s`, singular, listKind: `${kind}List` },
      versions: [
        { name: "v1", served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema: schema } },
      ],
    },
  };
}

const text: Schema = { type: "string" };
const integer: Schema = { type: "integer", format: "int64" };
const bare = { type: text, status: text, reason: text, message: text, lastTransitionTime: text };
const list = (properties: object): Schema => ({
  type: "array",
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["type"],
  items: { type: "object", required: ["type"], properties },
});

// Never exported by a module, as an author writes it who only wants the types of somebody else's kind.
const define = (kind: string) =>
  defineResource({
    group: GROUP,
    version: "v1",
    kind,
    spec: z.object({ turn: z.int().optional() }),
    status: z.object({ phase: z.string().optional(), conditions: conditions("Ready") }),
  });
const Plain = define("Plain");
const Bare = define("Bare");
const Full = define("Full");
const kinds = [
  { kind: "Plain", schema: { phase: text } },
  { kind: "Bare", schema: { phase: text, conditions: list(bare) } },
  {
    kind: "Full",
    schema: { phase: text, observedGeneration: integer, conditions: list({ ...bare, observedGeneration: integer }) },
  },
];

describe.each(servers)("a kind that others define, on the %s server", (server) => {
  let lab: Lab;

  beforeAll(async () => {
    lab = await Lab.start(new Behaviours(), [], { server });
    for (const { kind, schema } of kinds) {
      const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
      await lab.cluster.send("POST", path, { body: crd(kind, schema) });
      await until(() => lab.cluster.get(pathOf(kind)).then(Boolean, () => false), { what: `${kind} served` });
    }
  }, 240_000);
  afterAll(async () => await lab?.[Symbol.asyncDispose]());

  function pathOf(kind: string): string {
    return `/apis/${GROUP}/v1/namespaces/default/${kind.toLowerCase()}s`;
  }

  async function statusOf(kind: string, name: string, labels: Readonly<Record<string, string>> = {}) {
    const body = { apiVersion: `${GROUP}/v1`, kind, metadata: { name, labels }, spec: { turn: 1 } };
    await lab.cluster.send("POST", pathOf(kind), { body });
    return (await lab.cluster.exists(`${pathOf(kind)}/${name}`, ({ status }) => status !== undefined)).status!;
  }

  const condition = { type: "Ready", status: true, reason: "Done" } as const;

  test("gets no `observedGeneration` where its schema has none, whatever the handle says", async () => {
    await lab.restart([
      defineController({ for: Plain, reconcile: async (_, { status }) => status.set({ phase: "Done" }) }),
      defineController({
        for: Bare,
        async reconcile(_, { status }) {
          status.set({ phase: "Done" });
          status.condition(condition);
        },
      }),
    ]);
    expect(await statusOf("Plain", "defined")).toEqual({ phase: "Done" });
    const { phase, observedGeneration, conditions: written } = await statusOf("Bare", "defined");
    expect([phase, observedGeneration]).toEqual(["Done", undefined]);
    expect(written).toMatchObject([{ type: "Ready", status: "True", reason: "Done" }]);
    expect(Object.keys(written![0]!)).not.toContain("observedGeneration");
    expect(lab.operator.lines("error")).toEqual([]);
  });

  test("gets none through `resource()` either", async () => {
    await lab.restart([
      defineController({
        for: resource(`${GROUP}/v1`, "Bare"),
        reconcile: async (_, { status }) => status.condition(condition),
      }),
    ]);
    const { conditions: written, ...others } = await statusOf("Bare", "untyped");
    expect(others).toEqual({});
    expect(written).toMatchObject([{ type: "Ready", status: "True" }]);
    expect(Object.keys(written![0]!)).not.toContain("observedGeneration");
    expect(lab.operator.lines("error")).toEqual([]);
  });

  test("takes what `foreignResource` says of its status, and gets `observedGeneration` only where that has it", async () => {
    const kind = { group: GROUP, version: "v1", kind: "Full" } as const;
    const status = z.object({ phase: z.string().optional(), conditions: conditions("Ready") });
    const Without = foreignResource({ ...kind, schema: z.object({ status: status.optional() }) });
    const With = foreignResource({
      ...kind,
      schema: z.object({ status: status.extend({ observedGeneration: z.int().optional() }).optional() }),
    });
    const Typed = foreignResource<{ status?: z.output<typeof status> }>({ ...kind });
    const Named = foreignResource<{ status?: z.output<typeof status> }>({ ...kind, plural: "fulls" });
    const Bare = foreignResource<{ status?: z.output<typeof status> }>({ ...kind, kind: "Bare" });
    const reconciler = (name: string, foreign: typeof With | typeof Without | typeof Typed) =>
      defineController({
        name,
        for: watch(foreign as typeof Without, { labels: `for=${name}` }),
        async reconcile(_, { status }) {
          status.set({ phase: name });
          status.condition(condition);
        },
      });
    await lab.restart([
      reconciler("without", Without),
      reconciler("with", With),
      reconciler("typed", Typed),
      reconciler("named", Named),
      reconciler("bare", Bare),
    ]);
    const written = (name: string, kind = "Full") => statusOf(kind, name, { for: name });
    expect(await written("without")).not.toHaveProperty("observedGeneration");
    expect(await written("with")).toMatchObject({ phase: "with", observedGeneration: 1 });
    expect(await written("typed")).toMatchObject({ observedGeneration: 1, conditions: [{ observedGeneration: 1 }] });
    expect(await written("named")).toMatchObject({ observedGeneration: 1, conditions: [{ observedGeneration: 1 }] });
    const bare = await written("bare", "Bare");
    expect(bare).toMatchObject({ phase: "bare", conditions: [{ type: "Ready", status: "True" }] });
    expect(bare).not.toHaveProperty("observedGeneration");
    expect(lab.operator.lines("error")).toEqual([]);
  });

  test("gets it where its schema has it", async () => {
    await lab.restart([
      defineController({
        for: Full,
        async reconcile(_, { status }) {
          status.set({ phase: "Done" });
          status.condition(condition);
        },
      }),
    ]);
    const { observedGeneration, conditions: written } = await statusOf("Full", "full");
    expect(observedGeneration).toBe(1);
    expect(written).toMatchObject([{ type: "Ready", observedGeneration: 1 }]);
  });

  test("of a `finalize` that fails it says so in a condition only where it has conditions", async () => {
    const finalize = async (): Promise<void> => {
      throw new Error("not yet");
    };
    await lab.restart([
      defineController({ for: Plain, reconcile: async (_, { status }) => status.set({ phase: "Done" }), finalize }),
      defineController({ for: Bare, reconcile: async (_, { status }) => status.set({ phase: "Done" }), finalize }),
    ]);
    for (const kind of ["Plain", "Bare"]) {
      await statusOf(kind, "stays");
      await lab.cluster.send("DELETE", `${pathOf(kind)}/stays`);
    }
    const told = await lab.cluster.exists(`${pathOf("Bare")}/stays`, ({ status }) => status?.conditions !== undefined);
    expect(told.status).toMatchObject({ conditions: [{ status: "False", reason: "FinalizeFailed" }] });
    const refused = lab.operator.lines("warn").filter(({ msg }) => msg.startsWith("Cannot write the status"));
    expect(refused).toEqual([]);
  });
});
