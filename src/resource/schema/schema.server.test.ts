/** Tests every kind of zod type on a real API server: it accepts what zod accepts, and rejects what zod rejects. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { z } from "zod";
import { assets, type ControlPlane, lendPlane } from "../../../tests/support/control-plane.ts";
import { conditions } from "../conditions.ts";
import { crdOf } from "../crd.ts";
import { defineResource } from "../define.ts";

interface Row {
  readonly schema: z.ZodType;
  readonly right: readonly unknown[];
  readonly wrong: readonly unknown[];
  /** What the server stores for the first valid value, when it differs from the value. */
  readonly stored?: unknown;
  /** Values that the server cannot reject, although zod does. */
  readonly onlyZodRefuses?: readonly unknown[];
}

const rows: Readonly<Record<string, Row>> = {
  boolean: { schema: z.boolean(), right: [true], wrong: ["true"] },
  string: { schema: z.string().min(2).max(3), right: ["ab", "abc"], wrong: ["a", "abcd", 1] },
  patterns: {
    schema: z
      .string()
      .startsWith("a.")
      .regex(/\d\u0041$/)
      .includes("-"),
    right: ["a.-1A"],
    wrong: ["aX-1A", "a.1A"],
  },
  expressions: {
    schema: z.object({
      named: z.string().regex(/^(?<year>\d{4})-(?:x|y)$/),
      unicode: z.string().regex(/^\u{e9}\p{L}\P{Nd}\p{Script=Greek}\u{1F600}$/u),
      brackets: z.string().regex(/^[[\]\-/\b\w]+[^\d\u0041][^]$/),
      escapes: z.string().regex(new RegExp(String.raw`^\a\/\.\_\x41\cJ\t{2}a{b$`)),
      lines: z.string().regex(/^a.b$/ms),
    }),
    right: [{ named: "2026-x", unicode: "éÄxλ😀", brackets: "[]-/ax\n", escapes: "a/._A\n\t\ta{b", lines: "x\na\nb" }],
    wrong: [
      { named: "2026-z", unicode: "éÄxλ😀", brackets: "[]-/ax\n", escapes: "a/._A\n\t\ta{b", lines: "a\nb" },
      { named: "2026-x", unicode: "éÄ1λ😀", brackets: "[]-/ax\n", escapes: "a/._A\n\t\ta{b", lines: "a\nb" },
      { named: "2026-x", unicode: "éÄxλ😀", brackets: "[]-/aA\n", escapes: "a/._A\n\t\ta{b", lines: "a\nb" },
      { named: "2026-x", unicode: "éÄxλ😀", brackets: "[]-/ax\n", escapes: "\x07/._A\n\t\ta{b", lines: "a\nb" },
    ],
  },
  ignoreCase: { schema: z.string().regex(/^b+$/i), right: ["bB"], wrong: ["c"] },
  email: { schema: z.email(), right: ["a@example.com"], wrong: ["a"] },
  uuid: { schema: z.uuid(), right: ["123e4567-e89b-42d3-a456-426614174000"], wrong: ["123e4567"] },
  url: { schema: z.url(), right: ["https://a.b/c?d"], wrong: ["/a", "a"] },
  hostname: { schema: z.hostname(), right: ["a.example.com"], wrong: ["a_b!"] },
  datetime: {
    schema: z.iso.datetime(),
    right: ["2026-01-02T03:04:05Z"],
    wrong: ["2026-01-02", "2026-01-02T03:04:05+01:00"],
  },
  offset: {
    schema: z.iso.datetime({ offset: true }),
    right: ["2026-01-02T03:04:05+01:00"],
    wrong: ["2026-13-02T03:04:05Z"],
  },
  local: { schema: z.iso.datetime({ local: true }), right: ["2026-01-02T03:04:05"], wrong: ["2026-01-02"] },
  date: { schema: z.iso.date(), right: ["2026-01-02"], wrong: ["2026-13-02"] },
  time: { schema: z.iso.time(), right: ["03:04:05"], wrong: ["25:00:00"] },
  duration: { schema: z.iso.duration(), right: ["P1DT2H", "PT5M", "P2W"], wrong: ["P", "PT", "1h", "P1DT"] },
  ipv4: { schema: z.ipv4(), right: ["10.0.0.1"], wrong: ["10.0.0", "::1"] },
  ipv6: { schema: z.ipv6(), right: ["fe80::1"], wrong: ["10.0.0.1", "x"] },
  cidrv4: { schema: z.cidrv4(), right: ["10.0.0.0/8"], wrong: ["10.0.0.0", "fd00::/8"] },
  cidrv6: { schema: z.cidrv6(), right: ["fd00::/8"], wrong: ["10.0.0.0/8"] },
  base64: { schema: z.base64(), right: ["aGk="], wrong: ["a"] },
  base64url: { schema: z.base64url(), right: ["_-8"], wrong: ["a+b="] },
  template: { schema: z.templateLiteral(["v", z.int()]), right: ["v12"], wrong: ["12"] },
  number: { schema: z.number().gt(0).lt(4).multipleOf(0.5), right: [0.5, 3.5], wrong: [0, 4, 0.3] },
  int: {
    schema: z.int().min(-2),
    right: [-2, 9007199254740991],
    wrong: [-3, 1.5, "1"],
    onlyZodRefuses: [9007199254740992],
  },
  int32: { schema: z.int32(), right: [2147483647], wrong: [2147483648] },
  uint32: { schema: z.uint32(), right: [4294967295], wrong: [4294967296, -1] },
  enum: { schema: z.enum(["a", "b"]), right: ["a"], wrong: ["c"] },
  nullableEnum: { schema: z.enum(["a", "b"]).nullable(), right: ["a", null], wrong: ["c"] },
  numberEnum: { schema: z.literal([1, 2]), right: [2], wrong: [3, "1"] },
  literals: { schema: z.union([z.literal("a"), z.enum(["b", "c"]), z.null()]), right: ["c", null], wrong: ["d"] },
  nullable: { schema: z.string().nullable(), right: ["a", null], wrong: [1] },
  intOrString: {
    schema: z.union([z.string().regex(/^\d+%$/), z.int().min(0)]),
    right: ["5%", 5],
    wrong: ["5", -1, 1.5, true],
  },
  array: { schema: z.array(z.int()).min(1).max(2), right: [[1], [1, 2]], wrong: [[], [1, 2, 3], ["a"]] },
  set: { schema: z.array(z.string()).meta({ listType: "set" }), right: [["a", "b"]], wrong: [[1]] },
  listMap: {
    schema: z
      .array(z.object({ name: z.string(), port: z.int().default(80) }))
      .meta({ listType: "map", listMapKeys: ["name", "port"] }),
    right: [[{ name: "a" }, { name: "b" }]],
    stored: [
      { name: "a", port: 80 },
      { name: "b", port: 80 },
    ],
    wrong: [[{ port: 1 }]],
  },
  object: {
    schema: z.object({ a: z.string(), b: z.int().optional() }),
    right: [{ a: "x", c: 1 }],
    stored: { a: "x" },
    wrong: [{}, { a: 1 }],
  },
  strictObject: {
    schema: z.strictObject({ a: z.string() }),
    right: [{ a: "x" }],
    wrong: [{}],
    onlyZodRefuses: [{ a: "x", c: 1 }],
  },
  looseObject: { schema: z.looseObject({ a: z.string() }), right: [{ a: "x", c: { d: 1 } }], wrong: [{}] },
  catchall: { schema: z.object({}).catchall(z.int()), right: [{ a: 1 }], wrong: [{ a: "x" }] },
  record: { schema: z.record(z.string(), z.int()), right: [{ a: 1 }], wrong: [{ a: "x" }] },
  recordOfAnything: { schema: z.record(z.string(), z.unknown()), right: [{ a: { b: [1] } }], wrong: [1] },
  recordOfNames: { schema: z.record(z.enum(["a", "b"]), z.int()), right: [{ a: 1, b: 2 }], wrong: [{ a: 1 }] },
  partialRecord: { schema: z.partialRecord(z.enum(["a", "b"]), z.int()), right: [{ a: 1 }], wrong: [{ a: "x" }] },
  unknown: { schema: z.unknown(), right: [{ a: [1, "x"] }, "text", 5], wrong: [] },
  anything: { schema: z.any(), right: [[1, { a: 1 }]], wrong: [] },
  intersection: {
    schema: z.intersection(z.object({ a: z.string() }), z.object({ b: z.int() })),
    right: [{ a: "x", b: 1 }],
    wrong: [{ a: "x" }, { b: 1 }],
  },
  union: {
    schema: z.discriminatedUnion("type", [
      z.object({ type: z.literal("git"), url: z.string(), depth: z.int().optional() }),
      z.strictObject({ type: z.enum(["none", "off"]) }),
      z.strictObject({ type: z.literal("file"), path: z.string() }),
    ]),
    right: [{ type: "git", url: "x" }, { type: "off" }, { type: "file", path: "/" }],
    wrong: [{ type: "git" }, { type: "x" }, {}, { type: "none", url: "x" }, { type: "file", path: "/", depth: 1 }],
  },
  booleanUnion: {
    schema: z.discriminatedUnion("on", [
      z.object({ on: z.literal(true), level: z.int() }),
      z.object({ on: z.literal(false) }),
    ]),
    right: [{ on: true, level: 1 }, { on: false }],
    wrong: [{ on: true }, { on: 1 }],
  },
  defaults: {
    schema: z.object({
      a: z.object({ b: z.int().default(1), c: z.array(z.string()).default(["x"]) }).prefault({}),
      d: z.string().default(""),
    }),
    right: [{}],
    stored: { a: { b: 1, c: ["x"] }, d: "" },
    wrong: [{ a: { b: "x" } }],
  },
  nullableObject: {
    schema: z.object({ a: z.enum(["x"]).nullish() }).nullable(),
    right: [{ a: null }, {}, null],
    wrong: [{ a: "y" }],
  },
  nullableUnknown: { schema: z.unknown().nullable(), right: [{ a: null }, null, 1], wrong: [] },
  unknownWithin: { schema: z.object({ a: z.unknown() }), right: [{ a: { b: null } }, { a: null }], wrong: [] },
  nullableIntOrString: { schema: z.union([z.int(), z.string(), z.null()]), right: [1, "a", null], wrong: [true] },
  defaultUnion: {
    schema: z.object({
      a: z.union([z.int(), z.string()]).default("25%"),
      b: z.enum(["x", "y"]).nullable().default("y"),
    }),
    right: [{}, { a: 1, b: null }],
    stored: { a: "25%", b: "y" },
    wrong: [{ a: 1.5 }, { b: "z" }],
  },
  nullsWithin: {
    schema: z.object({ a: z.array(z.string().nullable()), b: z.record(z.string(), z.int().nullable()) }),
    right: [{ a: ["x", null], b: { c: null, d: 1 } }],
    wrong: [{ a: [1], b: {} }],
  },
  nullableUnion: {
    schema: z
      .discriminatedUnion("t", [z.object({ t: z.literal("a") }), z.object({ t: z.literal("b"), x: z.int() })])
      .nullable(),
    right: [{ t: "a" }, null],
    wrong: [{ t: "b" }],
  },
  defaultBranch: {
    schema: z.object({
      u: z
        .discriminatedUnion("t", [z.object({ t: z.literal("a") }), z.object({ t: z.literal("b"), x: z.int() })])
        .default({ t: "a" }),
    }),
    right: [{}],
    stored: { u: { t: "a" } },
    wrong: [{ u: { t: "c" } }],
  },
  listOfUnions: {
    schema: z.array(
      z.discriminatedUnion("t", [z.object({ t: z.literal("a") }), z.object({ t: z.literal("b"), x: z.int() })]),
    ),
    right: [[{ t: "a" }, { t: "b", x: 1 }]],
    wrong: [[{ t: "b" }]],
  },
  readonly: { schema: z.object({ a: z.int() }).readonly(), right: [{ a: 1 }], wrong: [{}] },
  lazy: { schema: z.lazy(() => z.object({ a: z.int() })), right: [{ a: 1 }], wrong: [{}] },
  described: { schema: z.string().describe("A word.").meta({ title: "Word" }), right: ["a"], wrong: [1] },
  atomic: { schema: z.object({ a: z.int() }).meta({ mapType: "atomic" }), right: [{ a: 1 }], wrong: [{}] },
  open: {
    schema: z.object({ a: z.int() }).loose().meta({ preserveUnknownFields: true }),
    right: [{ a: 1, b: 2 }],
    wrong: [{}],
  },
  immutable: { schema: z.string().max(10).meta({ immutable: true }), right: ["a"], wrong: [1] },
  embedded: {
    schema: z.looseObject({}).meta({ embeddedResource: true }),
    right: [{ apiVersion: "v1", kind: "Pod", metadata: { name: "x" }, spec: {} }],
    wrong: [1],
  },
  embeddedUnknown: {
    schema: z.unknown().meta({ embeddedResource: true }),
    right: [{ apiVersion: "v1", kind: "Pod", metadata: { name: "x" }, spec: {} }],
    wrong: [],
  },
  conditions: {
    schema: conditions("Ready").unwrap(),
    right: [
      [{ type: "Ready", status: "True", reason: "Fine", message: "", lastTransitionTime: "2026-01-02T03:04:05Z" }],
    ],
    wrong: [
      [{ type: "Ready", status: "Maybe", reason: "Fine", message: "", lastTransitionTime: "2026-01-02T03:04:05Z" }],
      [{}],
    ],
  },
};

