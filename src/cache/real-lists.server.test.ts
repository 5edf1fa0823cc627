import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { assets, type ControlPlane, startControlPlane } from "../../tests/support/control-plane.ts";
import { until } from "../../tests/support/until.ts";
import { listMetadata } from "../kube/api/list.ts";
import { plainObject } from "../kube/api/listed-metadata.ts";
import { streamMetadata } from "../kube/api/metadata-stream.ts";
import { ConfigMap } from "../resource/builtin/core.ts";
import type { AnyObject } from "../resource/handle.ts";
import { keyString } from "../resource/meta.ts";
import { connect, type Connection } from "./connect.ts";
import { isStub } from "./object-transformer.ts";
import { SharedInformer } from "./shared-informer.ts";
import { type ListMode, StreamMemory } from "./streaming-list.ts";

const NAMESPACED = "/api/v1/namespaces/default/configmaps";
const owner = {
  apiVersion: "v1",
  kind: "Node",
  name: "n",
  uid: "0c5b2f3e-0000-4000-8000-000000000000",
  controller: true,
};
const isOwned = ({ metadata }: AnyObject): boolean => metadata.ownerReferences !== undefined;
const JSON_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

/** With streaming lists, and without, as before Kubernetes 1.32. */
for (const gates of ["WatchList=true", "WatchList=false,WatchListClient=false"]) {
  describe.skipIf((await assets()) === undefined)(`lists of a real API server with ${gates}`, () => {
    let plane: ControlPlane;
    let cluster: Connection;
    const hasStreams = gates === "WatchList=true";

    beforeAll(async () => {
      plane = await startControlPlane({ flags: [`--feature-gates=${gates}`] });
      cluster = await connect({ kubeconfig: plane.kubeconfig, env: {} });
      const labels = { "app.kubernetes.io/name": "web", tier: "" };
      const annotations = { text: '<é&>\u2028"\\ \u{1f600}', "long.example.com/of": "x".repeat(20_000) };
      for (let index = 0; index < 40; index++) {
        const isOurs = index % 8 === 0;
        const metadata = isOurs
          ? { name: `ours-${index}`, ownerReferences: [owner], finalizers: ["example.com/hold"], annotations }
          : { name: `other-${index}`, labels };
        await cluster.transport.request({ method: "POST", path: NAMESPACED, body: { metadata, data: { text: "x" } } });
      }
      const leaving = { method: "DELETE", path: `${NAMESPACED}/ours-0`, query: "gracePeriodSeconds=0" } as const;
      await cluster.transport.request(leaving);
    }, 180_000);

    afterAll(async () => {
      await cluster[Symbol.asyncDispose]();
      await plane[Symbol.asyncDispose]();
    }, 180_000);

    /** Waits until the server, which is ready before, has created the objects that it begins with. */
    const settled = (path: string): Promise<unknown> => {
      let before = "null";
      return until(
        async () => {
          const { items } = await cluster.transport.request<{ items: unknown }>({
            method: "GET",
            path,
            accept: JSON_LIST,
          });
          const isSame = JSON.stringify(items) === before;
          before = JSON.stringify(items);
          return isSame && items !== null;
        },
        { what: `the objects of ${path}`, every: 200 },
      );
    };

    test("metadata in protocol buffers is what comes as JSON, of every kind there are objects of", async () => {
      const paths: Record<string, [apiVersion: string, kind: string]> = {
        "/api/v1/configmaps": ["v1", "ConfigMap"],
        "/api/v1/namespaces": ["v1", "Namespace"],
        "/api/v1/services": ["v1", "Service"],
        "/apis/rbac.authorization.k8s.io/v1/clusterroles": ["rbac.authorization.k8s.io/v1", "ClusterRole"],
        "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas": ["flowcontrol.apiserver.k8s.io/v1", "FlowSchema"],
        "/apis/apiregistration.k8s.io/v1/apiservices": ["apiregistration.k8s.io/v1", "APIService"],
      };
      for (const [path, [apiVersion, kind]] of Object.entries(paths)) {
        await settled(path);
        const listed: AnyObject[] = [];
        const managed: unknown[] = [];
        const type = { apiVersion, kind };
        const { pages } = await listMetadata(cluster.transport, {
          path,
          type,
          limit: 7,
          onPage: (objects, { isWhole }) => {
            expect(isWhole).toBe(false);
            listed.push(...objects.map(plainObject));
            managed.push(...objects.map(({ metadata }) => metadata.managedFields));
          },
        });
        const { items } = await cluster.transport.request<{ items: AnyObject[] }>({
          method: "GET",
          path,
          accept: JSON_LIST,
        });
        const asJson = items.map(({ metadata: { managedFields: _managed, ...metadata } }) => ({ ...type, metadata }));
        expect(listed).toEqual(asJson);
        expect(managed).toEqual(items.map(({ metadata }) => metadata.managedFields ?? []));
        expect(pages).toBe(Math.ceil(items.length / 7));
        if (!hasStreams) continue;
        const streamed = new Map<string, AnyObject>();
        const version = await streamMetadata(cluster.transport, {
          path,
          type,
          signal: AbortSignal.timeout(10_000),
          onObject: (object) => streamed.set(keyString(object.metadata), plainObject(object)),
          onDeleted: () => {},
        });
        expect(Number(version)).toBeGreaterThan(0);
        expect([...streamed.values()]).toEqual(asJson);
      }
    });

    for (const list of ["auto", "stream", "pages"] satisfies ListMode[]) {
      test(`${list}: of an owned kind what is ours comes whole and the rest as stubs, and events follow`, async () => {
        const streams = new StreamMemory();
        const informer = new SharedInformer(ConfigMap, { ...cluster, list, streams });
        informer.setNeeds([{ bodies: isOwned, managers: [] }]);
        informer.start();
        await until(() => informer.hasSynced && informer.state.kind === "watching");
        const objects = [...informer.store.values()].filter(({ metadata }) => metadata.namespace === "default");
        const whole = objects.filter((object) => !isStub(object)).map(({ metadata }) => metadata.name);
        const names = objects.map(({ metadata }) => metadata.name);
        expect(whole.sort()).toEqual(names.filter((name) => name.startsWith("ours-")).sort());
        expect(names.filter((name) => name.startsWith("other-"))).toHaveLength(35);
        expect(streams.isUsable("/api/v1/configmaps")).toBe(hasStreams || list !== "stream");
        const name = `ours-late-${list}`;
        const body = { metadata: { name, ownerReferences: [owner] }, data: { text: "x" } };
        await cluster.transport.request({ method: "POST", path: NAMESPACED, body });
        await until(() => informer.store.has(`default/${name}`));
        expect(isStub(informer.store.get(`default/${name}`)!)).toBe(false);
        await informer.stop();
      });
    }
  });
}
