import { expect, expectTypeOf, test } from "bun:test";
import { type AnyObject, type Desired, groupKind, type ObjectOf, of, type Resource, type StatusOf } from "../handle.ts";
import type { Draft, NamespacedMeta, ObjectMeta } from "../meta.ts";
import * as builtin from "./index.ts";
import {
  ClusterRole,
  ConfigMap,
  CoreEvent,
  CustomResourceDefinition,
  Deployment,
  Event,
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerV1,
  Lease,
  Namespace,
  Pod,
  Secret,
  Service,
  StatefulSet,
  TokenReview,
} from "./index.ts";
import type {
  Container,
  DeploymentSpec,
  DeploymentStatus,
  Endpoint,
  EndpointSlice,
  EndpointSliceInput,
  IntOrString,
  PolicyRule,
  Scale,
  ServiceSpec,
} from "./index.ts";

const handles: readonly (readonly [string, Resource])[] = Object.entries(builtin);

test("index exports a handle of every built-in kind and nothing else at run time", () => {
  expect(handles.length).toBeGreaterThanOrEqual(60);
  for (const [name, handle] of handles) {
    expect(Object.isFrozen(handle)).toBe(true);
    expect(handle.plural, name).toMatch(/^[a-z]+$/);
    expect(["Namespaced", "Cluster"], name).toContain(handle.scope);
    expect(Array.isArray(handle.subresources), name).toBe(true);
    expect(handle.apiVersion, name).toBe(handle.group ? `${handle.group}/${handle.version}` : handle.version);
    expect(handle.version, name).toMatch(/^v\d+$/);
  }
});

test("index names a handle after its kind, with the version or the group where two would share the name", () => {
  const renamed = handles.filter(([name, handle]) => name !== handle.kind).map(([name]) => name);
  expect(renamed).toEqual(["CoreEvent", "HorizontalPodAutoscalerV1"]);
});

test("index has one handle for each kind but for older versions", () => {
  const kinds = handles.filter(([name]) => !/V\d+$/.test(name)).map(([, handle]) => groupKind(handle));
  expect(new Set(kinds).size).toBe(kinds.length);
  expect(groupKind(HorizontalPodAutoscaler)).toBe(groupKind(HorizontalPodAutoscalerV1));
});

test.each<[string, string, Resource, string, string[]]>([
  ["v1", "configmaps", ConfigMap, "Namespaced", []],
  ["v1", "namespaces", Namespace, "Cluster", ["finalize", "status"]],
  ["v1", "services", Service, "Namespaced", ["proxy", "status"]],
  ["apps/v1", "deployments", Deployment, "Namespaced", ["scale", "status"]],
  ["coordination.k8s.io/v1", "leases", Lease, "Namespaced", []],
  ["events.k8s.io/v1", "events", Event, "Namespaced", []],
  ["v1", "events", CoreEvent, "Namespaced", []],
  ["autoscaling/v2", "horizontalpodautoscalers", HorizontalPodAutoscaler, "Namespaced", ["status"]],
  ["rbac.authorization.k8s.io/v1", "clusterroles", ClusterRole, "Cluster", []],
  ["apiextensions.k8s.io/v1", "customresourcedefinitions", CustomResourceDefinition, "Cluster", ["status"]],
])("handle knows its path and scope: %s %s", (apiVersion, plural, handle, scope, subresources) => {
  expect<unknown>({ ...handle }).toMatchObject({ apiVersion, plural, scope, subresources });
});

test("of fills in the literal apiVersion and kind of a built-in kind", () => {
  const service = of(Service, { metadata: { name: "a" }, spec: { ports: [{ port: 80 }] } });
  expect(service).toEqual({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "a" },
    spec: { ports: [{ port: 80 }] },
  });
  expectTypeOf(service.apiVersion).toEqualTypeOf<"v1">();
  expectTypeOf(service.kind).toEqualTypeOf<"Service">();
});

test("ObjectOf is the interface of the kind's name", () => {
  expectTypeOf<ObjectOf<typeof Deployment>>().toEqualTypeOf<Deployment>();
  expectTypeOf<StatusOf<typeof Deployment>>().toEqualTypeOf<DeploymentStatus>();
  expectTypeOf<Deployment["metadata"]>().toEqualTypeOf<NamespacedMeta>();
  expectTypeOf<Deployment["metadata"]["namespace"]>().toEqualTypeOf<string>();
  expectTypeOf<ObjectOf<typeof Namespace>["metadata"]>().toEqualTypeOf<ObjectMeta>();
  expectTypeOf<Deployment["spec"]>().toEqualTypeOf<DeploymentSpec>();
  expectTypeOf<Service["spec"]>().toEqualTypeOf<ServiceSpec>();
  expectTypeOf<Deployment["status"]>().toEqualTypeOf<DeploymentStatus | undefined>();
  expectTypeOf<Secret["data"]>().toEqualTypeOf<{ readonly [key: string]: string } | undefined>();
  expectTypeOf<(typeof Namespace)["scope"]>().toEqualTypeOf<"Cluster">();
  expectTypeOf<Container["env"]>().toExtend<readonly { readonly name: string }[] | undefined>();
  expectTypeOf<IntOrString>().toEqualTypeOf<number | string>();
  expectTypeOf<Scale["kind"]>().toEqualTypeOf<"Scale">();
  expectTypeOf<Pod>().toExtend<AnyObject>();
});

