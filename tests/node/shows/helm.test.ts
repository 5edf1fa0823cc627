/** The chart, as Helm sees it: linted, installed, upgraded, rolled back, uninstalled. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { available, type Seen, Show } from "./show.ts";
import { parcel, PARCELS, sentBy, writeParcels } from "./parcels.ts";

const NAMESPACE = "greetings";
const IN = ["--namespace", NAMESPACE];
const CRD = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${PARCELS}`;
const DEPLOY = [
  "manifests",
  "deploy",
  "--base-image",
  "localhost/binnacle:1",
  "--memory-limit",
  "128Mi",
  "--cpu-limit",
  "200m",
];

describe.skipIf(!available)("Helm", () => {
  let show: Show;
  const chart = (version: number): string => join(show.dir, `chart-${version}`);
  beforeAll(async () => {
    show = await Show.open("Helm");
    await show.example("image-policy.ts", "hooked");
    for (const version of [1, 2] as const) {
      await writeParcels(show, version);
      const folder = version === 1 ? "one" : "two";
      await show.binnacle(
        ...DEPLOY,
        "--controllers",
        folder,
        "--helm",
        chart(version),
        "--chart-version",
        `${version}.0.0`,
      );
    }
    await show.image("localhost/binnacle:1");
  }, 300_000);
  afterAll(async () => await show?.[Symbol.asyncDispose]());

  test("the chart is well-formed, and values out of range are refused", async () => {
    const { node } = show;
    await show.step("helm lint", async () => {
      expect(await node.helm("lint", "--strict", chart(1))).toContain("0 chart(s) failed");
    });
    await show.step("helm template", async () => {
      const flags = [
        "--set",
        "flags.log-level=debug",
        "--set",
        "flags.concurrency=8",
        "--set",
        "networkPolicy.enabled=true",
        "--set",
        "debug.enabled=true",
      ];
      const all = documents(await node.helm("template", "greetings", chart(1), ...IN, ...flags));
      const args = containerOf(all).args as readonly string[];
      expect(args).toContain("--log-level=debug");
      expect(args).toContain("--concurrency=8");
      expect(args).toContain("--debug-bind-address=127.0.0.1:8082");
      expect(all.map(({ kind }) => kind)).toContain("NetworkPolicy");
      expect(all.map(({ kind, metadata: { name } }) => `${kind} ${name}`)).toContain("ClusterRole greetings-debug");
      for (const [wrong, said] of [
        ["replicas=1000", "replicas"],
        ["replicas=many", "replicas"],
        ["flags.log-levle=debug", "log-levle"],
        ["resources.limits.memory=much", "memory"],
        ["imagee.tag=2", "imagee"],
        ["flags.debug-bind-address=:1", "debug-bind-address"],
      ] as const) {
        await expect(node.helm("template", "greetings", chart(1), "--set", wrong)).rejects.toThrow(said);
      }
    });
    await show.step("helm template, with certificates of cert-manager", async () => {
      await show.binnacle(...DEPLOY, "--controllers", "hooked", "--helm", chart(3));
      const own = documents(await node.helm("template", "greetings", chart(3), ...IN));
      expect(own.map(({ kind }) => kind)).not.toContain("Certificate");
      const set = ["--set", "webhooks.certificates=cert-manager"];
      const all = documents(await node.helm("template", "greetings", chart(3), ...IN, ...set));
      expect(all.map(({ kind }) => kind)).toContain("Issuer");
      expect(all.find(({ kind }) => kind === "Certificate")?.spec).toMatchObject({
        dnsNames: ["greetings.greetings.svc", "greetings.greetings.svc.cluster.local"],
        issuerRef: { kind: "Issuer", name: "greetings-webhook" },
      });
      expect(containerOf(all)).toMatchObject({ volumeMounts: [{}, { name: "webhook-cert", mountPath: "/certs" }] });
    });
  }, 240_000);

  test("a release is installed, upgraded, rolled back and uninstalled", async () => {
    const { node } = show;
    const release = async (...args: string[]): Promise<void> => {
      await node.helm(...args, ...IN, "--wait", "--timeout", "120s");
    };
    await node.kubectl("create", "namespace", NAMESPACE);
    await node.kubectl("label", "namespace", NAMESPACE, "pod-security.kubernetes.io/enforce=restricted");
    await show.step("helm install", async () => await release("install", "greetings", chart(1)));
    await show.step("a Parcel is reconciled", async () => {
      await node.apply(parcel("chart-one"));
      await sentBy(show, 1, { name: "chart-one" });
    });
    await show.step("helm upgrade: another version of the module and of its kind", async () => {
      await release("upgrade", "greetings", chart(2), "--set", "image.tag=1");
      expect(JSON.stringify(await show.get(CRD))).toContain('"weight"');
      await sentBy(show, 2, { name: "chart-one" });
    });
    await show.step("helm upgrade: one namespace to work in", async () => {
      await node.kubectl("create", "namespace", "team-a");
      await release("upgrade", "greetings", chart(2), "--set", "namespaces={team-a}");
      await node.apply(parcel("chart-two", "team-a"));
      await sentBy(show, 2, { name: "chart-two", namespace: "team-a" });
      const roles = await node.kubectl("get", "clusterroles,clusterrolebindings", "-o", "name");
      expect(roles).not.toContain("/greetings");
    });
    await show.step("helm rollback", async () => {
      await release("rollback", "greetings", "1");
      await node.apply(parcel("chart-three"));
      await sentBy(show, 1, { name: "chart-three" });
    });
    expect(await show.restarts(NAMESPACE)).toBe(0);
    await show.step("helm uninstall: the definition is kept, and all else goes", async () => {
      await node.helm("uninstall", "greetings", ...IN, "--wait", "--timeout", "120s");
      expect(await show.get(CRD)).toBeDefined();
      const left = "deployments,configmaps,services,roles,rolebindings,serviceaccounts,poddisruptionbudgets";
      expect(await node.kubectl("get", left, ...IN, "-l", "app.kubernetes.io/name=greetings", "-o", "name")).toBe("");
      expect(await node.kubectl("get", "clusterroles,clusterrolebindings", "-o", "name")).not.toContain("/greetings");
      await node.kubectl("delete", "crd", PARCELS, "--timeout=60s");
      await node.kubectl("delete", "namespace", NAMESPACE, "team-a", "--timeout=120s");
    });
  }, 300_000);
});

type Manifest = Seen & { readonly kind: string };

function documents(text: string): readonly Manifest[] {
  return parseAllDocuments(text, { version: "1.1" })
    .map((one) => one.toJS() as Manifest | null)
    .filter((one) => one !== null);
}

function containerOf(all: readonly Manifest[]): Readonly<Record<string, unknown>> {
  const deployment = all.find(({ kind }) => kind === "Deployment");
  return deployment?.spec.template.spec.containers[0] as Readonly<Record<string, unknown>>;
}
