/** All manifests that run the modules in a cluster, in an order in which they can be applied. */
import { namespaceManifest } from "../../module/rbac-manifests.ts";
import { type DeployPlan, labelsOf } from "./deploy-plan.ts";
import { configMapOfConfig, hasPublicFields } from "./deployed-config.ts";
import { deployment, disruptionBudget } from "./deployment.ts";
import { metricsService, networkPolicy, serviceMonitor } from "./listening.ts";
import { monitoringManifests } from "./monitoring/monitoring.ts";

/** Some of the manifests, with the name of their file. */
export interface DeployPart {
  readonly name:
    "namespace" | "crds" | "rbac" | "modules" | "config" | "webhooks" | "network" | "metrics" | "deployment";
  readonly documents: readonly object[];
}

/** The namespace refuses pods that violate this standard. */
const RESTRICTED = {
  "pod-security.kubernetes.io/enforce": "restricted",
  "pod-security.kubernetes.io/audit": "restricted",
  "pod-security.kubernetes.io/warn": "restricted",
} as const;

/** Returns the parts that are not empty. */
export function deployParts(plan: DeployPlan): readonly DeployPart[] {
  const { account, namespaces, rbacFor, crds, files, webhooks } = plan;
  const parts: readonly DeployPart[] = [
    {
      name: "namespace",
      documents: namespaceManifest(account.namespace).map((one) =>
        labelled(one, { ...labelsOf(account.name), ...RESTRICTED }),
      ),
    },
    { name: "crds", documents: crds.map((one) => labelled(one, labelsOf(account.name))) },
    { name: "rbac", documents: [serviceAccount(plan), ...labelledRbac(plan, rbacFor(namespaces))] },
    { name: "modules", documents: files === undefined ? [] : [configMap(plan)] },
    { name: "config", documents: hasPublicFields(plan.config) ? [configMapOfConfig(plan)] : [] },
    // The webhooks come after the permission to write them, because deleting the manifests in this order must remove
    // that permission first.
    { name: "webhooks", documents: [...webhooks.service, ...webhooks.shells] },
    { name: "network", documents: plan.networkPolicy ? [networkPolicy(plan)] : [] },
    {
      name: "metrics",
      documents: plan.monitoring
        ? monitoringManifests(plan)
        : [
            ...(plan.metricsService || plan.serviceMonitor ? [metricsService(plan)] : []),
            ...(plan.serviceMonitor ? [serviceMonitor(plan)] : []),
          ],
    },
    { name: "deployment", documents: [deployment(plan), ...(plan.replicas > 1 ? [disruptionBudget(plan)] : [])] },
  ];
  return parts.filter(({ documents }) => documents.length > 0);
}

export function serviceAccount({ account: { name, namespace } }: Pick<DeployPlan, "account">): object {
  return { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace, labels: labelsOf(name) } };
}

export function labelledRbac({ account }: Pick<DeployPlan, "account">, rbac: readonly object[]): readonly object[] {
  return rbac.map((one) => labelled(one, labelsOf(account.name)));
}

export function configMap({ account: { name, namespace }, files = [] }: Pick<DeployPlan, "account" | "files">): object {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, namespace, labels: labelsOf(name) },
    data: Object.fromEntries(files.map((file) => [file.key, file.text])),
  };
}

/** Adds labels to the labels of a manifest. */
export function labelled(manifest: object, labels: Readonly<Record<string, string>>): object {
  const { metadata = {}, ...rest } = manifest as { readonly metadata?: { readonly labels?: object } };
  const { apiVersion, kind, ...more } = rest as Readonly<Record<string, unknown>>;
  return { apiVersion, kind, metadata: { ...metadata, labels: { ...labels, ...metadata.labels } }, ...more };
}
