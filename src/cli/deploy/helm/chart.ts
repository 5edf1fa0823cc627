/** Writes the manifests as a Helm chart. */
import { stringify } from "yaml";
import { certificateOf, webhookTemplates } from "./certificates.ts";
import { configTemplate } from "./config-template.ts";
import { deploymentTemplate } from "./deployment-template.ts";
import { EACH_NAMESPACE, RELEASE, Slots } from "./slots.ts";
import { valuesOf } from "./values.ts";
import { schemaOf } from "./schema.ts";
import type { DeployPlan } from "../deploy-plan.ts";
import { tokenRules } from "../../../module/process-rules.ts";
import { rbacManifests } from "../../../module/rbac-manifests.ts";
import { configMap, labelledRbac, serviceAccount } from "../deploy-parts.ts";
import { hasPublicFields, secretAdvice } from "../deployed-config.ts";
import { disruptionBudget } from "../deployment.ts";
import { labelsOf } from "../deploy-plan.ts";
import { labelled } from "../deploy-parts.ts";
import { metricsService, networkPolicy, serviceMonitor } from "../listening.ts";
import { dashboards } from "../monitoring/dashboards.ts";
import { prometheusRule } from "../monitoring/prometheus-rule.ts";

export interface ChartOptions {
  readonly name: string;
  readonly version: string;
  /** The version of the binary that wrote it. */
  readonly appVersion: string;
}

/**
 * Returns the files by their paths in the chart.
 *
 * @param plan the plan for {@link RELEASE}: the release determines name and namespace.
 * @see https://helm.sh/docs/topics/charts/
 */
export function helmChart(plan: DeployPlan, options: ChartOptions): Readonly<Record<string, string>> {
  const slots = new Slots();
  const render = (documents: readonly object[]): string => documents.map((one) => slots.render(one)).join("");
  const when = (condition: string, text: string): string => `{{- if ${condition} }}\n${text}{{- end }}\n`;
  const files: Record<string, string> = {
    "Chart.yaml": stringify({
      apiVersion: "v2",
      name: options.name,
      description: "Controllers that binnacle runs",
      type: "application",
      version: options.version,
      appVersion: options.appVersion,
    }),
    "values.yaml": valuesOf(plan),
    "values.schema.json": `${JSON.stringify(schemaOf(plan), undefined, 2)}\n`,
    "templates/NOTES.txt": notesOf(plan),
    "templates/rbac.yaml": rbac(plan, slots),
    "templates/deployment.yaml": slots.render(deploymentTemplate(plan, slots)),
    "templates/debug.yaml": when("$.Values.debug.enabled", render(debugRbac(plan))),
    "templates/budget.yaml": when("gt (int $.Values.replicas) 1", render([disruptionBudget(plan)])),
    "templates/network-policy.yaml": when("$.Values.networkPolicy.enabled", render([networkPolicy(plan)])),
    "templates/metrics.yaml":
      when("or $.Values.metrics.service $.Values.metrics.serviceMonitor", render([metricsService(plan)])) +
      when("$.Values.metrics.serviceMonitor", render([selected(serviceMonitor(plan), slots)])) +
      when("$.Values.metrics.alerts", render([selected(prometheusRule(plan), slots)])) +
      when("$.Values.metrics.dashboards", render(dashboards(plan))),
  };
  if (plan.crds.length > 0) {
    files["templates/crds.yaml"] = when("$.Values.crds.install", render(plan.crds.map((one) => kept(one, slots))));
  }
  if (plan.files !== undefined) {
    files["templates/modules.yaml"] = modules(plan, slots);
    for (const { key, text } of plan.files) files[`modules/${key}`] = text;
  }
  const { config } = plan;
  if (config !== undefined && hasPublicFields(config)) {
    files["templates/config.yaml"] = configTemplate({ ...plan, config }, slots);
  }
  if (plan.webhooks.args.length > 0) {
    files["templates/webhooks.yaml"] = render(webhookTemplates(plan));
    files["templates/certificate.yaml"] = when(
      '$.Values.webhooks.certificates | eq "cert-manager"',
      certificateOf(plan, slots),
    );
  }
  return files;
}

/**
 * Definitions are templates, so that each upgrade includes them; files in `crds/` would be installed once and never
 * again.
 */
