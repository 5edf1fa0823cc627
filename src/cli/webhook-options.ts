/** The options that say how webhooks are served, and how the API server reaches them. */
import { hostname } from "node:os";
import type { WebhooksOptions } from "../manager/webhooks.ts";
import type { Option, ValuesOf } from "./option.ts";
import { readCertificate } from "../webhook/certificates/certificate-files.ts";
import { UsageError, UserError } from "./usage-error.ts";
import { type Reach, reachOf, webhookHostOption, webhookServiceOption } from "./webhook-address.ts";

const options = [
  {
    name: "webhook-bind-address",
    type: "string",
    default: ":9443",
    describe: "Address of webhooks (TLS), taken once a module has some; 0 for none",
  },
  {
    name: "webhook-cert-path",
    type: "string",
    describe: "Folder with tls.crt and tls.key for webhooks, followed as they are replaced; else they are made",
  },
  {
    name: "register-webhooks",
    type: "boolean",
    default: false,
    describe: "Apply the webhook configurations of the modules, and remove them with their modules",
  },
] as const;

/** Of `run` and `dev`. */
export const webhookOptions: readonly Option[] = [...options, webhookHostOption, webhookServiceOption];

export interface WebhookValues extends ValuesOf<typeof options> {
  readonly "webhook-host": string | undefined;
  readonly "webhook-service": string | undefined;
}
/** Beside what the command line says. */
export interface WebhookSurroundings {
  /** The API server is in this process. */
  readonly isEmbedded: boolean;
  readonly development: boolean;
  /** The address is nobody's choice: where the cluster reaches this machine elsewhere, it listens there. */
  readonly mayListenElsewhere: boolean;
  /** Of the Leases of an election. */
  readonly electionNamespace: string | undefined;
  /** An address of this machine that the cluster reaches. */
  readonly findHost: () => Promise<string | undefined>;
}

/** Milliseconds that a Service may take to send no more requests to a pod that ends. */
const DRAIN = 2_000;

/**
 * How webhooks are served and registered; `undefined` for not at all.
 *
 * @throws UsageError naming the options that do not fit each other, UserError when the files of a certificate cannot be used.
 */
export async function webhooksOf(
  values: WebhookValues,
  surroundings: WebhookSurroundings,
): Promise<WebhooksOptions | undefined> {
  const { "webhook-bind-address": address, "webhook-cert-path": folder, "register-webhooks": registers } = values;
  const given = reachOf(values);
  const { isEmbedded, development, electionNamespace, findHost } = surroundings;
  if (address === "0") {
    if (registers && !development)
      throw new UsageError("--register-webhooks is given with --webhook-bind-address=0: leave one out");
    return undefined;
  }
  const found = given ?? (await reachWithout(isEmbedded, development && registers ? findHost : undefined));
  if (registers && found === undefined && !development) {
    throw new UsageError(
      "--register-webhooks is given without a way to the webhooks: add --webhook-service namespace/name of a Service in the cluster, " +
        "or --webhook-host of this machine",
    );
  }
  if (folder !== undefined) checkFiles(folder);
  const certificates = folder === undefined ? selfManaged(found) : ({ kind: "files", folder } as const);
  const ownNamespaces = [
    ...(found !== undefined && "service" in found ? [found.service.namespace] : []),
    ...(electionNamespace === undefined ? [] : [electionNamespace]),
  ];
  const injects = found !== undefined && "service" in found && certificates.kind === "secret";
  return {
    address: surroundings.mayListenElsewhere ? listenAt(address, { found, given }) : address,
    certificates,
    drain: found !== undefined && "service" in found ? DRAIN : 0,
    registration: found && {
      reach: found,
      mode: registers ? "apply" : injects ? "inject" : "none",
      failurePolicy: development && !isEmbedded ? "Ignore" : undefined,
      ownNamespaces: [...new Set(ownNamespaces)],
      learning: isEmbedded ? 0 : undefined,
    },
  };
}

/** Whoever starts the process again and again, as kubelet does, waits for them. */
function checkFiles(folder: string): void {
  try {
    readCertificate(folder);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UserError(`${why} (--webhook-cert-path)`, { cause: error });
  }
}

/** The Secret of a Service's self-managed certificate. */
export function secretOf({ namespace, name }: { readonly namespace: string; readonly name: string }): {
  readonly namespace: string;
  readonly name: string;
} {
  return { namespace, name: `${name}-webhook-tls` };
}

async function reachWithout(
  isEmbedded: boolean,
  findHost: (() => Promise<string | undefined>) | undefined,
): Promise<Reach | undefined> {
  if (isEmbedded) return { host: "127.0.0.1" };
  const found = await findHost?.();
  return found === undefined ? undefined : { host: found };
}

/** On an address of this machine where it was found, on all where a host was named that may stand for any of them. */
function listenAt(address: string, { found, given }: Readonly<Record<"found" | "given", Reach | undefined>>): string {
  if (found === undefined || "service" in found || /^(?:localhost$|127\.)/.test(found.host)) return address;
  const port = found.port ?? Number(address.split(":").at(-1));
  if (given !== undefined) return `:${port}`;
  return /^[\d.]+$/.test(found.host) ? `${found.host}:${port}` : address;
}

function selfManaged(
  reach: Reach | undefined,
): Extract<WebhooksOptions["certificates"], { kind: "secret" | "memory" }> {
  if (reach === undefined) return { kind: "memory", hosts: ["localhost", "127.0.0.1", hostname()] };
  if ("host" in reach) return { kind: "memory", hosts: [reach.host.replaceAll(/[[\]]/g, "")] };
  const { namespace, name } = reach.service;
  const short = `${name}.${namespace}.svc`;
  return { kind: "secret", secret: secretOf(reach.service), hosts: [short, `${short}.cluster.local`] };
}
