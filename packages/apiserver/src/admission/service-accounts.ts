/** ServiceAccount: gives a pod its account, and mounts the account's token. @see https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#serviceaccount */
import { randomBytes } from "node:crypto";
import type { Fields } from "../hooks.ts";
import { each, inner } from "../validation/fill.ts";
import { type Plugin, refusal } from "./plugin.ts";

const mountPath = "/var/run/secrets/kubernetes.io/serviceaccount";
/** A pod that a node has made by itself. */
const mirror = "kubernetes.io/config.mirror";

export const serviceAccounts: Plugin = {
  name: "ServiceAccount",
  resources: ["/pods"],
  mutate(attributes) {
    const { context, object } = attributes;
    if (context.operation !== "CREATE" || context.subresource !== "" || object === undefined) return;
    if (object.metadata.annotations?.[mirror] !== undefined) return;
    const spec = inner(object, "spec");
    const name = String(spec["serviceAccountName"] || "default");
    Object.assign(spec, { serviceAccountName: name, serviceAccount: name });
    const { namespace } = context;
    const account = context.reader.get({ group: "", plural: "serviceaccounts" }, { namespace, name });
    if (account === undefined) {
      const why = `serviceaccount "${name}" not found`;
      throw refusal(attributes, `error looking up service account ${namespace}/${name}: ${why}`);
    }
    if ((spec["automountServiceAccountToken"] ?? account["automountServiceAccountToken"]) !== false) mountToken(spec);
    if (each(spec, "imagePullSecrets").length === 0 && each(account, "imagePullSecrets").length > 0)
      spec["imagePullSecrets"] = each(account, "imagePullSecrets");
  },
};

/** Mounts a token into each container that has nothing at its place. */
function mountToken(spec: Fields): void {
  const volumes = each(spec, "volumes");
  const there = volumes.find(({ name }) => String(name).startsWith("kube-api-access-"));
  const name = there === undefined ? `kube-api-access-${randomBytes(8).toString("hex").slice(0, 5)}` : there["name"];
  let isMounted = false;
  for (const container of [...each(spec, "initContainers"), ...each(spec, "containers")]) {
    const mounts = each(container, "volumeMounts");
    if (mounts.some((mount) => mount["mountPath"] === mountPath)) continue;
    container["volumeMounts"] = [...mounts, { name, readOnly: true, mountPath }];
    isMounted = true;
  }
  if (isMounted && there === undefined) spec["volumes"] = [...volumes, { name, projected: structuredClone(projected) }];
}

const projected = {
  defaultMode: 0o644,
  sources: [
    { serviceAccountToken: { path: "token", expirationSeconds: 3607 } },
    { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
    {
      downwardAPI: {
        items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }],
      },
    },
  ],
};
