/** Adds the conversion webhook to CustomResourceDefinitions. */
import type { ApiextensionsWebhookClientConfig } from "./builtin/apiextensions.ts";
import type { Crd } from "./crd.ts";
import { definitionOf } from "./definition.ts";
import type { Resource } from "./handle.ts";

/**
 * The way in which the API server reaches a webhook: a `url`, or a `service` in the cluster, and the authority of its
 * certificate.
 */
export type WebhookClientConfig = ApiextensionsWebhookClientConfig;

/** The review versions that the endpoint reads; the API server uses the first one that it knows. */
const REVIEW_VERSIONS: readonly string[] = ["v1", "v1beta1"];

/**
 * Whether the API server must have the kind's objects converted.
 *
 * A version that is not served any more counts too, because objects may still be stored in it.
 */
export function needsConversion(resource: Resource): boolean {
  return (definitionOf(resource)?.versions.length ?? 0) > 1;
}

/**
 * Returns the definition of a kind with several versions, whose objects this webhook converts; the definition of a
 * kind with one version stays as it is.
 *
 * Without a webhook the API server changes only `apiVersion`, and fields that the other version does not have are
 * lost.
 */
export function withConversion(crd: Crd, clientConfig: WebhookClientConfig): Crd {
  if (crd.spec.versions.length < 2) return crd;
  const webhook = { clientConfig, conversionReviewVersions: REVIEW_VERSIONS };
  return { ...crd, spec: { ...crd.spec, conversion: { strategy: "Webhook", webhook } } };
}

/**
 * Returns an address that, when applied, replaces one of the other form: a definition with both is refused, and neither
 * `kubectl apply` nor server-side apply removes fields that it did not write.
 */
export function replacingOther(clientConfig: WebhookClientConfig): WebhookClientConfig {
  const other = clientConfig.url === undefined ? "url" : "service";
  return { ...clientConfig, [other]: null };
}

/** Explains why the definition of a kind must not be applied without the webhook, and names the remedy. */
export function conversionNeeded(resource: Resource): string {
  const names = definitionOf(resource)?.versions.map(({ name }) => name) ?? [];
  return (
    `${resource.kind} of ${resource.group} has the versions ${names.join(", ")}, and without the conversion webhook the API ` +
    "server drops the fields that another version does not have. Say how it reaches the webhook: --webhook-service " +
    "NAMESPACE/NAME in the cluster, or --webhook-host HOST outside it"
  );
}
