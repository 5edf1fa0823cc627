/**
 * The settings of a process that runs controllers.
 *
 * Each setting is one entry of this table. Its flag of `binnacle run`, its environment variable, its key in the
 * configuration file, its type, its `--help` and its row in the reference follow from the entry. Every part of the
 * process reads it, by the same name, from the settings of its `Runtime`: `runtime.settings["grace-period"]`.
 */
import { type Duration, parseDuration } from "../resource/duration.ts";
import { quantity } from "../resource/quantity.ts";
import type { Option, ValuesOf } from "./option.ts";

export const runOptions = [
  { name: "controllers", type: "list", default: ["./controllers"], describe: "Folder with modules; repeatable" },
  {
    name: "module-config",
    type: "list",
    describe:
      "File with values of the modules' configuration, or folder with one file for each; repeatable, later ones win",
  },
  {
    name: "kubeconfig",
    type: "string",
    describe: "Path of a kubeconfig [default: $KUBECONFIG, the pod's service account, ~/.kube/config]",
  },
  { name: "context", type: "string", describe: "Context of the kubeconfig" },
  { name: "namespace", type: "list", describe: "Namespace to work in; repeatable; all when left out" },
  {
    name: "health-probe-bind-address",
    type: "string",
    default: ":8081",
    describe: "Address of /healthz, /livez, /readyz; 0 for none",
  },
  {
    name: "install-crds",
    type: "boolean",
    default: false,
    describe: "Apply the modules' CustomResourceDefinitions; refuses changes that lose data",
  },
  {
    name: "log-level",
    type: "string",
    default: "info",
    choices: ["debug", "info", "warn", "error"],
    describe: "debug, info, warn or error",
  },
  { name: "log-format", type: "string", choices: ["json", "pretty"], describe: "json or pretty; pretty on a terminal" },
  { name: "watch", type: "boolean", default: false, describe: "Reload modules when their files change" },
  { name: "grace-period", type: "duration", default: "30s", describe: "Time for runs under way to finish at the end" },
  {
    name: "shutdown-delay-duration",
    type: "duration",
    default: "0s",
    describe:
      "Time at the end during which everything keeps working while /readyz fails, so that requests go elsewhere",
  },
  {
    name: "force-removal",
    type: "boolean",
    default: false,
    describe:
      "With --watch: end a module whose file goes at once, although objects carry its finalizers and would hang",
  },
  {
    name: "concurrency",
    type: "number",
    default: 4,
    describe: "Parallel runs of controllers that do not declare their own number",
  },
  {
    name: "kube-api-qps",
    type: "number",
    describe: "Most requests per second to the API server, except watches and the Lease; no limit when left out",
  },
  {
    name: "kube-api-burst",
    type: "number",
    describe: "Requests at once within --kube-api-qps; twice as many when left out",
  },
  {
    name: "memory-limit",
    type: "bytes",
    describe: "Memory to stay below, such as 256Mi; the container's limit when left out, 0 for none",
  },
  {
    name: "stall-warning",
    type: "duration",
    default: "1s",
    describe: "Tell which module blocks the event loop for so long; 0s for never",
  },
  {
    name: "stall-timeout",
    type: "duration",
    default: "15s",
    describe: "End the process when its event loop is blocked for so long; 0s for never",
  },
  {
    name: "error-budget",
    type: "boolean",
    default: true,
    describe: "Slow and suspend controllers whose runs all fail; a new version of the module, or SIGUSR2, resumes them",
  },
  {
    name: "strict",
    type: "boolean",
    default: false,
    describe: "A module that cannot be loaded ends the process; one that waits or is unavailable fails /readyz",
  },
  { name: "metrics-bind-address", type: "string", default: ":8080", describe: "Address of /metrics; 0 for none" },
  {
    name: "metrics-secure",
    type: "boolean",
    default: false,
    describe: "Serve /metrics over TLS, to those whom the API server lets read it",
  },
  {
    name: "metrics-cert-path",
    type: "string",
    describe:
      "Folder with tls.crt and tls.key for --metrics-secure, reloaded when they change; without it they are generated",
  },
  {
    name: "debug-bind-address",
    type: "string",
    default: "0",
    describe: "Address of the dashboard and of /debug, on the loopback only, such as 127.0.0.1:8082; 0 for none",
  },
  {
    name: "debug-memory",
    type: "bytes",
    default: "8Mi",
    describe: "Memory for the history of runs that /debug shows; nothing is recorded without --debug-bind-address",
  },
  {
    name: "webhook-bind-address",
    type: "string",
    default: ":9443",
    describe: "Address of webhooks (TLS), used once a module has some; 0 for none",
  },
  {
    name: "webhook-cert-path",
    type: "string",
    describe: "Folder with tls.crt and tls.key for webhooks, reloaded when they change; without it they are generated",
  },
  {
    name: "register-webhooks",
    type: "boolean",
    default: false,
    describe: "Apply the webhook configurations of the modules, and remove them with their modules",
  },
  {
    name: "webhook-host",
    type: "string",
    describe: "Host, or host:port, under which the API server reaches the webhooks of a process outside the cluster",
  },
  {
    name: "webhook-service",
    type: "string",
    describe: "Namespace and name of the Service of the webhooks, such as hello-system/hello",
  },
  {
    name: "leader-elect",
    type: "string",
    default: "false",
    bare: "process",
    choices: ["false", "true", "process", "module"],
    describe: "Let one of several replicas work: process elects one for all modules, module one for each; off is false",
  },
  {
    name: "shards",
    type: "string",
    describe:
      "Divide the keys among at most so many replicas, or with auto among all that there are; instead of --leader-elect",
  },
  {
    name: "leader-election-id",
    type: "string",
    describe:
      "Name of the Lease that the replicas share, or the beginning of their names; needed with --leader-elect and --shards",
  },
  {
    name: "leader-election-namespace",
    type: "string",
    describe: "Namespace of the Lease; the pod's, or that of the kubeconfig's context",
  },
  {
    name: "leader-election-lease-duration",
    type: "duration",
    default: "15s",
    describe: "How long others wait for a leader that does not renew the Lease",
  },
  {
    name: "leader-election-renew-deadline",
    type: "duration",
    default: "10s",
    describe: "How long a leader writes after the last renewal",
  },
  {
    name: "leader-election-retry-period",
    type: "duration",
    default: "2s",
    describe: "Pause between two renewals of the Lease, or two attempts to take it",
  },
  {
    name: "leader-election-release-on-cancel",
    type: "boolean",
    default: true,
    describe: "Release the Lease at the end, so that another replica takes over at once",
  },
] as const;

