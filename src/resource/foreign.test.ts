import { expect, expectTypeOf, test } from "bun:test";
import { z } from "zod";
import { collectDefinitions } from "../module/module-definitions.ts";
import { conditions } from "./conditions.ts";
import { foreignResource, type ForeignTypes, hasField, schemaOfForeign } from "./foreign.ts";
import { type ObjectOf, of, type SpecOf, type StatusOf } from "./handle.ts";
import type { Condition } from "./meta.ts";

const Certificate = foreignResource({
  group: "cert-manager.io",
  version: "v1",
  kind: "Certificate",
  schema: z.object({
    spec: z.object({ secretName: z.string(), dnsNames: z.array(z.string()).default([]) }),
    status: z.object({ notAfter: z.string().optional(), conditions: conditions("Ready", "Issuing") }).optional(),
  }),
});

/** As types come that others generate: with conditions of their own. */
interface IssuerType {
  readonly apiVersion: "cert-manager.io/v1";
  readonly kind: "Issuer";
  spec: { acme?: { server: string } };
  status?: { uri?: string; conditions?: { type: "Ready" | "Renewed"; status: string; reason?: string }[] };
}
const Issuer = foreignResource<IssuerType>({ group: "cert-manager.io", version: "v1", kind: "Issuer" });
const ClusterIssuer = foreignResource<Pick<IssuerType, "spec">, "Cluster">({
  group: "cert-manager.io",
  version: "v1",
  kind: "ClusterIssuer",
  scope: "Cluster",
});
const Anything = foreignResource({ group: "acme.io", version: "v1beta1", kind: "Thing", plural: "things" });

test("a handle has what was said, and leaves the rest to discovery", () => {
  expect(Certificate).toMatchObject({
    apiVersion: "cert-manager.io/v1",
    kind: "Certificate",
    scope: "Namespaced",
    group: "cert-manager.io",
    version: "v1",
  });
  expect([Certificate.plural, Certificate.subresources, Anything.plural]).toEqual([undefined, undefined, "things"]);
  expect(ClusterIssuer.scope).toBe("Cluster");
  expect(foreignResource({ group: "", version: "v1", kind: "Pod" }).apiVersion).toBe("v1");
  expect(Object.isFrozen(Certificate)).toBe(true);
});

test("is no definition: a module that exports one has nothing to install", () => {
  expect(collectDefinitions([Certificate, Issuer])).toEqual({
    controllers: [],
    resources: [],
    webhooks: [],
    plugins: [],
  });
});

test("a schema gives the types of both directions", () => {
  expectTypeOf<ObjectOf<typeof Certificate>["kind"]>().toEqualTypeOf<"Certificate">();
  expectTypeOf<SpecOf<typeof Certificate>["dnsNames"]>().toEqualTypeOf<readonly string[]>();
  expectTypeOf<NonNullable<StatusOf<typeof Certificate>["conditions"]>>().toEqualTypeOf<
    readonly Condition<"Ready" | "Issuing">[]
  >();
  const written = of(Certificate, { metadata: { name: "a" }, spec: { secretName: "s" } });
  expect(written).toEqual({
    apiVersion: "cert-manager.io/v1",
    kind: "Certificate",
    metadata: { name: "a" },
    spec: { secretName: "s" },
  });
  // @ts-expect-error a field that the schema requires
  of(Certificate, { metadata: { name: "a" }, spec: {} });
  // @ts-expect-error the status is not written with the object
  of(Certificate, { metadata: { name: "a" }, spec: { secretName: "s" }, status: {} });
});

test("a type parameter does too, and a handle with neither is untyped", () => {
  expectTypeOf<ObjectOf<typeof Issuer>["kind"]>().toEqualTypeOf<"Issuer">();
  expectTypeOf<ObjectOf<typeof Issuer>["spec"]>().toEqualTypeOf<{ readonly acme?: { readonly server: string } }>();
  expectTypeOf<ObjectOf<typeof Issuer>["status"]>().toExtend<{ readonly uri?: string } | undefined>();
  expectTypeOf<typeof ClusterIssuer.scope>().toEqualTypeOf<"Cluster">();
  expectTypeOf<ObjectOf<typeof Anything>["kind"]>().toEqualTypeOf<"Thing">();
  expectTypeOf<ObjectOf<typeof Anything>["spec"]>().toEqualTypeOf<unknown>();
  // @ts-expect-error the types of a cluster-scoped kind say so
  foreignResource<IssuerType>({ group: "cert-manager.io", version: "v1", kind: "Issuer", scope: "Cluster" });
  // @ts-expect-error another kind than the type's
  foreignResource<IssuerType>({ group: "cert-manager.io", version: "v1", kind: "Certificate" });
});

test("types of both directions say what the server fills in", () => {
  interface Gate {
    readonly apiVersion: "acme.io/v1";
    readonly kind: "Gate";
    readonly spec: { readonly width: number; readonly name: string };
    readonly status?: { readonly open?: boolean };
  }
  interface GateInput {
    readonly spec: { readonly width?: number; readonly name: string };
    readonly status?: { readonly open?: boolean };
  }
  const Gate = foreignResource<ForeignTypes<Gate, GateInput>, "Cluster">({
    group: "acme.io",
    version: "v1",
    kind: "Gate",
    scope: "Cluster",
  });
  expectTypeOf<ObjectOf<typeof Gate>["apiVersion"]>().toEqualTypeOf<"acme.io/v1">();
  expectTypeOf<SpecOf<typeof Gate>["width"]>().toEqualTypeOf<number>();
  expectTypeOf<StatusOf<typeof Gate>>().toEqualTypeOf<{ readonly open?: boolean }>();
  expect(of(Gate, { metadata: { name: "a" }, spec: { name: "north" } }).kind).toBe("Gate");
  // @ts-expect-error a field that is needed in both directions
  of(Gate, { metadata: { name: "a" }, spec: { width: 1 } });
});

test("hasField finds fields through what is optional, and in the items of lists", () => {
  const schema = schemaOfForeign(Certificate);
  expect(hasField(schema, ["status", "notAfter"])).toBe(true);
  expect(hasField(schema, ["status", "observedGeneration"])).toBe(false);
  expect(hasField(schema, ["status", "conditions", "[]", "observedGeneration"])).toBe(true);
  expect(hasField(schemaOfForeign(Issuer), ["status"])).toBe(false);
});

test("what cannot be a kind is refused, with what to write instead", () => {
  const right = { group: "acme.io", version: "v1", kind: "Thing" };
  const make = (options: object) => (): unknown => foreignResource({ ...right, ...options });
  expect(make({ kind: "thing" })).toThrow(
    `Cannot define foreign resource thing: 'kind' must be such as "Certificate": current value is "thing"`,
  );
  expect(make({ group: "Acme" })).toThrow(`'group' must be such as "cert-manager.io": current value is "Acme"`);
  expect(make({ version: "1" })).toThrow("'version' must be such as");
  expect(make({ version: undefined })).toThrow("'version' must be text");
  expect(make({ scope: "Global" })).toThrow(`'scope' must be "Namespaced" or "Cluster": current value is "Global"`);
  expect(make({ plural: "Things" })).toThrow(`'plural' must be such as "certificates"`);
  expect(make({ schema: { spec: {} } })).toThrow("'schema' must be z.object({ spec: …, status: … })");
  expect(make({ schema: z.string() })).toThrow("'schema' must be z.object");
  expect(make({ spec: z.object({}) })).toThrow("there is no option 'spec'");
  expect(() => foreignResource(undefined as never)).toThrow("it needs { group, version, kind }");
});
