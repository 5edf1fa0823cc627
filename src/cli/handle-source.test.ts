import { expect, test } from "bun:test";
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
