/** The options for running controllers: those of `run`, and with other defaults those of `dev`. */
import type { LogLevel } from "../observe/log.ts";
import { type ElectionValues, electionOptions } from "./election-options.ts";
import { memoryOption } from "./memory-option.ts";
import { metricsOptions, type MetricsValues } from "./metrics-options.ts";
import type { Option, ValuesOf } from "./option.ts";
import { type WebhookValues, webhookOptions } from "./webhook-options.ts";
import {
  contextOption,
  controllersOption,
  kubeconfigOption,
  moduleConfigOption,
  namespaceOption,
} from "./shared-options.ts";

const options = [
  controllersOption,
  moduleConfigOption,
  kubeconfigOption,
  contextOption,
  namespaceOption,
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
    describe: "Parallel runs of controllers that do not declare their own number; 4 when left out",
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
  memoryOption,
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
] as const;

export const runOptions: readonly Option[] = [...options, ...metricsOptions, ...webhookOptions, ...electionOptions];

export interface RunValues extends ElectionValues, MetricsValues, WebhookValues {
  readonly controllers: readonly string[];
  readonly "module-config": readonly string[] | undefined;
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  readonly namespace: readonly string[] | undefined;
  readonly "health-probe-bind-address": string;
  readonly "install-crds": boolean;
  readonly "log-level": LogLevel;
  readonly "log-format": "json" | "pretty" | undefined;
  readonly watch: boolean;
  /** In milliseconds. */
  readonly "grace-period": number;
  /** In milliseconds. */
  readonly "shutdown-delay-duration": number;
  readonly concurrency: number | undefined;
  readonly "kube-api-qps": number | undefined;
  readonly "kube-api-burst": number | undefined;
  readonly "memory-limit": string | undefined;
  /** Milliseconds. */
  readonly "stall-warning": number;
  /** Milliseconds. */
  readonly "stall-timeout": number;
  readonly "error-budget": boolean;
  readonly strict: boolean;
  readonly "force-removal": boolean;
}

/** Returns the values of a command with {@link runOptions}. */
export function runValues(given: object): RunValues {
  return given as ValuesOf<typeof options> & ElectionValues & MetricsValues & WebhookValues;
}
