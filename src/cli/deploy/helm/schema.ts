/** The schema of a chart's values. Helm refuses other values before it installs anything. */
import type { Option } from "../../../settings/option.ts";
import { MOST_REPLICAS } from "../../manifests-options.ts";
import { runOptions } from "../../../settings/run-options.ts";
import type { DeployPlan } from "../deploy-plan.ts";
import { configSchema } from "./config-template.ts";

/** Flags that the chart sets itself, or that have values of their own in it. */
const OWN_FLAGS =
  /^(controllers|namespace|kubeconfig|context|install-crds|shards|leader-elect|leader-election-(id|namespace)|health-probe-bind-address|(debug|metrics)-bind-address|metrics-secure|webhook-.*|register-webhooks)$/;
const QUANTITY = "^\\d+(\\.\\d+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$";
const BYTES = "^\\d+(\\.\\d+)?(k|M|G|Ki|Mi|Gi)?$";
const DURATION = "^(\\d+(\\.\\d+)?(ms|s|m|h))+$";
const NAMESPACE = "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$";

const text = { type: "string" } as const;
const flag = { type: "boolean" } as const;
const map = { type: "object" } as const;
const list = { type: "array" } as const;
/** For environment variables, annotations and labels, because values that are not text are a common mistake. */
const texts = { type: "object", additionalProperties: text } as const;

/** @see https://json-schema.org/draft-07 */
export function schemaOf(plan: DeployPlan): object {
  const isAlone = plan.elects === undefined && plan.shards === undefined;
  const quantity = { type: ["string", "number"], pattern: QUANTITY, exclusiveMinimum: 0 };
  const quantities = { type: "object", additionalProperties: quantity };
  const objects = { type: "array", items: map };
  const properties = {
    global: map,
    image: closedObject(
      {
        repository: { ...text, minLength: 1 },
        // A string and a number are allowed, for `--set image.tag=2`. The number 1.10 would become 1.1.
        tag: { type: ["string", "integer"] },
        digest: { ...text, pattern: "^(sha256:[0-9a-f]{64})?$" },
        pullPolicy: { enum: ["Always", "IfNotPresent", "Never"] },
      },
      ["repository"],
    ),
    replicas: { type: "integer", minimum: 0, maximum: isAlone ? 1 : MOST_REPLICAS },
    resources: closedObject({ requests: quantities, limits: quantities, claims: list }),
    namespaces: { type: "array", items: { ...text, pattern: NAMESPACE }, uniqueItems: true },
    terminationGracePeriodSeconds: { type: "integer", minimum: 1 },
    flags: closedObject(Object.fromEntries(runOptions.filter(({ name }) => !OWN_FLAGS.test(name)).map(flagSchema))),
    ...(plan.crds.length > 0 && { crds: closedObject({ install: flag, keep: flag }) }),
    ...(plan.webhooks.args.length > 0 && {
      webhooks: closedObject({
        certificates: { enum: ["self-managed", "cert-manager"] },
        issuerRef: closedObject({ name: text, kind: text, group: text }),
      }),
    }),
    ...(plan.config !== undefined && { config: configSchema(plan.config) }),
    networkPolicy: closedObject({ enabled: flag }),
    debug: closedObject({ enabled: flag }),
    metrics: closedObject({ service: flag, serviceMonitor: flag, alerts: flag, dashboards: flag, labels: texts }),
    serviceAccount: closedObject({ annotations: texts }),
    podAnnotations: texts,
    podLabels: texts,
    env: objects,
    envFrom: objects,
    volumes: objects,
    volumeMounts: objects,
    imagePullSecrets: objects,
    nodeSelector: texts,
    tolerations: objects,
    affinity: map,
    priorityClassName: text,
  };
  return { $schema: "http://json-schema.org/draft-07/schema#", ...closedObject(properties, ["image", "replicas"]) };
}

/** An object that may have only these fields, so that a misspelt one is refused. */
function closedObject(properties: object, required: readonly string[] = []): object {
  return { type: "object", additionalProperties: false, ...(required.length > 0 && { required }), properties };
}

function flagSchema({ name, type, choices, describe }: Option): readonly [string, object] {
  return [name, { description: describe, ...valueSchema(type, choices) }];
}

function valueSchema(type: Option["type"], choices: Option["choices"]): object {
  if (choices !== undefined) return { enum: choices };
  switch (type) {
    case "boolean":
      return flag;
    case "number":
      return { type: "integer", minimum: 1 };
    case "duration":
      return { ...text, pattern: DURATION };
    case "bytes":
      return { ...text, pattern: BYTES };
    case "list":
      return { type: "array", items: text };
    default:
      return text;
  }
}
