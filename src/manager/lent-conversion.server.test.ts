/**
 * Tests what a process outside the cluster leaves of a kind with several versions, and that manifests apply over it.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { defineResource, z } from "binnacle";
import { available, Cluster, type Json } from "../../tests/support/cluster.ts";
import { InProcess } from "../../tests/support/integration/in-process.ts";
import { loadKubeconfig } from "../kube/config/kubeconfig.ts";
import { createTransport } from "../kube/transport/transport.ts";
import { startEmbeddedCluster } from "../cluster/index.ts";
import { eventually } from "../testing/eventually.ts";
import { giveBackLeft } from "../cli/left-conversions.ts";
import { collectDefinitions } from "../module/module-definitions.ts";
import type { LoadedModule } from "../module/loaded-module.ts";
import { crdOf } from "../resource/crd.ts";
import { replacingOther, withConversion } from "../resource/crd-conversion.ts";
import type { Resource } from "../resource/handle.ts";

const SERVICE = { namespace: "shop-system", name: "shop", port: 443, path: "/convert" };
const NOBODY = { service: { namespace: "default", name: "binnacle-process-has-ended", port: 443, path: "/convert" } };

/** The same kind under another name for each test, with one more field in the later version of its module. */
function kindOf(kind: string, later = false): Resource {
  const spec = z.object({ size: z.int() });
  const versions = {
    v1: { spec: later ? spec.extend({ note: z.string().optional() }) : spec },
    v1beta1: {
      spec,
      toHub: ({ spec: of }: { spec: object }) => ({ spec: of as never }),
      fromHub: () => ({ spec: { size: 0 } }),
    },
  };
  return defineResource({ group: "lent.example.com", kind, versions, hub: "v1", storage: "v1" });
}

test("on the embedded server manifests apply over what a trial left, too", async () => {
  const cluster = await startEmbeddedCluster({ pods: false });
  const transport = createTransport(cluster.config);
  try {
    const kind = kindOf("Plain");
    const running = await InProcess.start({ cluster: cluster.config, definitions: [kind], webhooks: true });
    await running[Symbol.asyncDispose]();
    const request = { path: `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crdOf(kind).metadata.name}` };
    const left = await transport.request<Json>({ ...request, method: "GET" });
    expect(left.spec).toMatchObject({ conversion: { webhook: { clientConfig: NOBODY } } });
    const applied = await transport.request<Json>({
      ...request,
      method: "PATCH",
      query: "fieldManager=kubectl",
      contentType: "application/apply-patch+yaml",
      body: withConversion(crdOf(kindOf("Plain", true)), replacingOther({ service: SERVICE })),
    });
    const { conversion } = applied.spec as { conversion: { webhook: { clientConfig: object } } };
    expect(conversion.webhook.clientConfig).toEqual({ service: SERVICE });
  } finally {
    await transport.close();
    await cluster.stop();
  }
});

test.each([true, "definitions"] as const)(
  "a process goes on to convert when another one ends (%p)",
  async (webhooks) => {
    const cluster = await startEmbeddedCluster({ pods: false });
    const transport = createTransport(cluster.config);
    try {
      const kind = kindOf("Plain");
      const start = () => InProcess.start({ cluster: cluster.config, definitions: [kind], webhooks });
      const request = { path: `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crdOf(kind).metadata.name}` };
      const client = async (): Promise<{ readonly url?: string; readonly caBundle?: string }> => {
        const { spec } = await transport.request<Json>({ ...request, method: "GET" });
        return (spec as { conversion: { webhook: { clientConfig: object } } }).conversion.webhook.clientConfig;
      };
      const one = await start();
      const before = await client();
      const other = await start();
      expect((await client()).url).not.toBe(before.url);
      await other[Symbol.asyncDispose]();
      await eventually(async () => expect(await client()).toEqual(before));
      // One that was killed has left its name.
      const killed = { metadata: { annotations: { "binnacle.dev/converted-by": `${hostname()}/1073741824/0` } } };
      const spec = { conversion: { webhook: { clientConfig: { url: "https://127.0.0.1:1/convert" } } } };
      const contentType = "application/merge-patch+json";
      await transport.request({ ...request, method: "PATCH", contentType, body: { ...killed, spec } });
      await eventually(async () => expect(await client()).toEqual(before));
      await one[Symbol.asyncDispose]();
      expect<object>(await client()).toEqual(NOBODY);
    } finally {
      await transport.close();
      await cluster.stop();
    }
  },
);

