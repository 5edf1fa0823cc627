import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import type { StructuralSchema } from "../resource/schema/structural.ts";
import { type ForeignKind, GENERATED, handleSource } from "./handle-source.ts";

const text = { type: "string" } as const;

function source(schema: StructuralSchema, more: Partial<ForeignKind> = {}): string {
  const kind = {
    group: "acme.io",
    version: "v1",
    kind: "Gate",
    plural: "gates",
    scope: "Namespaced",
    ...more,
  } as const;
  return handleSource({ ...kind, schema });
}

function spec(properties: Record<string, StructuralSchema>, more: StructuralSchema = {}): string {
  const whole = source({ type: "object", properties: { spec: { type: "object", properties, ...more } } });
  return /export interface GateSpec \{\n([^}]*(?:\}[^\n}]+[^}]*)*)\}\n/.exec(whole)?.[1] ?? whole;
}

test("a kind is an interface, a handle, and an interface for each object in it", () => {
  const schema: StructuralSchema = {
    type: "object",
    description: "Gate lets boats through.",
    required: ["spec"],
    properties: {
      apiVersion: text,
      kind: text,
      metadata: { type: "object" },
      spec: {
        type: "object",
        required: ["width"],
        properties: { width: { type: "integer", description: "In metres." } },
      },
      status: { type: "object", properties: { "is-open": { type: "boolean" } } },
    },
  };
  expect(source(schema)).toBe(`${GENERATED} from gates.acme.io v1 (acme.io/v1); do not edit.
import { foreignResource, type ObjectMeta } from "binnacle";

/** Gate lets boats through. */
export interface Gate {
  readonly apiVersion: "acme.io/v1";
  readonly kind: "Gate";
  readonly metadata: ObjectMeta;
  readonly spec: GateSpec;
  readonly status?: GateStatus | undefined;
}

export const Gate = foreignResource<Gate>({
  group: "acme.io",
  version: "v1",
  kind: "Gate",
  plural: "gates",
});

export interface GateSpec {
  /** In metres. */
  readonly width: number;
}

export interface GateStatus {
  readonly "is-open"?: boolean | undefined;
}
`);
});

test("a field with a default is always answered, and need not be written", () => {
  const width: StructuralSchema = { type: "integer", default: 3 };
  const whole = source(
    {
      type: "object",
      properties: {
        spec: { type: "object", required: ["width", "name"], properties: { width, name: text } },
        status: { type: "object", properties: { open: { type: "boolean" } } },
      },
    },
    { scope: "Cluster" },
  );
  expect(whole).toContain(
    `import { foreignResource, type ForeignTypes, type MetaInput, type ObjectMeta } from "binnacle";`,
  );
  expect(whole).toContain(`foreignResource<ForeignTypes<Gate, GateInput>, "Cluster">({`);
  expect(whole).toContain(`  scope: "Cluster",\n`);
  expect(whole).toContain("interface GateSpec {\n  readonly width: number;\n  readonly name: string;\n}");
  expect(whole).toContain(
    "interface GateSpecInput {\n  readonly width?: number | undefined;\n  readonly name: string;\n}",
  );
  expect(whole).toContain(
    "interface GateInput {\n  readonly metadata: MetaInput;\n  readonly spec?: GateSpecInput | undefined;",
  );
  expect(whole.match(/interface GateStatus/g)).toHaveLength(1);
});

test.each<[StructuralSchema, string]>([
  [text, "string"],
  [{ type: "number", nullable: true }, "number | null"],
  [{ "x-kubernetes-int-or-string": true }, "number | string"],
  [{ type: "string", enum: ["a", "b"] }, '"a" | "b"'],
  [{ type: "array", items: { type: "string", enum: ["a", "b"] } }, 'readonly ("a" | "b")[]'],
  [{ type: "array", items: text }, "readonly string[]"],
  [{ type: "array", items: { type: "object", properties: { a: text } } }, "readonly GateSpecDoor[]"],
  [{ type: "object" }, "{ readonly [key: string]: unknown }"],
  [{ type: "object", additionalProperties: text }, "{ readonly [key: string]: string }"],
  [{ type: "object", "x-kubernetes-preserve-unknown-fields": true }, "{ readonly [key: string]: unknown }"],
])("a field of %p is %p", (schema, type) => {
  expect(spec({ doors: schema })).toBe(`  readonly doors?: ${type} | undefined;\n`);
});

test("what nothing is known of is unknown, and an object that takes anything says so", () => {
  expect(spec({ doors: { "x-kubernetes-preserve-unknown-fields": true } })).toBe("  readonly doors?: unknown;\n");
  expect(spec({ a: text }, { "x-kubernetes-preserve-unknown-fields": true })).toContain(
    "readonly [field: string]: unknown;",
  );
});

test("two objects of one name are told apart", () => {
  const inner: StructuralSchema = { type: "object", properties: { a: text } };
  const other: StructuralSchema = { type: "object", properties: { b: text } };
  const whole = source({ type: "object", properties: { fooBar: inner, "foo-bar": other } });
  expect(whole).toContain("readonly fooBar?: GateFooBar | undefined;");
  expect(whole).toContain(`readonly "foo-bar"?: GateFooBar2 | undefined;`);
});

