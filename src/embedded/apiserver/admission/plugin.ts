/** What one of the server's own admission plugins is. @see https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/ */
import type { AdmissionAttributes } from "../hooks.ts";
import { forbidden, type StatusError } from "../status.ts";

export interface Plugin {
  /** The resources it looks at, each `group/plural`. */
  readonly resources: readonly string[];
  /** Changes the object in place. @throws StatusError when it refuses */
  mutate?(attributes: AdmissionAttributes): void;
  /** @throws StatusError when it refuses */
  validate?(attributes: AdmissionAttributes): void;
}

/** The 403 of a plugin. */
export function refusal({ context, object }: AdmissionAttributes, why: string): StatusError {
  const { metadata } = object ?? {};
  const name = context.name || metadata?.name || metadata?.generateName || "Unknown";
  return forbidden(context.row, name, { why });
}

/** Several reasons as one text, each once. */
export function aggregated(reasons: readonly string[]): string {
  const once = [...new Set(reasons)];
  return once.length === 1 ? (once[0] ?? "") : `[${once.join(", ")}]`;
}
