/** The objects that situations are made of, short to write. */
import type { Loose } from "./recorder.ts";
import type { Until } from "./stage.ts";

const labels = (name: string): Record<string, string> => ({ app: name });

/** A pod template with one container `web`. */
export function template(name: string, options: TemplateOptions = {}): Loose {
  const { image = "web:1", annotations, spec } = options;
  return {
    metadata: { labels: labels(name), ...(annotations === undefined ? {} : { annotations }) },
    spec: { containers: [{ name: "web", image }], ...spec },
  };
}

export interface TemplateOptions {
  /** @default "web:1" */
  readonly image?: string;
  /** Such as `{ "pods.binnacle.dev/ready-after": "never" }`. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Over the pod's spec. */
  readonly spec?: Loose;
}

/** `options` go over the spec; `template` may be given by `template()`. */
export function workload(apiVersion: string, kind: string): (name: string, spec?: Loose) => Loose {
  return (name, spec = {}) => ({
    apiVersion,
    kind,
    metadata: { name },
    spec: { selector: { matchLabels: labels(name) }, template: template(name), ...spec },
  });
}

export const deployment: (name: string, spec?: Loose) => Loose = workload("apps/v1", "Deployment");
export const replicaSet: (name: string, spec?: Loose) => Loose = workload("apps/v1", "ReplicaSet");

/** A pod with one container `web`, labelled as the workloads of the name. */
export function pod(name: string, app: string, options: TemplateOptions = {}): Loose {
  const { metadata, spec } = template(app, options);
  return { apiVersion: "v1", kind: "Pod", metadata: { ...metadata, name }, spec };
}

/** As `kubectl rollout status` sees it. */
export function isComplete(name: string): Until {
  return (stage) => {
    const { metadata, spec, status } = stage.find("Deployment", name) ?? {};
    return (
      status?.observedGeneration === metadata?.generation &&
      (status?.replicas ?? 0) === spec?.replicas &&
      (status?.updatedReplicas ?? 0) === spec?.replicas &&
      (status?.availableReplicas ?? 0) === spec?.replicas &&
      (status?.terminatingReplicas ?? 0) === 0
    );
  };
}

/** Whether an object has a condition with the reason, or any state of the type. */
export function hasCondition(kind: string, name: string, type: string, reason?: string): Until {
  return (stage) =>
    stage
      .find(kind, name)
      ?.status?.conditions?.some(
        (one: Loose) => one.type === type && (reason === undefined || one.reason === reason),
      ) === true;
}

/** Whether the counts of a status are these; one that is absent is 0. */
export function hasStatus(kind: string, name: string, counts: Readonly<Record<string, number>>): Until {
  return (stage) => {
    const object = stage.find(kind, name);
    const { status } = object ?? {};
    return (
      status?.observedGeneration === object?.metadata.generation &&
      Object.entries(counts).every(([field, count]) => (status?.[field] ?? 0) === count)
    );
  };
}

/** All conditions at once. */
export function every(...conditions: readonly Until[]): Until {
  return (stage) => conditions.every((holds) => holds(stage));
}