test("types say where the server answers null", () => {
  expectTypeOf<EndpointSlice["endpoints"]>().toEqualTypeOf<readonly Endpoint[] | null | undefined>();
  expectTypeOf<EndpointSliceInput["endpoints"]>().toEqualTypeOf<readonly Endpoint[] | undefined>();
  expectTypeOf<ClusterRole["rules"]>().toEqualTypeOf<readonly PolicyRule[] | null | undefined>();
});

test("Draft of a built-in kind can be written, enums with values of its own included", () => {
  type PodDraft = Draft<Pod>["spec"];
  expectTypeOf<PodDraft["containers"]>().toExtend<{ name: string }[]>();
  expectTypeOf<Extract<PodDraft["restartPolicy"], "Always">>().toEqualTypeOf<"Always">();
  expectTypeOf<string>().toExtend<PodDraft["restartPolicy"]>();
});

type DesiredOf<R> = R extends Resource<infer S> ? Desired<S> : never;

/** Compiled, never called: what an author writes. */
export function accepted(pages: readonly string[], deployment: Deployment, secret: Secret): readonly unknown[] {
  const service: Service | undefined = undefined as Service | undefined;
  const literal: DesiredOf<typeof Service> = { apiVersion: "v1", kind: "Service", metadata: { name: "x" }, spec: {} };
  const ready: number | undefined = deployment.status?.readyReplicas;
  const ip: string | undefined = service?.spec.clusterIP;
  // An object that was read is written back, and an undefined field is as good as an absent one.
  const again = of(Deployment, deployment);
  const template = { metadata: { labels: { app: "x" } }, spec: { containers: pages.map((p) => ({ name: p })) } };
  return [
    of(Deployment, { metadata: { name: "a" }, spec: { replicas: 1, selector: {}, template } }),
    of(Service, { metadata: { name: "a" }, spec: { ports: [{ port: 80, targetPort: "http" }], clusterIP: undefined } }),
    of(Service, { metadata: { name: "a" } }),
    of(StatefulSet, {
      metadata: { name: "a" },
      spec: {
        serviceName: "a",
        selector: {},
        template,
        volumeClaimTemplates: [{ metadata: { name: "data" }, spec: { resources: { requests: { storage: "1Gi" } } } }],
      },
    }),
    of(TokenReview, { metadata: {}, spec: { token: "t" } }),
    of(ConfigMap, { metadata: { name: "a", labels: { a: "b" } }, data: { a: "b" } }),
    [literal, again, ready, ip, secret.data?.["a"]?.length, deployment.spec.template.spec.containers[0]?.image],
  ];
}

/** Compiled, never called: each line is a mistake. */
export function refused(deployment: Deployment, secret: Secret): readonly unknown[] {
  // @ts-expect-error Secret has no spec
  void secret.spec;
  // @ts-expect-error unknown field
  void deployment.spec.replicaz;
  // @ts-expect-error status may be absent
  void deployment.status.readyReplicas;
  // @ts-expect-error cached fields are readonly
  deployment.spec.replicas = 2;
  // @ts-expect-error cached arrays are readonly
  deployment.spec.template.spec.containers.push({ name: "a" });
  // @ts-expect-error cached labels are readonly
  deployment.metadata.labels!["a"] = "b";
  return [
    // @ts-expect-error a Deployment needs a spec
    of(Deployment, { metadata: { name: "a" } }),
    // @ts-expect-error a Deployment needs a template
    of(Deployment, { metadata: { name: "a" }, spec: { selector: {} } }),
    // @ts-expect-error a container needs a name
    of(Deployment, { metadata: { name: "a" }, spec: { selector: {}, template: { spec: { containers: [{}] } } } }),
    // @ts-expect-error status is not written with the object
    of(Deployment, { metadata: { name: "a" }, spec: deployment.spec, status: { replicas: 1 } }),
    // @ts-expect-error a port is a number
    of(Service, { metadata: { name: "a" }, spec: { ports: [{ port: "80" }] } }),
    // @ts-expect-error metadata is required
    of(ConfigMap, { data: {} }),
    // @ts-expect-error values are strings
    of(ConfigMap, { metadata: { name: "a" }, data: { a: 1 } }),
    // @ts-expect-error another kind's literal
    { apiVersion: "v1", kind: "Servise", metadata: { name: "x" }, spec: {} } satisfies DesiredOf<typeof Service>,
  ];
}