function kindOf(schema: z.ZodType) {
  return defineResource({
    group: "demo.binnacle.dev",
    version: "v1",
    kind: "Row",
    spec: z.object({ value: schema.optional() }),
  });
}

const everything = defineResource({
  group: "demo.binnacle.dev",
  version: "v1",
  kind: "Everything",
  spec: z.object(Object.fromEntries(Object.entries(rows).map(([name, { schema }]) => [name, schema.optional()]))),
});

const full = defineResource({
  group: "demo.binnacle.dev",
  version: "v1",
  kind: "Gallery",
  names: { shortNames: ["gal"], categories: ["all"] },
  spec: z.object({
    replicas: z.int().min(0).max(10).default(1),
    expose: z.boolean().default(true),
    colour: z.string().max(20).default("red").meta({ immutable: true }),
  }),
  status: z.object({ replicas: z.int().optional(), selector: z.string().optional(), conditions: conditions("Ready") }),
  columns: [
    {
      name: "Ready",
      type: "string",
      path: '.status.conditions[?(@.type=="Ready")].status',
      description: "Whether all is up.",
    },
    { name: "Replicas", type: "integer", path: ".spec.replicas", priority: 1 },
  ],
  rules: [
    {
      rule: "!self.spec.expose || self.spec.replicas > 0",
      message: "an exposed gallery needs a replica",
      fieldPath: ".spec.replicas",
    },
  ],
  scale: { specReplicas: ".spec.replicas", statusReplicas: ".status.replicas", selector: ".status.selector" },
  selectableFields: [".spec.colour"],
});

