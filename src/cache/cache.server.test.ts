import { array, assert, asyncProperty, constantFrom, oneof, record } from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { assets, type ControlPlane, lendPlane } from "../../tests/support/control-plane.ts";
import { ConfigMap } from "../resource/builtin/core.ts";
import type { AnyObject } from "../resource/handle.ts";
import { parseFieldSelector } from "../resource/field-selector.ts";
import { parseLabelSelector } from "../resource/selector.ts";
import { until } from "../../tests/support/until.ts";
import { connect, type Connection } from "./connect.ts";
import { InformerRegistry } from "./informer-registry.ts";
import { SharedInformer, type SharedInformerOptions } from "./shared-informer.ts";

const CONFIGMAPS = "/api/v1/namespaces/default/configmaps";

interface Listed {
  readonly items: readonly { readonly apiVersion: string; readonly kind: string; readonly metadata: never }[];
}

describe.skipIf((await assets()) === undefined)("informers of a real API server", () => {
  let plane: ControlPlane;
  let cluster: Connection;

  beforeAll(async () => {
    plane = await lendPlane(false);
    cluster = await connect({ kubeconfig: plane.kubeconfig, env: {} });
    const labels = [{}, { app: "web" }, { app: "db", tier: "back" }, { tier: "front" }, { app: "web", tier: "back" }];
    for (const [index, one] of labels.entries()) {
      await cluster.transport.request({
        method: "POST",
        path: CONFIGMAPS,
        body: { metadata: { name: `c${index}`, labels: one }, data: { text: "x".repeat(100) } },
      });
    }
  }, 180_000);

  afterAll(async () => {
    await cluster[Symbol.asyncDispose]();
    await plane[Symbol.asyncDispose]();
  }, 180_000);

  async function synced(options: Partial<SharedInformerOptions>): Promise<SharedInformer> {
    const informer = new SharedInformer(ConfigMap, { ...cluster, namespaces: ["default"], ...options });
    informer.start();
    await until(() => informer.hasSynced && informer.state.kind === "watching");
    return informer;
  }

  for (const list of ["pages", "stream"] as const) {
    test(`select metadata, ${list}: neither list nor watch brings more, and objects have their kind`, async () => {
      const came = new Set<string>();
      const transform = (object: AnyObject): AnyObject => {
        for (const field of Object.keys(object)) came.add(field);
        return object;
      };
      const informer = await synced({ keep: [], list, transform });
      const created = { metadata: { name: `late-${list}` }, data: { text: "x" } };
      await cluster.transport.request({ method: "POST", path: CONFIGMAPS, body: created });
      await until(() => informer.store.has(`default/late-${list}`));
      for (const object of informer.store.values()) {
        expect(Object.keys(object).sort()).toEqual(["apiVersion", "kind", "metadata"]);
        expect([object.apiVersion, object.kind, object.metadata.managedFields]).toEqual(["v1", "ConfigMap", undefined]);
      }
      expect([...came].sort()).toEqual(["apiVersion", "kind", "metadata"]);
      await informer.stop();
    });
  }

  test("keep: paths of whole objects, from the list and from events", async () => {
    const informer = await synced({ keep: ["data.text"] });
    const created = { metadata: { name: "kept" }, data: { text: "x", more: "y" } };
    await cluster.transport.request({ method: "POST", path: CONFIGMAPS, body: created });
    await until(() => informer.store.has("default/kept"));
    expect((informer.store.get("default/kept") as unknown as typeof created).data as unknown).toEqual({ text: "x" });
    expect((informer.store.get("default/c0") as unknown as typeof created).data.text).toHaveLength(100);
    await informer.stop();
  });

  test("CACHE-04 CACHE-05 selectors by labels and fields both count, and one by fields leaves a namespace out", async () => {
    const both = await synced({ labels: "app=web", fields: "metadata.name!=c1" });
    expect([...both.store.keys()]).toEqual(["default/c4"]);
    const others = await synced({ namespaces: [], fields: "metadata.namespace!=default" });
    const namespaces = new Set(Array.from(others.store.values(), ({ metadata }) => metadata.namespace));
    expect([namespaces.has("default"), namespaces.has("kube-system")]).toEqual([false, true]);
    await Promise.all([both.stop(), others.stop()]);
  });

  test("WL-01 WL-08 a streaming list of the real server is synced, and follows events", async () => {
    const informer = await synced({ list: "stream", namespaces: [] });
    const created = { metadata: { name: "streamed" } };
    await cluster.transport.request({ method: "POST", path: CONFIGMAPS, body: created });
    await until(() => informer.store.has("default/streamed"));
    expect(informer.store.size).toBeGreaterThan(5);
    expect(informer.relists).toEqual({});
    await informer.stop();
  });

  test("an informer of whole objects serves those who need less, and equal needs share one", async () => {
    const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
    const registry = new InformerRegistry({ ...cluster, log: silent });
    const needs = { bodies: "all", managers: [] } as const;
    const metadata = registry.acquire(ConfigMap, { needs, keep: [], user: "a" });
    const again = registry.acquire(ConfigMap, { needs, keep: [], user: "b" });
    const some = registry.acquire(ConfigMap, { needs, keep: ["data"], user: "c" });
    expect([again.informer === metadata.informer, some.informer === metadata.informer]).toEqual([true, false]);
    const whole = registry.acquire(ConfigMap, { needs, user: "d" });
    const less = registry.acquire(ConfigMap, { needs, keep: [], user: "e" });
    expect(less.informer).toBe(whole.informer);
    await registry.stop();
  });

  test("label selectors mean here what they mean to the server", async () => {
    const name = constantFrom("app", "tier", "none");
    const value = constantFrom("web", "db", "back", "front");
    const requirement = oneof(
      record({ name, value }).map((one) => `${one.name}=${one.value}`),
      record({ name, value }).map((one) => `${one.name}!=${one.value}`),
      record({ name, values: array(value, { minLength: 1, maxLength: 3 }) }).map(
        (one) => `${one.name} in (${one.values.join()})`,
      ),
      record({ name, values: array(value, { minLength: 1, maxLength: 3 }) }).map(
        (one) => `${one.name} notin (${one.values.join()})`,
      ),
      name,
      name.map((one) => `!${one}`),
    );
    const all = await cluster.transport.request<Listed>({ method: "GET", path: CONFIGMAPS });
    await assert(
      asyncProperty(array(requirement, { minLength: 1, maxLength: 3 }), async (requirements) => {
        const text = requirements.join(",");
        const query = new URLSearchParams({ labelSelector: text });
        const listed = await cluster.transport.request<Listed>({ method: "GET", path: CONFIGMAPS, query });
        const selector = parseLabelSelector(text);
        const names = (items: Listed["items"]) => items.map(({ metadata }) => (metadata as { name: string }).name);
        const ours = all.items.filter(({ metadata }) => selector.matches((metadata as { labels?: never }).labels));
        expect(names(ours)).toEqual(names(listed.items));
        // The canonical form means the same.
        const canonical = new URLSearchParams({ labelSelector: selector.toString() });
        const again = await cluster.transport.request<Listed>({ method: "GET", path: CONFIGMAPS, query: canonical });
        expect(names(again.items)).toEqual(names(listed.items));
      }),
      { numRuns: 60 },
    );
  }, 180_000);

  test("field selectors mean here what they mean to the server", async () => {
    const all = await cluster.transport.request<Listed>({ method: "GET", path: CONFIGMAPS });
    for (const text of ["metadata.name=c1", "metadata.name!=c1", "metadata.namespace=default,metadata.name==c2"]) {
      const query = new URLSearchParams({ fieldSelector: text });
      const listed = await cluster.transport.request<Listed>({ method: "GET", path: CONFIGMAPS, query });
      const selector = parseFieldSelector(text);
      expect(all.items.filter((item) => selector.matches(item))).toEqual([...listed.items]);
    }
  });
});
