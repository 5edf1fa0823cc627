/** How the API server reaches the webhooks, as the command line says it. */
import type { WebhookClientConfig } from "../resource/crd-conversion.ts";
import { UsageError } from "./usage-error.ts";

interface AddressOption<Name extends string> {
  readonly name: Name;
  readonly type: "string";
  readonly describe: string;
}

export const webhookHostOption: AddressOption<"webhook-host"> = {
  name: "webhook-host",
  type: "string",
  describe: "Host, or host:port, under which the API server reaches the webhooks of a process outside the cluster",
};

export const webhookServiceOption: AddressOption<"webhook-service"> = {
  name: "webhook-service",
  type: "string",
  describe: "Namespace and name of the Service of the webhooks, such as binnacle-system/binnacle",
};

/** The port of webhooks unless it is said, as `--webhook-bind-address` has it. */
const DEFAULT_PORT = 9443;

/**
 * Where one of the webhooks is; `undefined` when nothing is said.
 *
 * @throws UsageError when both are given, or one of them cannot be read.
 */
export function webhookAddress(
  values: { readonly "webhook-host"?: string | undefined; readonly "webhook-service"?: string | undefined },
  path: string,
): WebhookClientConfig | undefined {
  const { "webhook-host": host, "webhook-service": service } = values;
  if (host !== undefined && service !== undefined) {
    throw new UsageError(
      "--webhook-host is for a process outside the cluster and --webhook-service for one inside: leave one out",
    );
  }
  if (service !== undefined) return { service: { ...serviceOf(service), path } };
  return host === undefined ? undefined : { url: `https://${hostOf(host)}${path}` };
}

function serviceOf(text: string): { namespace: string; name: string; port: number } {
  const match = /^([a-z0-9](?:[-a-z0-9]*[a-z0-9])?)\/([a-z0-9](?:[-a-z0-9]*[a-z0-9])?)(?::(\d{1,5}))?$/.exec(text);
  if (match === null)
    throw new UsageError(`--webhook-service is '${text}': expected namespace/name, or namespace/name:port`);
  return { namespace: match[1]!, name: match[2]!, port: Number(match[3] ?? 443) };
}

function hostOf(text: string): string {
  const match = /^(\[[0-9a-fA-F:.]+\]|[^:[\]\s/@?#]+)(?::(\d{1,5}))?$/.exec(text);
  if (match === null) throw new UsageError(`--webhook-host is '${text}': expected a host, or host:port`);
  return `${match[1]}:${match[2] ?? DEFAULT_PORT}`;
}
