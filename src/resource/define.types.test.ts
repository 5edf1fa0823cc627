/** What the compiler knows of a defined resource; the marked lines must be errors. */
import { expectTypeOf, test } from "bun:test";
import { z } from "zod";
import { conditions } from "./conditions.ts";
import { defineResource } from "./define.ts";
import { edit } from "./edit.ts";
import { type ObjectOf, of, type Resource, type SpecOf, type StatusOf } from "./handle.ts";
import type { Condition } from "./meta.ts";

const Guestbook = defineResource({
  group: "demo.binnacle.dev",
  version: "v1",
  kind: "Guestbook",
  spec: z.object({
    message: z.string().min(1),
    replicas: z.int().default(1),
    pages: z.array(z.string()).default([]),
    expose: z.boolean().optional(),
  }),
  status: z.object({ readyReplicas: z.int().optional(), conditions: conditions("Ready", "Degraded") }),
});
type Guestbook = ObjectOf<typeof Guestbook>;
const Cluster = defineResource({
  group: "a.b",
  version: "v1beta1",
  kind: "Zone",
  scope: "Cluster",
  spec: z.object({}),
});
const Versioned = defineResource({
  group: "demo.binnacle.dev",
  kind: "Widget",
  versions: {
    v1: { spec: z.object({ size: z.int() }), status: z.object({ ready: z.boolean().optional() }) },
    v1beta1: {
      spec: z.object({ large: z.boolean() }),
      toHub(old) {
        expectTypeOf(old.spec.large).toEqualTypeOf<boolean>();
        // @ts-expect-error a field of the hub
        void old.spec.size;
        return { spec: { size: old.spec.large ? 2 : 1 } };
      },
      fromHub: (hub) => ({ spec: { large: hub.spec.size > 1 } }),
    },
  },
  hub: "v1",
  storage: "v1",
});

test("a handle carries literal names and both directions of the spec", () => {
  expectTypeOf<Guestbook["apiVersion"]>().toEqualTypeOf<"demo.binnacle.dev/v1">();
  expectTypeOf<Guestbook["kind"]>().toEqualTypeOf<"Guestbook">();
  expectTypeOf(Cluster.scope).toEqualTypeOf<"Cluster">();
  expectTypeOf(Guestbook.scope).toEqualTypeOf<"Namespaced">();
  expectTypeOf<SpecOf<typeof Guestbook>["replicas"]>().toEqualTypeOf<number>();
  expectTypeOf<SpecOf<typeof Guestbook>["pages"]>().toEqualTypeOf<readonly string[]>();
  expectTypeOf<NonNullable<StatusOf<typeof Guestbook>["conditions"]>>().toEqualTypeOf<
    readonly Condition<"Ready" | "Degraded">[]
  >();
  expectTypeOf(Guestbook).toExtend<Resource>();
  const written = of(Guestbook, { metadata: { name: "a" }, spec: { message: "m" } });
  expectTypeOf(written.kind).toEqualTypeOf<"Guestbook">();
});

test("an object that was read has a namespace where its kind has", () => {
  expectTypeOf<ObjectOf<typeof Guestbook>["metadata"]["namespace"]>().toEqualTypeOf<string>();
  expectTypeOf<ObjectOf<typeof Cluster>["metadata"]["namespace"]>().toEqualTypeOf<string | undefined>();
  expectTypeOf<ObjectOf<typeof Versioned.versions.v1beta1>["metadata"]["namespace"]>().toEqualTypeOf<string>();
});

test("a versioned handle is the hub's", () => {
  expectTypeOf<ObjectOf<typeof Versioned>["apiVersion"]>().toEqualTypeOf<"demo.binnacle.dev/v1">();
  expectTypeOf<SpecOf<typeof Versioned>>().toEqualTypeOf<{ readonly size: number }>();
  expectTypeOf<NonNullable<ObjectOf<typeof Versioned>["status"]>["ready"]>().toEqualTypeOf<boolean | undefined>();
});

test("the other versions have handles with their own types", () => {
  const Old = Versioned.versions.v1beta1;
  expectTypeOf<ObjectOf<typeof Old>["apiVersion"]>().toEqualTypeOf<"demo.binnacle.dev/v1beta1">();
  expectTypeOf<ObjectOf<typeof Old>["kind"]>().toEqualTypeOf<ObjectOf<typeof Versioned>["kind"]>();
  expectTypeOf<keyof typeof Versioned.versions>().toEqualTypeOf<"v1beta1">();
  expectTypeOf<SpecOf<typeof Old>>().not.toEqualTypeOf<SpecOf<typeof Versioned>>();
});

/** Only for the compiler. */
export function mistakes(guestbook: Guestbook): void {
  // @ts-expect-error unknown field
  void guestbook.spec.replica;
  // @ts-expect-error read objects are readonly
  guestbook.spec.message = "x";
  // @ts-expect-error also their arrays
  guestbook.spec.pages.push("x");
  // @ts-expect-error message is missing
  of(Guestbook, { metadata: { name: "a" }, spec: {} });
  // @ts-expect-error an option that does not exist
  defineResource({ group: "a.b", version: "v1", kind: "A", spec: z.object({}), finalizer: true });
  // @ts-expect-error spec is missing
  defineResource({ group: "a.b", version: "v1", kind: "A" });
  const spec = z.object({});
  const names = { group: "a.b", kind: "A" } as const;
  // @ts-expect-error not a type of column
  defineResource({ ...names, version: "v1", spec, columns: [{ name: "a", type: "text", path: ".spec.a" }] });
  // @ts-expect-error a version that does not exist
  defineResource({ ...names, versions: { v1: { spec } }, hub: "v2", storage: "v1" });
  const none = () => ({ spec: {} });
  const versions = { v1: { spec: z.object({ size: z.int() }) }, v2: { spec, toHub: none, fromHub: none } };
  // @ts-expect-error the conversion does not give the hub's spec
  defineResource({ ...names, versions, hub: "v1", storage: "v1" });
  // @ts-expect-error not a list type
  z.array(z.string()).meta({ listType: "bag" });
  edit(guestbook, (draft) => {
    draft.spec.pages.push("x");
    // @ts-expect-error unknown field
    draft.spec.replica = 1;
  });
}
