/** What the compiler knows of kinds with fields of built-in types; the marked lines must be errors. */
import { expectTypeOf, test } from "bun:test";
import { Deployment, type PodTemplateSpec, type ResourceRequirements, StatefulSet } from "binnacle/resources";
import { container, persistentVolumeClaim, podTemplateSpec, quantity, resourceRequirements } from "binnacle/schemas";
import { z } from "zod";
import { defineResource } from "../define.ts";
import { type ObjectOf, of, type SpecOf } from "../handle.ts";

const Fleet = defineResource({
  group: "demo.binnacle.dev",
  version: "v1",
  kind: "Fleet",
  spec: z.object({
    template: podTemplateSpec(),
    resources: resourceRequirements().optional(),
    sidecars: z.array(container()).default([]),
    claims: z.array(persistentVolumeClaim()).optional(),
    size: quantity().default("1Gi"),
  }),
});
type Fleet = ObjectOf<typeof Fleet>;

test("fields have the types of binnacle/resources, and go into children as they are", () => {
  expectTypeOf<SpecOf<typeof Fleet>["template"]>().toExtend<PodTemplateSpec>();
  expectTypeOf<PodTemplateSpec>().toExtend<SpecOf<typeof Fleet>["template"]>();
  expectTypeOf<SpecOf<typeof Fleet>["resources"]>().toExtend<ResourceRequirements | undefined>();
  expectTypeOf<SpecOf<typeof Fleet>["size"]>().toEqualTypeOf<string | number>();
  void ((fleet: Fleet) => {
    const { template, sidecars, resources, claims } = fleet.spec;
    const containers = [...template.spec.containers, ...sidecars, { name: "last", image: "a:1", resources }];
    const pod = { ...template, spec: { ...template.spec, containers } };
    of(Deployment, { metadata: { name: "a" }, spec: { selector: {}, template: pod } });
    of(StatefulSet, {
      metadata: { name: "a" },
      spec: { serviceName: "a", selector: {}, template, volumeClaimTemplates: claims },
    });
  });
  of(Fleet, { metadata: { name: "a" }, spec: { template: { spec: { containers: [{ name: "a", image: "a:1" }] } } } });
});

/** Only for the compiler. */
export function mistakes(fleet: Fleet): void {
  // @ts-expect-error a container has a name
  of(Fleet, { metadata: { name: "a" }, spec: { template: { spec: { containers: [{ image: "a:1" }] } } } });
  // @ts-expect-error a pod has containers
  of(Fleet, { metadata: { name: "a" }, spec: { template: { spec: {} } } });
  // @ts-expect-error unknown field
  void fleet.spec.template.spec.container;
  // @ts-expect-error read objects are readonly
  fleet.spec.template.spec.containers.push({ name: "b" });
  // @ts-expect-error a type has no options
  podTemplateSpec({});
}