describe.if(available)("on a real server", () => {
  let cluster: Cluster;
  let folder = "";
  beforeAll(async () => {
    cluster = await Cluster.start({ controllers: false });
    folder = realpathSync(mkdtempSync(join(tmpdir(), "binnacle-lent-")));
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await cluster[Symbol.asyncDispose]();
  });

  const path = (kind: Resource): string =>
    `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crdOf(kind).metadata.name}`;
  const read = async (kind: Resource) => (await cluster.get(path(kind))) as Json;
  const clientOf = async (kind: Resource): Promise<unknown> => {
    const { conversion } = (await read(kind)).spec as { conversion: { webhook: { clientConfig: object } } };
    return conversion.webhook.clientConfig;
  };
  const start = (kind: Resource): Promise<InProcess> =>
    InProcess.start({ plane: cluster.plane, definitions: [kind], webhooks: true });
  /** Applies what `manifests deploy` prints. */
  const deploy = (kind: Resource, ...flags: readonly string[]): Promise<string> => {
    const file = join(folder, `${kind.kind}.json`);
    writeFileSync(file, JSON.stringify(withConversion(crdOf(kind), replacingOther({ service: SERVICE }))));
    return cluster.kubectl("apply", ...flags, "-f", file);
  };
  /** Makes it look as if the process had crashed: nothing is left of it but its name. */
  const crash = async (kind: Resource): Promise<void> => {
    const running = await start(kind);
    await cluster.patch(path(kind), {
      metadata: { annotations: { "binnacle.dev/converted-by": `${hostname()}/1073741824/0` } },
    });
    await running[Symbol.asyncDispose]();
    expect(await clientOf(kind)).toHaveProperty("url");
  };

  for (const flags of [[], ["--server-side"]]) {
    const how = flags[0] ?? "client-side";

    test(`manifests apply over what a trial left (${how}), which another trial puts back`, async () => {
      const kind = kindOf(flags.length === 0 ? "Plain" : "Served");
      const first = await start(kind);
      expect(await clientOf(kind)).toHaveProperty("url");
      await first[Symbol.asyncDispose]();
      expect(await clientOf(kind)).toEqual(NOBODY);
      expect(JSON.stringify((await read(kind)).metadata)).not.toMatch(/binnacle/);
      await deploy(kindOf(kind.kind, true), ...flags);
      expect(await clientOf(kind)).toEqual({ service: SERVICE });
      const second = await start(kindOf(kind.kind, true));
      expect(await clientOf(kind)).toMatchObject({ url: expect.stringContaining("/convert") });
      await second[Symbol.asyncDispose]();
      expect(await clientOf(kind)).toEqual({ service: SERVICE });
      await deploy(kindOf(kind.kind, true), ...flags);
    }, 30_000);
  }

  test("after a crash manifests apply, and check or the next process takes the address back", async () => {
    const kind = kindOf("Crashed");
    await crash(kind);
    await deploy(kind);
    expect(await clientOf(kind)).toMatchObject({ service: SERVICE });

    const other = kindOf("Looked");
    await crash(other);
    const modules = [{ definitions: collectDefinitions([other]) } as unknown as LoadedModule];
    const config = await loadKubeconfig({ kubeconfig: cluster.kubeconfig, env: {} });
    expect(await giveBackLeft(modules, config)).toEqual({
      notes: ["lookeds.lent.example.com: took back the address of a conversion webhook whose process is gone"],
      problems: [],
    });
    expect(await giveBackLeft(modules, config)).toEqual({ notes: [], problems: [] });
    await deploy(other, "--server-side");

    const next = kindOf("Again");
    await crash(next);
    await (await start(next))[Symbol.asyncDispose]();
    expect(await clientOf(next)).toEqual(NOBODY);
    await deploy(next, "--server-side");
    expect(await clientOf(next)).toEqual({ service: SERVICE });
  }, 30_000);
});