/** The settings by the names of their flags. Durations are in milliseconds. */
export type RunSettings = ValuesOf<typeof runOptions>;

/** The entry of a setting. */
export type RunOption<Name extends keyof RunSettings> = Extract<(typeof runOptions)[number], { readonly name: Name }>;

/** Settings, any of which may be left out. */
export type SomeSettings = { readonly [Name in keyof RunSettings]?: RunSettings[Name] | undefined };

/** Returns the entry of a setting, for other commands that have it too. */
export function runOption<Name extends keyof RunSettings>(name: Name): RunOption<Name> {
  return runOptions.find((option) => option.name === name) as RunOption<Name>;
}

const WITHOUT_COMMAND_LINE: SomeSettings = {
  "health-probe-bind-address": "0",
  "metrics-bind-address": "0",
  "webhook-bind-address": "0",
  "error-budget": false,
};

/**
 * Returns complete settings for a process that no command line configures. A setting that `values` leave out has the
 * default of its flag, but there are no listeners, and failing runs slow no controller.
 */
export function runSettings(values: SomeSettings = {}): RunSettings {
  const settings = { ...WITHOUT_COMMAND_LINE, ...values };
  return Object.fromEntries(
    runOptions.map((option) => [option.name, settings[option.name] ?? defaultOf(option)]),
  ) as unknown as RunSettings;
}

function defaultOf({ name, type, default: value }: Option): unknown {
  if (type === "duration" && value !== undefined) return parseDuration(value as Duration, name);
  return type === "bytes" && typeof value === "string" ? quantity(value) : value;
}
