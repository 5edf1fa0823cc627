/** The image of the API server alone: a container that others reach, and whose kubeconfig is taken out of it. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { available, isTrue, Show } from "./show.ts";

const IMAGE = "localhost/apiserver:1";
const POD = "/api/v1/namespaces/default/pods/apiserver";
const manifest = `apiVersion: v1
kind: Pod
metadata: { name: apiserver }
spec:
  terminationGracePeriodSeconds: 5
  containers:
    - name: apiserver
      image: ${IMAGE}
      args: [--tls-san=api.test]
      ports: [{ containerPort: 6443 }]
      readinessProbe: { httpGet: { path: /readyz, port: 6443, scheme: HTTPS }, periodSeconds: 1 }
      securityContext: { runAsNonRoot: true, allowPrivilegeEscalation: false, capabilities: { drop: [ALL] } }
`;

describe.skipIf(!available)("the image of the API server", () => {
  let show: Show;
  beforeAll(async () => {
    show = await Show.open("apiserver image");
    await show.step("binnacle build --apiserver", async () => {
      console.log((await show.binnacle("build", "--apiserver", "--image", IMAGE, "--output", "apiserver.tar")).trim());
    });
    await show.node.load(`${show.dir}/apiserver.tar`);
  }, 120_000);
  afterAll(async () => {
    await show?.node.tryKubectl(["delete", "pod", "apiserver", "--ignore-not-found", "--wait=false"]);
    await show?.[Symbol.asyncDispose]();
  });

  test("serves kubectl at the address of its pod, with the kubeconfig that is in the container", async () => {
    await show.node.apply(manifest);
    const { status } = await show.step("a pod of it is ready", async () => {
      return await show.see(POD, "the pod is ready", (seen) => isTrue(seen, "Ready"));
    });
    const id = (status.containerStatuses as { containerID: string }[])[0]!.containerID.replace("containerd://", "");
    const inside = `/run/containerd/io.containerd.runtime.v2.task/k8s.io/${id}/rootfs/etc/kubernetes/admin.conf`;
    const kubectl = async (server: string, ...words: string[]): Promise<string> => {
      const outside = `sed 's#https://127.0.0.1:6443#https://${server}:6443#' ${inside} > /tmp/apiserver.conf`;
      const line = `${outside} && kubectl --kubeconfig /tmp/apiserver.conf "$@"`;
      const { stdout, stderr } = await show.node.exec("bash", "-c", line, "kubectl", ...words);
      return stdout + stderr;
    };
    const address = status.podIP as string;
    expect(await kubectl(address, "create", "configmap", "hello", "--from-literal=to=world")).toBe(
      "configmap/hello created\n",
    );
    expect(await kubectl(address, "get", "configmap", "hello", "-o", "jsonpath={.data.to}")).toBe("world");
    expect(await kubectl(address, "get", "pods")).toContain("No resources found");
    const named = ["--server", `https://${address}:6443`, "--tls-server-name", "api.test"];
    expect(await kubectl(address, ...named, "get", "namespaces", "-o", "name")).toContain("namespace/default");
    const { stdout: mode } = await show.node.exec("stat", "-c", "%a %u", inside);
    expect(mode.trim()).toBe("600 65532");
    expect(await show.node.kubectl("logs", "apiserver")).toStartWith(
      "Serving the Kubernetes API on https://127.0.0.1:6443\n",
    );
  }, 120_000);
});
