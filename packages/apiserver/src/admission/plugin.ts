/**
 * The interface of the server's own admission plugins. @see
 * https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/
 */
import type { AdmissionAttributes } from "../hooks.ts";
import { forbidden, type StatusError } from "../status.ts";
import type { PluginName } from "./plugin-names.ts";

export interface Plugin {
  /** The name by which it can be disabled and enabled. */
  readonly name: PluginName;
  /** The built-in resources that it handles, each as `group/plural`; or all resources, including those of custom kinds. */
  readonly resources: readonly string[] | "all";
  /** Changes the object in place. @throws StatusError when it rejects the object */
  mutate?(attributes: AdmissionAttributes): void;
  /** Validates the object. @throws StatusError when it rejects the object */
  validate?(attributes: AdmissionAttributes): void;
}

/** Makes the 403 of a plugin. */
export function refusal({ context, object }: AdmissionAttributes, why: string): StatusError {
  const { metadata } = object ?? {};
  const name = context.name || metadata?.name || metadata?.generateName || "Unknown";
  return forbidden(context.row, name, { why });
}

/** Joins several reasons into one text, each once. */
export function aggregated(reasons: readonly string[]): string {
  const once = [...new Set(reasons)];
  return once.length === 1 ? (once[0] ?? "") : `[${once.join(", ")}]`;
}
