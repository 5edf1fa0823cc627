/** The Deployment that runs the modules, and its disruption budget. */
import { createHash } from "node:crypto";
import { quantity } from "../../resource/quantity.ts";
import { WEBHOOK_PORT } from "../webhook-manifests.ts";
import type { MountedFile } from "./config-map-files.ts";
import { configInPod } from "./deployed-config.ts";
import { DEBUG_ARGUMENT, type DeployPlan, HEALTH_PORT, labelsOf, metricsPort, selectorOf } from "./deploy-plan.ts";

/** An idle process uses about 60 MiB, one with 10,000 ConfigMaps in its caches less than 80. */
const REQUESTED = { cpu: "10m", memory: "96Mi" } as const;
/** The grace period of `run`, and the time to close connections. */
export const GRACE_SECONDS = 45;
/** A process with a fifth of a processor may take some seconds to respond while it lists or collects garbage. */
const PROBE_TIMEOUT = 5;

/** Draining nodes takes one replica at a time, so that another one can lead. */
export function disruptionBudget({ account: { name, namespace } }: Pick<DeployPlan, "account">): object {
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name, namespace, labels: labelsOf(name) },
    spec: { maxUnavailable: 1, selector: { matchLabels: selectorOf(name) } },
  };
}

export function deployment(plan: DeployPlan): DeploymentManifest {
  const { account, files, replicas, elects, shards } = plan;
  const { name, namespace } = account;
  const selector = selectorOf(name);
  const volumes = [
    ...(files === undefined
      ? []
      : [{ name: "controllers", configMap: { name, items: files.map(({ key, path }) => ({ key, path })) } }]),
    ...configInPod(plan).volumes,
  ];
  const annotations = files === undefined ? undefined : { "binnacle.dev/modules": hashOf(files) };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace, labels: labelsOf(name) },
    spec: {
      replicas,
      // Without a leader, two replicas at the same time would reconcile the same objects. With a leader, a new replica
      // is warm before the old one hands over the lead.
      strategy:
        elects === undefined && shards === undefined
          ? { type: "Recreate" }
          : { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      selector: { matchLabels: selector },
      template: {
        metadata: { labels: labelsOf(name), ...(annotations !== undefined && { annotations }) },
        spec: {
          serviceAccountName: name,
          // The process does not use the environment variables for Services of the namespace.
          enableServiceLinks: false,
          terminationGracePeriodSeconds: GRACE_SECONDS,
          securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: "RuntimeDefault" } },
          ...(replicas > 1 && {
            topologySpreadConstraints: [
              {
                maxSkew: 1,
                topologyKey: "kubernetes.io/hostname",
                whenUnsatisfiable: "ScheduleAnyway",
                labelSelector: { matchLabels: selector },
              },
            ],
          }),
          containers: [container(plan)],
          ...(volumes.length > 0 && { volumes }),
        },
      },
    },
  };
}

export interface DeploymentManifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: object;
  readonly spec: {
    readonly replicas: number;
    readonly strategy: object;
    readonly selector: object;
    readonly template: {
      readonly metadata: { readonly labels: object; readonly annotations?: object };
      readonly spec: {
        readonly [field: string]: unknown;
        readonly containers: readonly ContainerManifest[];
        readonly volumes?: readonly object[];
      };
    };
  };
}

export interface ContainerManifest {
  readonly [field: string]: unknown;
  readonly image: string;
  readonly args: readonly string[];
  readonly volumeMounts?: readonly object[];
}

function container(plan: DeployPlan): ContainerManifest {
  const { files, webhooks, image } = plan;
  const probe = { timeoutSeconds: PROBE_TIMEOUT };
  const mounts = [
    ...(files === undefined ? [] : [{ name: "controllers", mountPath: "/controllers", readOnly: true }]),
    ...configInPod(plan).mounts,
  ];
  return {
    name: "binnacle",
    image,
    args: argsOf(plan),
    ports: [HEALTH_PORT, metricsPort(plan), ...(webhooks.args.length > 0 ? [WEBHOOK_PORT] : [])],
    // The first probe decides how soon the pod counts as ready; the last one how long it may take to start.
    startupProbe: { ...probe, httpGet: at("/livez"), periodSeconds: 1, failureThreshold: 60 },
    // The container is restarted only after a minute without a response, because a busy process is not a broken one.
    livenessProbe: { ...probe, httpGet: at("/livez"), periodSeconds: 10, failureThreshold: 6 },
    readinessProbe: { ...probe, httpGet: at("/readyz"), periodSeconds: 5, failureThreshold: 3 },
    resources: resourcesOf(plan),
    // If the process fails, the end of its log becomes its termination message.
    terminationMessagePolicy: "FallbackToLogsOnError",
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] }, readOnlyRootFilesystem: true },
    ...(mounts.length > 0 && { volumeMounts: mounts }),
  };
}

function at(path: string): object {
  return { path, port: HEALTH_PORT.name };
}

function argsOf(plan: DeployPlan): readonly string[] {
  const { account, namespaces, installs, elects, secure, shards, debug, webhooks } = plan;
  const { name } = account;
  return [
    "run",
    ...(plan.areInside === true ? [] : ["--controllers=/controllers"]),
    ...configInPod(plan).args,
    ...namespaces.map((one) => `--namespace=${one}`),
    ...(installs ? ["--install-crds"] : []),
    ...(elects === undefined ? [] : [`--leader-elect=${elects}`, `--leader-election-id=${name}`]),
    ...(secure ? ["--metrics-secure", `--metrics-bind-address=:${metricsPort({ secure }).containerPort}`] : []),
    ...(shards === undefined ? [] : [`--shards=${shards}`, `--leader-election-id=${name}`]),
    ...(debug ? [DEBUG_ARGUMENT] : []),
    ...webhooks.args,
  ];
}

/** Returns the resources. Requests never exceed the limits. */
export function resourcesOf({ limits: { memory, cpu } }: Pick<DeployPlan, "limits">): object {
  const limits = { ...(cpu !== undefined && { cpu }), ...(memory !== undefined && { memory }) };
  const requests = {
    cpu: cpu !== undefined && quantity(cpu)! < quantity(REQUESTED.cpu)! ? cpu : REQUESTED.cpu,
    memory: memory !== undefined && quantity(memory)! < quantity(REQUESTED.memory)! ? memory : REQUESTED.memory,
  };
  return { requests, ...(Object.keys(limits).length > 0 && { limits }) };
}

function hashOf(files: readonly MountedFile[]): string {
  return createHash("sha256").update(JSON.stringify(files)).digest("hex").slice(0, 16);
}
