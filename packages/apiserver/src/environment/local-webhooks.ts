/** Webhooks of a program under test: the server sends what it would send to a Service to an address of this machine. */
import { createServer } from "node:net";
import { createAuthority, issue } from "../certificates/certificate.ts";
import type { Fields, KubeObject } from "../kube-object.ts";
import type { Manifests, NamedObject } from "./manifests.ts";

export interface WebhookOptions {
  /** The MutatingWebhookConfigurations and ValidatingWebhookConfigurations, which are applied after everything else. */
  readonly manifests?: Manifests | undefined;
  /** The address on which the program serves its webhooks. @default "127.0.0.1" */
  readonly host?: string | undefined;
  /** Its port. @default a free one */
  readonly port?: number | undefined;
}

/** Where the program under test has to serve its webhooks, and with which certificate. */
export interface LocalWebhooks {
  readonly host: string;
  readonly port: number;
  /** The certificate (PEM), which the server trusts. */
  readonly cert: string;
  /** The private key (PEM). */
  readonly key: string;
}

export interface WebhookAddress extends LocalWebhooks {
  readonly authority: string;
}

/** Takes an address and issues its certificate. @throws Error when the host is not of this machine. */
export async function webhookAddress({ host = "127.0.0.1", port }: WebhookOptions): Promise<WebhookAddress> {
  const authority = createAuthority("webhooks");
  const { cert, key } = issue(authority, { subject: { name: "webhooks" }, hosts: [host] });
  return { host, port: port ?? (await freePort(host)), cert, key, authority: authority.cert };
}

function freePort(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, host, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

interface ClientConfig {
  readonly service?: { readonly path?: string };
}

/** Returns an object whose webhooks, or whose conversion webhook, are asked at the address instead of their Service. */
export function ledTo(address: WebhookAddress, { object, name }: NamedObject): NamedObject {
  if (/^(Mutating|Validating)WebhookConfiguration$/.test(object.kind)) {
    const webhooks = ((object["webhooks"] ?? []) as readonly Fields[]).map((webhook) => ({
      ...webhook,
      clientConfig: redirected(webhook["clientConfig"] as ClientConfig, address),
    }));
    return { name, object: { ...object, webhooks } };
  }
  const spec = object["spec"] as Fields | undefined;
  const conversion = spec?.["conversion"] as { readonly strategy?: string; readonly webhook?: Fields } | undefined;
  if (object.kind !== "CustomResourceDefinition" || conversion?.strategy !== "Webhook") return { name, object };
  const clientConfig = redirected(conversion.webhook?.["clientConfig"] as ClientConfig | undefined, address);
  const webhook = { conversionReviewVersions: ["v1"], ...conversion.webhook, clientConfig };
  const changed: KubeObject = { ...object, spec: { ...spec, conversion: { ...conversion, webhook } } };
  return { name, object: changed };
}

function redirected(
  config: ClientConfig | undefined,
  { host, port, authority }: WebhookAddress,
): ClientConfig & Fields {
  if (config !== undefined && config.service === undefined) return config as ClientConfig & Fields;
  const path = config?.service?.path ?? (config === undefined ? "/convert" : "/");
  const name = host.includes(":") ? `[${host}]` : host;
  return {
    url: `https://${name}:${port}${path.startsWith("/") ? "" : "/"}${path}`,
    caBundle: Buffer.from(authority).toString("base64"),
  };
}
