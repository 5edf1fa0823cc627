/** Two operators that are deployed to one cluster as they come, side by side. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { parseAllDocuments } from "yaml";
import { Bench } from "../support/binary.ts";
import { available, Cluster } from "../support/cluster.ts";

const NAMES = ["apples", "pears"] as const;

/** An operator with a kind, a webhook and children. */
function operator(name: string): string {
  const kind = `${name[0]!.toUpperCase()}${name.slice(1, -1)}`;
  return `
import { defineController, defineResource, defineWebhook, z } from "binnacle";
import { ConfigMap } from "binnacle/resources";
const Kind = defineResource({ group: "${name}.binnacle.dev", version: "v1", kind: "${kind}", spec: z.object({ size: z.int().optional() }) });
export const kind = Kind;
export const controller = defineController({ for: Kind, owns: [ConfigMap], async reconcile() {}, async finalize() {} });
export const hook = defineWebhook({ for: Kind, validate() {} });
`;
}

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

const identity = ({ kind, metadata: { name, namespace = "" } }: Manifest): string => `${kind} ${namespace}/${name}`;

describe.skipIf(!available)("two operators in one cluster", () => {
  let cluster: Cluster;
  let bench: Bench;

  beforeAll(async () => {
    [cluster, bench] = await Promise.all([Cluster.start({ controllers: false }), Bench.create()]);
    for (const name of NAMES) await bench.write(`${name}/controllers/fruit.ts`, operator(name));
    await bench.write("apples/package.json", JSON.stringify({ name: "@fruit/apples" }));
  }, 180_000);

  afterAll(async () => {
    await bench?.[Symbol.asyncDispose]();
    await cluster?.[Symbol.asyncDispose]();
  });

  /** The versions of what is on the cluster of some manifests; `undefined` for what is not there. */
  const versions = (manifests: readonly Manifest[]) =>
    Promise.all(
      manifests.map(async (one) => {
        const { kind, metadata } = one;
        const place = metadata.namespace === undefined ? [] : ["--namespace", metadata.namespace];
        const path = ["get", kind, metadata.name, ...place, "--ignore-not-found", "-o", "jsonpath={.metadata.uid}"];
        return [identity(one), (await cluster.kubectl(...path)).trim() || undefined] as const;
      }),
    );

  test("neither replaces anything of the other, and either is uninstalled alone", async () => {
    const manifests: Manifest[][] = [];
    for (const name of NAMES) {
      const args = ["--controllers", `${name}/controllers`, "--base-image", "example.com/binnacle:1"];
      const more = ["--network-policy", "--metrics-secure", "--service-monitor=false", "--metrics-service"];
      const { stdout, stderr, code } = await bench.exec("manifests", "deploy", ...args, ...more);
      expect([code, stderr]).toEqual([0, ""]);
      await cluster.plane.apply(stdout);
      manifests.push(parseAllDocuments(stdout).map((one) => one.toJS() as Manifest));
      expect(stdout).toContain(`--leader-election-id=${name}\n`);
      expect(stdout).toContain(`--webhook-service=${name}-system/${name}\n`);
    }
    const [apples = [], pears = []] = manifests;
    expect(apples.map(identity).filter((one) => pears.map(identity).includes(one))).toEqual([]);
    expect(apples.map(identity)).toContain("Deployment apples-system/apples");
    expect(pears.map(identity)).toContain("ClusterRole /pears");

    const before = await versions(pears);
    expect(before.filter(([, uid]) => uid === undefined)).toEqual([]);
    const args = ["--all", "--crds", "--yes", "--kubeconfig", cluster.kubeconfig];
    const { stderr, code } = await bench.exec("uninstall", "--controllers", "apples/controllers", ...args);
    expect([code, stderr]).toEqual([0, ""]);
    const left = (await versions(apples)).filter(([, uid]) => uid !== undefined).map(([one]) => one);
    expect(left).toEqual(["Namespace /apples-system"]);
    expect(await versions(pears)).toEqual(before);
  }, 180_000);
});