const versioned = defineResource({
  group: "demo.binnacle.dev",
  kind: "Widget",
  versions: {
    v1: { spec: z.object({ size: z.int() }) },
    v1beta1: {
      spec: z.object({ large: z.boolean() }),
      deprecated: "use v1",
      toHub: (old) => ({ spec: { size: old.spec.large ? 2 : 1 } }),
      fromHub: (hub) => ({ spec: { large: hub.spec.size > 1 } }),
    },
  },
  hub: "v1",
  storage: "v1",
});

const bin = await assets();

describe.skipIf(!bin)("defineResource on a real API server", () => {
  let server: ControlPlane;
  const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const objects = "/apis/demo.binnacle.dev/v1/namespaces/default";

  async function send(method: string, path: string, body?: unknown) {
    const contentType = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const response = await server.request(path, {
      method,
      headers: { "content-type": contentType },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = (await response.json()) as {
      message?: string;
      spec?: Record<string, unknown>;
      status?: Record<string, unknown>;
      metadata?: { generation?: number };
    };
    return { code: response.status, message: answer.message ?? "", ...answer };
  }

  async function install(resource: Parameters<typeof crdOf>[0]): Promise<void> {
    const created = await send("POST", `${crds}?fieldValidation=Strict`, crdOf(resource));
    expect([created.code, created.message]).toEqual([201, ""]);
    const { plural } = resource;
    const deadline = Date.now() + 10_000;
    while (!(await server.request(`${objects}/${plural}`)).ok && Date.now() < deadline) await Bun.sleep(20);
  }

  beforeAll(async () => {
    server = await lendPlane(false);
    await install(everything);
    await install(full);
  }, 180_000);
  afterAll(async () => await server.stop());

  for (const [name, { schema, right, wrong, stored, onlyZodRefuses = [] }] of Object.entries(rows)) {
    test(`${name}: the schema is taken, and both sides agree about values`, async () => {
      const crd = await send("POST", `${crds}?dryRun=All&fieldValidation=Strict`, crdOf(kindOf(schema)));
      expect([crd.code, crd.message]).toEqual([201, ""]);
      const post = async (value: unknown) =>
        await send("POST", `${objects}/everythings?dryRun=All`, {
          apiVersion: "demo.binnacle.dev/v1",
          kind: "Everything",
          metadata: { name: "a" },
          spec: { [name]: value },
        });
      for (const [index, value] of right.entries()) {
        const answer = await post(value);
        expect([answer.code, answer.message]).toEqual([201, ""]);
        expect(answer.spec?.[name]).toEqual(index === 0 && stored !== undefined ? stored : value);
        expect(schema.safeParse(value).success).toBe(true);
      }
      for (const value of wrong) {
        const answer = await post(value);
        expect([JSON.stringify(value), answer.code]).toEqual([JSON.stringify(value), 422]);
        expect(schema.safeParse(value).success).toBe(false);
      }
      for (const value of onlyZodRefuses) {
        expect((await post(value)).code).toBe(201);
        expect(schema.safeParse(value).success).toBe(false);
      }
    });
  }

  test("a spec that may be empty is filled in, rules hold, and the status is a subresource", async () => {
    const gallery = { apiVersion: "demo.binnacle.dev/v1", kind: "Gallery", metadata: { name: "a" } };
    const created = await send("POST", `${objects}/galleries`, gallery);
    expect(created.code).toBe(201);
    expect(created.spec).toEqual({ replicas: 1, expose: true, colour: "red" });
    const hidden = await send("PATCH", `${objects}/galleries/a`, { spec: { replicas: 0 } });
    expect(hidden.message).toContain("an exposed gallery needs a replica");
    const repainted = await send("PATCH", `${objects}/galleries/a`, { spec: { colour: "blue" } });
    expect(repainted.message).toContain("field is immutable");
    const status = { replicas: 1, observedGeneration: 1, extra: 1 };
    const patched = await send("PATCH", `${objects}/galleries/a/status`, { status });
    expect(patched.status).toEqual({ replicas: 1, observedGeneration: 1 });
    expect(patched.metadata?.generation).toBe(1);
    const scale = await send("GET", `${objects}/galleries/a/scale`);
    expect([scale.spec, scale.status]).toEqual([{ replicas: 1 }, { replicas: 1 }]);
    const listed = await server.kubectl("get", "gal", "--field-selector=spec.colour=red", "-o", "wide");
    expect(listed.stdout).toMatch(/^NAME +READY +REPLICAS +AGE\na +1 +\d+s\n$/);
  });

  test("several versions make one CustomResourceDefinition", async () => {
    const answer = await send("POST", `${crds}?dryRun=All&fieldValidation=Strict`, crdOf(versioned));
    expect([answer.code, answer.message]).toEqual([201, ""]);
  });
});
