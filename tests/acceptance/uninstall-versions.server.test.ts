/** Tests `binnacle uninstall` for kinds with several versions, whose webhook ends before they do, beside the garbage collector of Kubernetes. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Bench, type Operator } from "../support/binary.ts";
import { available, Cluster } from "../support/cluster.ts";

const GROUP = "versions.binnacle.dev";
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** A kind that the API server prefers in v2, with a child and a finalizer for each object. */
const module = (kind: string, { hub, storage }: { readonly hub: string; readonly storage: string }): string => {
  const version = (name: string, field: string): string =>
    name === hub
      ? `${name}: { spec: z.object({ size: z.int() }) }`
      : `${name}: {
           spec: z.object({ ${field}: z.int() }),
           toHub: ({ spec }) => ({ spec: { size: spec.${field} } }),
           fromHub: ({ spec }) => ({ spec: { ${field}: spec.size } }),
         }`;
  return `
import { defineController, defineResource, of, z } from "binnacle";
import { ConfigMap } from "binnacle/resources";
export const Kind = defineResource({
  group: "${GROUP}",
  kind: "${kind}",
  versions: { ${version("v1", "large")}, ${version("v2", "length")} },
  hub: "${hub}",
  storage: "${storage}",
});
export const controller = defineController({
  for: Kind,
  owns: [ConfigMap],
  async reconcile({ metadata: { name }, spec }, { children }) {
    await children.sync({ child: of(ConfigMap, { metadata: { name: "${kind.toLowerCase()}-" + name }, data: { size: String(spec.size) } }) });
  },
  async finalize({ metadata: { name }, spec }, { client }) {
    await client.create(ConfigMap, { metadata: { name: "last-${kind.toLowerCase()}-" + name, namespace: "default" }, data: { size: String(spec.size) } });
  },
});`;
};

describe.skipIf(!available)("uninstall of kinds with several versions", () => {
  let cluster: Cluster;
  let bench: Bench;
  let operator: Operator;
  const election = ["--leader-election-id", "versions", "--leader-election-namespace", "default"];

  beforeAll(async () => {
    [cluster, bench] = await Promise.all([Cluster.start(), Bench.create()]);
    await bench.write("controllers/plum.ts", module("Plum", { hub: "v1", storage: "v1" }));
    await bench.write("controllers/pear.ts", module("Pear", { hub: "v2", storage: "v1" }));
    const webhooks = ["--register-webhooks", "--webhook-bind-address", "127.0.0.1:0", "--webhook-host", "127.0.0.1"];
    const args = ["--install-crds", "--leader-elect", ...election, ...webhooks];
    operator = await bench.run({ kubeconfig: cluster.kubeconfig, args });
    await operator.ready();
  }, 180_000);

  afterAll(async () => {
    await operator?.[Symbol.asyncDispose]();
    await bench?.[Symbol.asyncDispose]();
    await cluster?.[Symbol.asyncDispose]();
  });

  const uninstall = (...args: string[]) =>
    bench.exec("uninstall", ...args, ...election, "--yes", "--kubeconfig", cluster.kubeconfig);

  test("what is stored in another version is stored anew while it can be converted, and children go with their owners", async () => {
    for (const [kind, plural] of [
      ["Plum", "plums"],
      ["Pear", "pears"],
    ] as const) {
      const objects = `/apis/${GROUP}/v2/namespaces/default/${plural}`;
      const spec = kind === "Plum" ? { length: 3 } : { size: 3 };
      await cluster.send("POST", objects, { body: { apiVersion: `${GROUP}/v2`, kind, metadata: { name: "a" }, spec } });
      await cluster.exists(`${CONFIG_MAPS}/${kind.toLowerCase()}-a`);
      await cluster.exists(`${objects}/a`, ({ metadata }) => metadata.finalizers !== undefined);
    }
    await cluster.collectNewKinds();

    // The copy that runs still has the Lease, but it converts, which is what this needs.
    const first = await uninstall("--all", "--crds", "--timeout", "3s");
    expect(first.stdout).toContain("1. store all Pear objects in version v2 (now some may be in v1)");
    expect([first.code, first.stderr]).toEqual([1, expect.stringContaining("while another copy works")]);
    const { spec, status } = (await cluster.exists(`${CRDS}/pears.${GROUP}`)) as unknown as {
      readonly spec: { readonly conversion: { readonly strategy: string } };
      readonly status: { readonly storedVersions: readonly string[] };
    };
    expect([status.storedVersions, spec.conversion.strategy]).toEqual([["v2"], "Webhook"]);

    await operator.stop(); // from here on nobody converts
    const second = await uninstall("--all", "--crds");
    const lines = second.stderr.split("\n").filter((line) => !line.startsWith("[")); // without the progress, which is shown when it takes longer
    expect([second.code, lines]).toEqual([0, [""]]);
    for (const name of ["plum-a", "pear-a"]) expect(await cluster.get(`${CONFIG_MAPS}/${name}`)).toBeUndefined();
    for (const name of ["last-plum-a", "last-pear-a"])
      expect((await cluster.exists(`${CONFIG_MAPS}/${name}`)).data).toEqual({ size: "3" });
    for (const plural of ["plums", "pears"]) expect(await cluster.get(`${CRDS}/${plural}.${GROUP}`)).toBeUndefined();
  }, 180_000);
});
