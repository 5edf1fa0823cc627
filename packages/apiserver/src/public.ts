/**
 * A Kubernetes API server in a JavaScript process: what the package offers to those who install it.
 *
 * @module
 */
export type { Manifest, ManifestObject, Manifests } from "./environment/manifests.ts";
export type { LocalWebhooks, WebhookOptions } from "./environment/local-webhooks.ts";
export {
  type RunningApiServer,
  type ServerUser,
  startApiServer,
  type StartOptions,
} from "./environment/start-api-server.ts";
export type { KubeObject } from "./kube-object.ts";
export type { HistoryLimits } from "./storage/history-limits.ts";
