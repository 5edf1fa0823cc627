/** Tests what `manifests deploy` prints on a real server, and the process under the ServiceAccount that it creates. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Bench } from "../support/binary.ts";
import { until } from "../support/until.ts";
import { available, Cluster } from "../support/cluster.ts";

const MODULE = `
import { defineController, defineResource, z } from "binnacle";
export const Parcel = defineResource({ group: "deploy.binnacle.dev", version: "v1", kind: "Parcel", spec: z.object({}) });
export const parcel = defineController({ for: Parcel, async reconcile(o, { log }) { log.info("ran " + o.metadata.name); } });`;

const CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/parcels.deploy.binnacle.dev";
const PARCELS = "/apis/deploy.binnacle.dev/v1/namespaces/default/parcels";

describe.skipIf(!available)("manifests deploy", () => {
  let cluster: Cluster;
  let bench: Bench;

  beforeAll(async () => {
    [cluster, bench] = await Promise.all([Cluster.start({ controllers: false }), Bench.create()]);
    await bench.write("controllers/parcel.ts", MODULE);
    await bench.write("package.json", '{ "name": "@team/parcels" }');
  }, 180_000);

  afterAll(async () => {
    await bench?.[Symbol.asyncDispose]();
    await cluster?.[Symbol.asyncDispose]();
  });

  test("with --install-crds: the process waits for the right to install its kinds, and has it with the manifests", async () => {
    const kubeconfig = await cluster.plane.userKubeconfig("system:serviceaccount:parcels-system:parcels");
    await using operator = await bench.run({ kubeconfig, args: ["--install-crds"] });
    await until(async () => /parcel.*Forbidden/.test((await operator.health("/readyz?verbose")).body), {
      what: () => `the refusal is shown:\n${operator.text}`,
    });
    expect((await operator.health("/readyz")).status).toBe(500);
    expect(operator.child.exitCode).toBeNull();

    const args = ["manifests", "deploy", "--image", "example.com/parcels:1", "--install-crds"];
    const { stdout, code } = await bench.exec(...args);
    expect(code).toBe(0);
    await cluster.plane.apply(stdout);
    await operator.ready();
    await cluster.send("POST", PARCELS, { body: parcel("one") });
    await until(() => operator.log.some(({ msg }) => msg === "ran one"), { what: () => operator.text });
    // When a field is removed, the process may also check whether that loses data.
    await cluster.send("DELETE", `${PARCELS}/one`);
    expect(await operator.stop()).toBe(0);
    const withField = { properties: { spec: { type: "object", properties: { old: { type: "string" } } } } };
    const schema = { type: "object", ...withField };
    const patch = [{ op: "replace", path: "/spec/versions/0/schema/openAPIV3Schema", value: schema }];
    await cluster.send("PATCH", CRD, { body: patch, type: "application/json-patch+json" });
    await using again = await bench.run({ kubeconfig, args: ["--install-crds"] });
    await again.ready();
    expect(JSON.stringify((await cluster.get(CRD))!.spec)).not.toContain("old");
  }, 180_000);

  test("without it the kinds come with the manifests", async () => {
    await cluster.kubectl("delete", "crd", "parcels.deploy.binnacle.dev", "--ignore-not-found");
    const { stdout } = await bench.exec("manifests", "deploy", "--base-image", "example.com/binnacle:1");
    await cluster.plane.apply(stdout);
    expect((await cluster.get(CRD))?.metadata.name).toBe("parcels.deploy.binnacle.dev");
    const modules = await cluster.get("/api/v1/namespaces/parcels-system/configmaps/parcels");
    expect(Object.keys(modules?.data ?? {})).toEqual(["parcel.ts"]);
  }, 180_000);
});

function parcel(name: string): object {
  return { apiVersion: "deploy.binnacle.dev/v1", kind: "Parcel", metadata: { name }, spec: {} };
}