function kept(crd: object, slots: Slots): object {
  const { metadata, ...manifest } = labelled(crd, labelsOf(RELEASE.name)) as {
    readonly metadata: { readonly annotations?: object };
  };
  const [whenKept, policy, end] = ["{{- if $.Values.crds.keep }}", "helm.sh/resource-policy: keep", "{{- end }}"];
  const annotations =
    metadata.annotations === undefined
      ? slots.lines(whenKept, "annotations:", `  ${policy}`, end)
      : { ...metadata.annotations, policy: slots.lines(whenKept, policy, end) };
  const { apiVersion, kind, ...rest } = manifest as Readonly<Record<string, unknown>>;
  return { apiVersion, kind, metadata: { ...metadata, annotations }, ...rest };
}

/** Adds the labels by which a Prometheus may select what it reads. */
function selected(manifest: object, slots: Slots): object {
  return labelled(manifest, { "metrics-labels": slots.spread("$.Values.metrics.labels") });
}

/** With namespaces, each of them gets a Role; otherwise there is one ClusterRole. */
function rbac(plan: DeployPlan, slots: Slots): string {
  const render = (documents: readonly object[]): string => documents.map((one) => slots.render(one)).join("");
  const everywhere = labelledRbac(plan, plan.rbacFor([])) as readonly RbacManifest[];
  const inNamespaces = labelledRbac(plan, plan.rbacFor([EACH_NAMESPACE])) as readonly RbacManifest[];
  const ofCluster = ({ metadata }: RbacManifest): boolean => metadata.namespace === undefined;
  const each = inNamespaces
    .filter(({ metadata }) => metadata.namespace === EACH_NAMESPACE)
    // Roles of the release may be in the same namespace.
    .map((one) => renamed(one, `${RELEASE.name}-modules`));
  const account = { ...serviceAccount(plan), metadata: withAnnotations(serviceAccount(plan), slots) };
  return [
    render([account, ...everywhere.filter((one) => !ofCluster(one))]),
    "{{- if $.Values.namespaces }}\n",
    render(inNamespaces.filter(ofCluster)),
    "{{- range $.Values.namespaces }}\n",
    render(each),
    "{{- end }}\n{{- else }}\n",
    render(everywhere.filter(ofCluster)),
    "{{- end }}\n",
  ].join("");
}

interface RbacManifest {
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly roleRef?: object;
}

/** The right that the debug listener needs, in a role of its own. */
function debugRbac(plan: DeployPlan): readonly object[] {
  const manifests = rbacManifests([], { account: plan.account, namespaces: [], more: tokenRules });
  return (labelledRbac(plan, manifests) as readonly RbacManifest[]).map((one) => renamed(one, `${RELEASE.name}-debug`));
}

/** Gives a role, or a binding and its role, another name. */
function renamed(manifest: RbacManifest, name: string): object {
  const { roleRef } = manifest;
  return {
    ...manifest,
    metadata: { ...manifest.metadata, name },
    ...(roleRef !== undefined && { roleRef: { ...roleRef, name } }),
  };
}

function withAnnotations(manifest: object, slots: Slots): object {
  const { metadata } = manifest as { readonly metadata: object };
  return { ...metadata, annotations: slots.optional("$.Values.serviceAccount.annotations") };
}

/** The texts are files of the chart, so that Helm does not interpret them as templates. */
function modules(plan: DeployPlan, slots: Slots): string {
  const texts = (plan.files ?? []).map(({ key }) => `${key}: {{ $.Files.Get "modules/${key}" | toJson }}`);
  return slots.render({ ...configMap(plan), data: { texts: slots.lines(...texts) } });
}

function notesOf({ config }: DeployPlan): string {
  const secret = '{{ default (printf "%s-config" $.Release.Name) $.Values.config.secretName }}';
  const advice = secretAdvice(config, { secret, namespace: "{{ .Release.Namespace }}" });
  return advice === undefined ? notes : `${notes}\n${advice}`;
}

const notes = `The controllers of {{ .Release.Name }} run in the namespace {{ .Release.Namespace }}:

  kubectl rollout status deployment/{{ .Release.Name }} --namespace {{ .Release.Namespace }}
  kubectl logs deployment/{{ .Release.Name }} --namespace {{ .Release.Namespace }}

Before you uninstall it, delete the objects of its kinds: finalizers need a controller that runs.
`;
