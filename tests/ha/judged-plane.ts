/** A control plane whose audit log and etcd contain everything that a judge needs. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type ControlPlane, startControlPlane } from "../../scripts/controlplane/controlplane.ts";
import { AUDIT_POLICY } from "./audit-log.ts";
import { HISTORY_FLAGS } from "./lease-history.ts";

/** Logs the requests of the group `ha-operators` to `audit.log` in the folder, and keeps every version of each object. */
export async function startJudgedPlane(dir: string): Promise<ControlPlane> {
  await writeFile(join(dir, "policy.yaml"), AUDIT_POLICY);
  return startControlPlane({
    flags: [
      `--audit-policy-file=${join(dir, "policy.yaml")}`,
      `--audit-log-path=${join(dir, "audit.log")}`,
      ...HISTORY_FLAGS,
    ],
  });
}

/** Serves the kind, and permits the group everything, because permissions are not judged. */
export async function grantEverything(plane: ControlPlane, definition: string): Promise<void> {
  await plane.apply(definition);
  const { metadata } = Bun.YAML.parse(definition) as { metadata: { name: string } };
  await plane.kubectl("wait", "--for=condition=Established", `crd/${metadata.name}`, "--timeout=20s");
  const name = "ha-operators";
  await plane.apply(
    JSON.stringify({
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRoleBinding",
      metadata: { name },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name }],
    }),
  );
}
