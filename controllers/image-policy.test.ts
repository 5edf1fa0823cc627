// A webhook can be called directly, or by the API server of a cluster that the test starts. Run it with `binnacle
// test controllers`.
import { expect, test } from "bun:test";
import { Pod } from "binnacle/resources";
import { admit, runModule, startCluster } from "binnacle/testing";
import { imagePolicy } from "./image-policy.ts";

const pod = (...images: readonly string[]) => ({
  metadata: { namespace: "default", name: "web" },
  spec: { containers: images.map((image, index) => ({ name: `c${index}`, image })) },
});

test("images without a version are refused, each with its field", async () => {
  const answer = await admit(imagePolicy, pod("registry.example.com:5000/web", "quay.io/a/b:latest", "quay.io/a/b:1"));
  expect(answer).toMatchObject({ allowed: false, code: 422, reason: "Invalid" });
  expect(answer.allowed ? [] : answer.causes.map(({ field }) => field)).toEqual([
    "spec.containers[0].image",
    "spec.containers[1].image",
  ]);
});

test("versions and digests are allowed, and the pod gets a seccomp profile", async () => {
  const answer = await admit(imagePolicy, pod("quay.io/a/b:1.2", `quay.io/a/b@sha256:${"0".repeat(64)}`));
  expect(answer).toMatchObject({ allowed: true, warnings: [] });
  expect(answer.allowed ? answer.patch : []).toEqual([
    { op: "add", path: "/spec/securityContext", value: { seccompProfile: { type: "RuntimeDefault" } } },
  ]);
});

test("the default registry gets a warning", async () => {
  const { warnings } = await admit(imagePolicy, pod("nginx:1.29"));
  expect(warnings).toEqual(["spec.containers[0].image: nginx:1.29 comes from the default registry"]);
});

test("the API server of a cluster asks it", async () => {
  await using cluster = await startCluster();
  await using _ = await runModule(imagePolicy, cluster);
  const { metadata, spec } = pod("quay.io/a/b:1");
  const created = await cluster.client.create(Pod, { metadata, spec });
  expect(created.spec.securityContext).toEqual({ seccompProfile: { type: "RuntimeDefault" } });
  const latest = { metadata: { ...metadata, name: "latest" }, spec: pod("quay.io/a/b").spec };
  await expect(cluster.client.create(Pod, latest)).rejects.toThrow("spec.containers[0].image: must name a version");
});
