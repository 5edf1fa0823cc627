/** The Deployment of a chart: the one of `kubectl apply`, with template expressions for values that users change. */
import { DEBUG_ARGUMENT, type DeployPlan } from "../deploy-plan.ts";
import { deployment, GRACE_SECONDS } from "../deployment.ts";
import { certificateSecret } from "./certificates.ts";
import { SECRET_NAME } from "./config-template.ts";
import type { Slots } from "./slots.ts";

const IMAGE = [
  "$.Values.image.repository",
  '(empty $.Values.image.tag | ternary "" (printf ":%v" $.Values.image.tag))',
  '(empty $.Values.image.digest | ternary "" (printf "@%v" $.Values.image.digest))',
].join(" ");
const WITH_CERTIFICATE = '{{- if eq $.Values.webhooks.certificates "cert-manager" }}';
const CERTS = "/certs";

/** The flags as `--name=value`, once for each entry of a list. */
const FLAGS = [
  "{{- range $name, $value := $.Values.flags }}",
  '{{- range (kindIs "slice" $value | ternary $value (list $value)) }}',
  '- {{ printf "--%s=%s" $name (kindIs "string" . | ternary . (toJson .)) | quote }}',
  "{{- end }}",
  "{{- end }}",
];

export function deploymentTemplate(plan: DeployPlan, slots: Slots): object {
  // The values determine the namespaces, and whether there is a debug listener.
  const config = plan.config && { ...plan.config, secret: slots.value(SECRET_NAME) };
  const plain = deployment({ ...plan, config, namespaces: [], debug: false });
  const { template } = plain.spec;
  const [container] = template.spec.containers;
  const hasWebhooks = plan.webhooks.args.length > 0;
  const mounted = hasWebhooks ? [mountOf(slots)] : [];
  const volumes = hasWebhooks ? [volumeOf(plan, slots)] : [];
  const { volumes: ownVolumes = [], containers: _, ...pod } = template.spec;
  const { volumeMounts = [], args, ...rest } = container!;
  return {
    ...plain,
    spec: {
      ...plain.spec,
      replicas: slots.value("$.Values.replicas"),
      template: {
        metadata: {
          labels: { ...template.metadata.labels, "pod-labels": slots.spread("$.Values.podLabels") },
          annotations: {
            "kubectl.kubernetes.io/default-container": "binnacle",
            ...template.metadata.annotations,
            "pod-annotations": slots.spread("$.Values.podAnnotations"),
          },
        },
        spec: {
          ...pod,
          terminationGracePeriodSeconds: slots.value(
            `int (default ${GRACE_SECONDS} $.Values.terminationGracePeriodSeconds)`,
          ),
          ...Object.fromEntries(
            ["imagePullSecrets", "nodeSelector", "tolerations", "affinity"].map((field) => [
              field,
              slots.optional(`$.Values.${field}`),
            ]),
          ),
          priorityClassName: slots.lines(
            "{{- with $.Values.priorityClassName }}",
            "priorityClassName: {{ . | quote }}",
            "{{- end }}",
          ),
          containers: [
            {
              ...rest,
              image: slots.value(`printf "%s%s%s" ${IMAGE} | quote`),
              imagePullPolicy: slots.value("$.Values.image.pullPolicy"),
              args: [
                ...args,
                slots.lines(
                  "{{- range $.Values.namespaces }}",
                  '- {{ printf "--namespace=%s" . | quote }}',
                  "{{- end }}",
                  "{{- if $.Values.debug.enabled }}",
                  `- ${DEBUG_ARGUMENT}`,
                  "{{- end }}",
                  ...(hasWebhooks ? [WITH_CERTIFICATE, `- --webhook-cert-path=${CERTS}`, "{{- end }}"] : []),
                  ...FLAGS,
                ),
              ],
              env: slots.optional("$.Values.env"),
              envFrom: slots.optional("$.Values.envFrom"),
              resources: slots.block("$.Values.resources"),
              ...listOf("volumeMounts", [...volumeMounts, ...mounted], slots),
            },
          ],
          ...listOf("volumes", [...ownVolumes, ...volumes], slots),
        },
      },
    },
  };
}

/** A list of the Deployment, followed by the entries that `values` add. */
function listOf(field: string, own: readonly unknown[], slots: Slots): object {
  const values = `$.Values.${field}`;
  return { [field]: own.length > 0 ? [...own, slots.spread(values)] : slots.optional(values) };
}

function mountOf(slots: Slots): string {
  return slots.lines(
    WITH_CERTIFICATE,
    "- name: webhook-cert",
    `  mountPath: ${CERTS}`,
    "  readOnly: true",
    "{{- end }}",
  );
}

function volumeOf(plan: DeployPlan, slots: Slots): string {
  return slots.lines(
    WITH_CERTIFICATE,
    "- name: webhook-cert",
    "  secret:",
    `    secretName: ${certificateSecret(plan)}`,
    "{{- end }}",
  );
}
