/** Determines from the command line how the API server reaches the webhooks. */
import { plainHost } from "../kube/config/host-name.ts";
import type { RegistrationChoice } from "../manager/webhook-registrar.ts";
import type { WebhookClientConfig } from "../resource/crd-conversion.ts";
import { runOption } from "../settings/run-options.ts";
import { clientConfigOf, type WebhookTarget } from "../webhook/registration/configurations.ts";
import { UsageError } from "./usage-error.ts";

const DEFAULT_PORT = Number(runOption("webhook-bind-address").default.split(":").at(-1));

export type Reach = RegistrationChoice["reach"];

type AddressValues = { readonly [K in "webhook-host" | "webhook-service"]?: string | undefined };

/**
 * Returns the address of a webhook; `undefined` when no option has one.
 *
 * @throws UsageError when both options are set, or one of them is invalid.
 */
export function webhookAddress(values: AddressValues, path: string): WebhookClientConfig | undefined {
  const reach = reachOf(values);
  return reach && clientConfigOf(path, { target: targetOf(reach) });
}

/** Returns the registration of a listener at its usual port. */
export function targetOf(reach: Reach): WebhookTarget {
  return "service" in reach ? reach : { url: `https://${reach.host}:${reach.port ?? DEFAULT_PORT}` };
}

/** Parses the options. @throws UsageError when both are set, or one of them is invalid. */
export function reachOf({ "webhook-host": host, "webhook-service": service }: AddressValues): Reach | undefined {
  if (host !== undefined && service !== undefined) {
    throw new UsageError(
      "--webhook-host is for a process outside the cluster and --webhook-service for one inside: leave one out",
    );
  }
  if (service !== undefined) return serviceOf(service);
  return host === undefined ? undefined : hostOf(host);
}

function serviceOf(text: string): Reach {
  const match = /^([a-z0-9](?:[-a-z0-9]*[a-z0-9])?)\/([a-z0-9](?:[-a-z0-9]*[a-z0-9])?)(?::(\d{1,5}))?$/.exec(text);
  if (match === null) {
    throw new UsageError(`--webhook-service is '${text}': expected namespace/name, or namespace/name:port`);
  }
  return { service: { namespace: match[1]!, name: match[2]!, port: Number(match[3] ?? 443) } };
}

function hostOf(text: string): Reach {
  const match = /^(\[[0-9a-fA-F:.]+\]|[^:[\]\s/@?#]+)(?::(\d{1,5}))?$/.exec(text);
  const host = match === null ? undefined : plainHost(match[1]!);
  if (host === undefined) throw new UsageError(`--webhook-host is '${text}': expected a host, or host:port`);
  const port = match?.[2] === undefined ? undefined : Number(match[2]);
  return { host: host.includes(":") ? `[${host}]` : host, port };
}
