/** A base and an overlay, with modules in a ConfigMap that import a package from npm. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { available, Show } from "./show.ts";
import { parcel, sentBy, writeParcels } from "./parcels.ts";

const NAMESPACE = "kust-system";
const DEPLOY =
  `manifests deploy --service-account ${NAMESPACE}/kust --base-image example.com/binnacle:0 --memory-limit 128Mi --cpu-limit 200m`.split(
    " ",
  );
const OVERLAY = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [../base]
images: [{ name: example.com/binnacle, newName: localhost/binnacle, newTag: "1" }]
replicas: [{ name: kust, count: 2 }]
`;

describe.skipIf(!available)("kustomize", () => {
  let show: Show;
  beforeAll(async () => {
    show = await Show.open("kustomize");
    await show.write("overlay/kustomization.yaml", OVERLAY);
    for (const version of [1, 2] as const) await writeParcels(show, version);
    await show.image("localhost/binnacle:1");
  }, 300_000);
  afterAll(async () => await show?.[Symbol.asyncDispose]());

  test("an overlay is applied, changed, taken back and deleted", async () => {
    const { node } = show;
    const overlay = join(show.dir, "overlay");
    const write = async (folder: string): Promise<string> =>
      await show.binnacle(...DEPLOY, "--controllers", folder, "--kustomize", "base");
    const apply = async (): Promise<void> => {
      await node.kubectl("apply", "-k", overlay);
      await show.rolledOut(NAMESPACE, "kust");
    };
    await write("one");
    await cp(join(show.dir, "base"), join(show.dir, "base-1"), { recursive: true });
    await show.step("kubectl apply -k", apply);
    await node.apply(parcel("base-one"));
    await sentBy(show, 1, { name: "base-one" });
    const card = await show.get("/api/v1/namespaces/default/configmaps/base-one");
    expect(card?.data).toEqual({ text: "to world" });

    await show.step("kubectl apply -k of the next version", async () => {
      await write("two");
      await apply();
      await sentBy(show, 2, { name: "base-one" });
    });
    await show.step("kubectl apply -k of the version before", async () => {
      await cp(join(show.dir, "base-1"), join(show.dir, "base"), { recursive: true });
      await apply();
      await node.apply(parcel("base-two"));
      await sentBy(show, 1, { name: "base-two" });
    });
    await show.step("kubectl delete -k", async () => {
      await node.kubectl("delete", "parcels", "--all", "--cascade=foreground", "--timeout=120s");
      await node.kubectl("delete", "--timeout=120s", "-k", overlay);
      const kinds = "namespaces,customresourcedefinitions,clusterroles,clusterrolebindings";
      expect(await node.kubectl("get", kinds, "-l", "app.kubernetes.io/name=kust", "-o", "name")).toBe("");
    });
  }, 300_000);
});
