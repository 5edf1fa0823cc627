/** Options of `run` that other commands have too. */
import { type RunOption, runOption } from "../settings/run-options.ts";

export const controllersOption: RunOption<"controllers"> = runOption("controllers");
export const moduleConfigOption: RunOption<"module-config"> = runOption("module-config");
export const kubeconfigOption: RunOption<"kubeconfig"> = runOption("kubeconfig");
export const contextOption: RunOption<"context"> = runOption("context");
export const namespaceOption: RunOption<"namespace"> = runOption("namespace");
export const webhookHostOption: RunOption<"webhook-host"> = runOption("webhook-host");
export const webhookServiceOption: RunOption<"webhook-service"> = runOption("webhook-service");