describe("a kind that somebody hostile defines", () => {
  const seed = Number(process.env["HANDLE_SOURCE_SEED"] ?? 26);
  const CODE = "globalThis.owned = 1;";
  /** Pieces of which texts are made that try to end a comment, a text, a type or a line. */
  const piece = fc.constantFrom(
    "*",
    "/",
    "*/",
    "/*",
    "(More info: https://x.y)",
    "More info: https://x.y*/",
    " https://x/api-conventions.md#*/",

    "\n",
    "\r",
    "\u2028",
    "\u2029",
    " ",
    "\n\n",
    "\n - ",
    '"',
    "'",
    "`",
    "${",
    "}",
    ";",
    "]: 1 };",
    "\\",
    "\u0000",

    "Possible enum values:",
    "@see ",
    "{@link x}",
    "More info:",
    ". A",
    "<",
    ">",
    "é",
    "\u202e",
    "\u001b[2J",
    CODE,
    "//",
  );
  const hostile = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""));
  const schemas = fc.letrec<{ schema: StructuralSchema }>((tie) => ({
    schema: fc.record(
      {
        description: hostile,
        type: fc.constantFrom("object", "array", "string", "integer", ""),
        enum: fc.array(fc.oneof(hostile, fc.constant(null), fc.dictionary(hostile, hostile)), {
          minLength: 1,
          maxLength: 3,
        }),
        default: hostile,
        properties: fc.dictionary(
          fc.oneof(hostile, fc.constantFrom("constructor", "__proto__", "a b")),
          tie("schema"),
          { maxKeys: 3 },
        ),
        items: tie("schema"),
        required: fc.array(hostile, { maxLength: 2 }),
      },
      { requiredKeys: [] },
    ) as fc.Arbitrary<StructuralSchema>,
  })).schema;
  const names = new Map([
    ["class", "Class"],
    ["my-kind", "MyKind"],
    ["ObjectMeta", "ObjectMetaKind"],
    ["undefined", "Undefined"],
  ]);
  const typescript = new Bun.Transpiler({ loader: "ts" });
  const withoutSpace = (code: string) => code.replaceAll(/\s+/g, "");

  test("gets a file that has nothing but its declarations", () => {
    const kind = fc.record({
      schema: schemas,
      kind: fc.constantFrom("Gate", "class", "my-kind", "ObjectMeta", "undefined", "String"),
    });
    fc.assert(
      fc.property(kind, ({ schema, kind }) => {
        const root: StructuralSchema = {
          description: schema.description,
          type: "object",
          properties: { spec: schema, status: schema },
        };
        const name = names.get(kind) ?? kind;
        // What is left without types and comments is all that would run.
        const compiled = typescript.transformSync(source(root, { kind }));
        const handle = `{ group: "acme.io", version: "v1", kind: "${kind}", plural: "gates" }`;
        expect(withoutSpace(compiled).replaceAll(",}", "}")).toBe(
          withoutSpace(
            `import { foreignResource } from "binnacle"; export const ${name} = foreignResource(${handle});`,
          ),
        );
      }),
      { seed, numRuns: 200 },
    );
  });

  test.each([
    ["group", `x.io\n${CODE}//`],
    ["group", "../../../esc.io"],
    ["group", "nodots"],
    ["kind", `Gate {}\n${CODE}//`],
    ["kind", "../Gate"],
    ["plural", `gates"\n${CODE}//`],
    ["version", `v1\n${CODE}//`],
    ["version", "../v1"],
  ])("is refused with the %s %p", (field, text) => {
    expect(() => source({}, { [field]: text })).toThrow(`no API server accepts the ${field} ${JSON.stringify(text)}`);
  });

  test("is refused in one sentence when its schema is malformed or has no end", () => {
    let deep: StructuralSchema = text;
    for (let depth = 0; depth < 50_000; depth++) deep = { type: "object", properties: { a: deep } };
    for (const field of [null, { enum: "a" }, { enum: { length: 1 } }, { type: "object", properties: ["a"] }, deep]) {
      const schema = { type: "object", properties: { field } } as unknown as StructuralSchema;
      expect(() => source(schema)).toThrow("Cannot write types for Gate: its schema is malformed or nested too deeply");
    }
  });

  test("gets a name that is no other's, and one where nothing of its own may be in a name", () => {
    const withDefault: StructuralSchema = { type: "object", properties: { a: { type: "string", default: "" } } };
    expect(source(withDefault, { kind: "Meta" })).toContain("export interface MetaKindInput {");
    // The sign for kelvin, which is a k in lower case.
    expect(source(text, { kind: "\u212a" })).toContain("export const Kind = foreignResource<Kind>({");
  });

  test("costs time in proportion to its size", () => {
    let deep: StructuralSchema = { type: "string", default: "x" };
    for (let depth = 0; depth < 2_000; depth++) deep = { type: "object", properties: { a: deep } };
    // All of these want the same name for their interface.
    const fields = Array.from({ length: 3_000 }, (_, index) => [
      "é".repeat(index),
      { type: "object", properties: { a: text } },
    ]);
    const wide: StructuralSchema = { type: "object", properties: Object.fromEntries(fields) };
    let bomb: unknown = "a";
    for (let level = 0; level < 9; level++) bomb = Array(9).fill(bomb);
    const began = performance.now();
    source({ type: "object", properties: { a: { enum: [bomb] } as unknown as StructuralSchema } });
    for (const one of ["\n", " ", "\n -", "More info: ", "- ", "*/", "Possible enum values:", "\t\n"]) {
      source({ description: one.repeat(400_000), properties: { a: { description: one.repeat(400_000) } } });
    }
    source({ type: "object", properties: { deep, wide } });
    expect(performance.now() - began).toBeLessThan(5_000);
  });
});
