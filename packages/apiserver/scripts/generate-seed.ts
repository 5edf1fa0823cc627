/**
 * Writes `packages/apiserver/src/seed/objects.txt`: what a real kube-apiserver adds of its own when it starts.
 *
 *   bun packages/apiserver/scripts/generate-seed.ts
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startControlPlane } from "../../../scripts/controlplane/controlplane.ts";

/** Objects that depend on the address or the time are made in `bootstrap.ts`. */
const lists = [
  "/api/v1/namespaces",
  "/apis/scheduling.k8s.io/v1/priorityclasses",
  "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations",
  "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas",
  "/apis/rbac.authorization.k8s.io/v1/clusterroles",
  "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
  "/apis/rbac.authorization.k8s.io/v1/roles",
  "/apis/rbac.authorization.k8s.io/v1/rolebindings",
  "/apis/apiregistration.k8s.io/v1/apiservices",
];

interface Listed {
  readonly kind: string;
  readonly apiVersion: string;
  readonly items: readonly (Record<string, unknown> & { metadata: Record<string, unknown> })[];
}

await using controlPlane = await startControlPlane();
const lines: string[] = [];
for (const path of lists) {
  const response = await controlPlane.request(path);
  const { kind, apiVersion, items } = (await response.json()) as Listed;
  const group = apiVersion.includes("/") ? apiVersion.split("/")[0] : "";
  const collection = `${group}/${path.split("/").at(-1)}`;
  for (const { metadata, ...rest } of items) {
    const { uid: _, resourceVersion: __, creationTimestamp: ___, ...kept } = metadata;
    const line = JSON.stringify([collection, { kind: kind.replace(/List$/, ""), apiVersion, metadata: kept, ...rest }]);
    lines.push(line.replaceAll(/"(lastTransitionTime|time)":"[^"]*"/g, `"$1":"NOW"`));
  }
}
writeFileSync(join(import.meta.dirname, "../src/seed/objects.txt"), `[\n${lines.join(",\n")}\n]\n`);
console.log(`${lines.length} objects`);
