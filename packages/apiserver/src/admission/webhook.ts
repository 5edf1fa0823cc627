/**
 * Reads the configured webhooks. @see
 * https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
 */
import type { Fields, KubeObject, Reader } from "../hooks.ts";

export interface ClientConfig {
  readonly url?: string;
  readonly service?: {
    readonly namespace: string;
    readonly name: string;
    readonly path?: string;
    readonly port?: number;
  };
  readonly caBundle?: string;
}

export interface Rule {
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly operations?: readonly string[];
  readonly resources?: readonly string[];
  readonly scope?: string;
}

export interface Webhook {
  readonly name: string;
  readonly clientConfig: ClientConfig;
  readonly rules?: readonly Rule[];
  readonly failurePolicy?: string;
  readonly matchPolicy?: string;
  readonly namespaceSelector?: Fields;
  readonly objectSelector?: Fields;
  readonly sideEffects?: string;
  readonly timeoutSeconds?: number;
  readonly admissionReviewVersions?: readonly string[];
  readonly reinvocationPolicy?: string;
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[];
}

const group = "admissionregistration.k8s.io";

/** Returns all webhooks of a kind: configurations by name, and the webhooks of each in their order. */
export function webhooksOf(reader: Reader, plural: string): readonly Webhook[] {
  const configurations = reader.list({ group, plural });
  if (configurations.length === 0) return [];
  const byName = (one: KubeObject, other: KubeObject): number =>
    (one.metadata.name ?? "") < (other.metadata.name ?? "") ? -1 : 1;
  return [...configurations].toSorted(byName).flatMap((each) => (each["webhooks"] ?? []) as Webhook[]);
}
