/** The objects that a kube-apiserver adds of its own when it starts. */
import { type Read, readJson } from "./documents.ts";

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

interface List {
  readonly kind: string;
  readonly apiVersion: string;
  readonly items: readonly (Record<string, unknown> & { metadata: Record<string, unknown> })[];
}

export async function seed(read: Read): Promise<string> {
  const lines: string[] = [];
  for (const path of lists) {
    const { kind, apiVersion, items } = (await readJson(read, path)) as List;
    const group = apiVersion.includes("/") ? apiVersion.split("/")[0] : "";
    const collection = `${group}/${path.split("/").at(-1)}`;
    for (const { metadata, ...rest } of items) {
      const { uid: _, resourceVersion: __, creationTimestamp: ___, ...own } = metadata;
      const object = { kind: kind.replace(/List$/, ""), apiVersion, metadata: own, ...rest };
      const line = JSON.stringify([collection, object]);
      lines.push(line.replaceAll(/"(lastTransitionTime|time)":"[^"]*"/g, `"$1":"NOW"`));
    }
  }
  return `[\n${lines.join(",\n")}\n]\n`;
}
