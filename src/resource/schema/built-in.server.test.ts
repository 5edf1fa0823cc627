/**
 * Tests the schemas of built-in types on a real API server: it takes each of them, and merges as the built-in kinds do.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  affinity,
  container,
  jobTemplateSpec,
  podTemplateSpec,
  quantity,
  resourceRequirements,
} from "binnacle/schemas";
import * as schemas from "binnacle/schemas";
import * as resources from "binnacle/resources";
import { z } from "zod";
import { assets, type ControlPlane, lendPlane } from "../../../tests/support/control-plane.ts";
import { crdOf } from "../crd.ts";
import { definitionOf, defineResource } from "../define.ts";
import type { StructuralSchema } from "./structural.ts";

function kindOf(spec: z.ZodObject, kind = "Tower") {
  return defineResource({ group: "schemas.example.com", version: "v1", kind, spec });
}

function specOf(spec: z.ZodObject): StructuralSchema {
  return definitionOf(kindOf(spec))!.versions[0]!.schema.properties!["spec"]!;
}

test("there is a schema for every type of the built-in kinds", () => {
  const names = Object.keys(schemas);
  expect(names.length).toBeGreaterThan(480);
  expect(names).toContain("jsonSchemaProps");
  expect(names).toContain("csiDriverSpec");
  expect(names).toContain("intOrString");
  for (const kind of Object.keys(resources)) {
    expect(names.map((name) => name.toLowerCase())).toContain(kind.toLowerCase());
  }
});

test("a schema has list types, keys, defaults and quantities, and no descriptions", () => {
  const { template, size } = specOf(
    z.object({ template: podTemplateSpec(), size: quantity().describe("how large") }),
  ).properties!;
  expect(JSON.stringify(template)).not.toContain("description");
  expect(size).toMatchObject({ "x-kubernetes-int-or-string": true, description: "how large" });
  const { metadata, spec } = template!.properties!;
  expect(metadata!.properties!["labels"]).toEqual({ type: "object", additionalProperties: { type: "string" } });
  const { containers, tolerations, nodeSelector } = spec!.properties!;
  expect(spec!.required).toEqual(["containers"]);
  expect(containers).toMatchObject({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"] });
  expect(tolerations).toEqual({ type: "array", items: expect.anything() });
  expect(nodeSelector!["x-kubernetes-map-type"]).toBe("atomic");
  const { ports, resources: needs } = containers!.items!.properties!;
  expect(ports!["x-kubernetes-list-map-keys"]).toEqual(["containerPort", "protocol"]);
  expect(ports!.items!.properties!["protocol"]).toEqual({ type: "string", default: "TCP" });
  expect(needs!.properties!["limits"]!.additionalProperties!["x-kubernetes-int-or-string"]).toBe(true);
});

test("a schema takes what every zod schema takes", () => {
  const spec = specOf(
    z.object({
      affinity: affinity().optional(),
      resources: resourceRequirements().default({ limits: { cpu: 1 } }),
      sidecars: z
        .array(container())
        .optional()
        .meta({ listType: "map", listMapKeys: ["name"] }),
      template: podTemplateSpec().meta({ rules: [{ rule: "has(self.spec)" }], preserveUnknownFields: true }),
    }),
  );
  expect(spec.required).toEqual(["template"]);
  expect(spec.properties!["resources"]!.default).toEqual({ limits: { cpu: 1 } });
  expect(spec.properties!["sidecars"]!["x-kubernetes-list-map-keys"]).toEqual(["name"]);
  expect(spec.properties!["template"]).toMatchObject({
    "x-kubernetes-preserve-unknown-fields": true,
    "x-kubernetes-validations": [{ rule: "has(self.spec)" }],
  });
});

test.each<[unknown, string]>([
  [undefined, "it must be an object"],
  [{ spec: {} }, "spec.containers is required"],
  [{ spec: { containers: [{ image: "x" }] } }, "spec.containers[0].name is required"],
  [{ spec: { containers: [{ name: 1 }] } }, "spec.containers[0].name must be a string"],
  [{ spec: { containers: {} } }, "spec.containers must be a list"],
  [{ spec: { containers: [{ name: "a", resources: { limits: { cpu: 0.5 } } }] } }, "limits.cpu must be an integer or"],
  [{ spec: { containers: [{ name: "a", resources: { limits: { cpu: "1x" } } }] } }, "limits.cpu must match"],
])("a schema says what is wrong with %j", (value, problem) => {
  expect(podTemplateSpec().safeParse(value).error?.issues[0]?.message).toContain(problem);
});

test("checks that only JavaScript would make are refused, and defaults that do not fit", () => {
  expect(() => specOf(z.object({ template: podTemplateSpec().refine(() => true) }))).toThrow(
    "spec.template: .refine(), .superRefine() and .check() run in JavaScript only",
  );
  expect(() => specOf(z.object({ template: podTemplateSpec().default({ spec: {} } as never) }))).toThrow(
    'spec.template: the default {"spec":{}} does not fit the schema: spec.containers is required',
  );
});

describe.skipIf(!(await assets()))("on kube-apiserver", () => {
  const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const towers = "/apis/schemas.example.com/v1/namespaces/default/towers";
  const Tower = kindOf(z.object({ template: podTemplateSpec(), jobs: jobTemplateSpec().optional() }));
  let server: ControlPlane;

  async function send(method: string, path: string, body: unknown, type = "application/json") {
    const response = await server.request(path, {
      method,
      headers: { "content-type": type },
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as { message?: string; spec?: { template?: resources.PodTemplateSpec } };
    return { code: response.status, message: answer.message ?? "", template: answer.spec?.template };
  }

  beforeAll(async () => {
    server = await lendPlane(false);
    const created = await send("POST", `${definitions}?fieldValidation=Strict`, crdOf(Tower));
    expect([created.code, created.message]).toEqual([201, ""]);
    const deadline = Date.now() + 10_000;
    while (!(await server.request(towers)).ok && Date.now() < deadline) await Bun.sleep(20);
  }, 180_000);
  afterAll(async () => await server.stop());

  test("every type is taken in strict mode", async () => {
    const makers: [string, () => z.ZodType][] = Object.entries(schemas);
    const open = new Map([["", makers]]);
    for (const [name, some] of open) {
      open.delete(name);
      const spec = z.object(Object.fromEntries(some.map(([field, make]) => [field, make().optional()])));
      const crd = crdOf(kindOf(spec, "Part"));
      // A definition with all of them would be larger than a request may be.
      if (JSON.stringify(crd).length > 700_000) {
        open.set(`${name}a`, some.slice(0, some.length / 2)).set(`${name}b`, some.slice(some.length / 2));
        continue;
      }
      const { code, message } = await send("POST", `${definitions}?dryRun=All&fieldValidation=Strict`, crd);
      expect([code, message]).toEqual([201, ""]);
    }
  }, 60_000);

  test("a definition with the template of a pod is far below the limits of etcd and kubectl", () => {
    const Small = kindOf(z.object({ template: podTemplateSpec() }));
    // `kubectl apply` keeps a copy in an annotation, which may have 262,144 bytes.
    expect(JSON.stringify(crdOf(Small)).length).toBeLessThan(65_000);
  });

  const apply = async (manager: string, template: unknown, name = "merged") =>
    await send(
      "PATCH",
      `${towers}/${name}?fieldManager=${manager}&fieldValidation=Strict`,
      { apiVersion: Tower.apiVersion, kind: "Tower", metadata: { name }, spec: { template } },
      "application/apply-patch+yaml",
    );

  test("server-side apply merges containers by name and ports by number and protocol", async () => {
    const one = { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "one", image: "a:1" }] } };
    expect((await apply("first", one)).code).toBe(201);
    const ports = [{ containerPort: 80 }, { containerPort: 80, protocol: "UDP" }];
    const two = { spec: { containers: [{ name: "two", image: "b:1", ports }] } };
    const { code, message, template } = await apply("second", two);
    expect([code, message]).toEqual([200, ""]);
    expect(template?.metadata).toEqual({ labels: { app: "a" } });
    expect(template?.spec.containers).toEqual([
      { name: "one", image: "a:1" },
      { name: "two", image: "b:1", ports: [{ containerPort: 80, protocol: "TCP" }, ports[1] as never] },
    ]);
  });

  test("values are checked, and templates that Go has written are taken", async () => {
    const containers = [{ name: "a", resources: { limits: { cpu: "many" } } }];
    expect((await apply("first", { spec: { containers } }, "wrong")).message).toContain(
      'limits.cpu: Invalid value: "many"',
    );
    const written = { metadata: { creationTimestamp: null }, spec: { containers: [{ name: "a", resources: {} }] } };
    const { message, template } = await apply("first", written, "go");
    expect([message, template]).toEqual(["", written as never]);
  });
});
