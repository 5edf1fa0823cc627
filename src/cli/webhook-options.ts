/** Determines from the settings how webhooks are served, and how the API server reaches them. */
import { hostname } from "node:os";
import { plainHost } from "../kube/config/host-name.ts";
import type { WebhooksOptions } from "../manager/webhooks.ts";
import type { RunSettings } from "../settings/run-options.ts";
import type { OwnLeases } from "../webhook/registration/configurations.ts";
import { readCertificate } from "../webhook/certificates/certificate-files.ts";
import { messageOf } from "../platform/error-message.ts";
import { UsageError, UserError } from "./usage-error.ts";
import { type Reach, reachOf } from "./webhook-address.ts";

/** The surroundings of the process that are not on the command line. */
export interface WebhookSurroundings {
  /** Whether the API server is in this process. */
  readonly isEmbedded: boolean;
  readonly development: boolean;
  /**
   * Whether the address is only a default: if the cluster reaches this machine at another address, the listener goes
   * there.
   */
  readonly mayListenElsewhere: boolean;
  /** The election or the division of keys that the process takes part in. */
  readonly election: OwnLeases | undefined;
  /** Finds an address at which the cluster reaches this machine. */
  readonly findHost: () => Promise<string | undefined>;
}

/** Milliseconds that a Service may take until it sends no more requests to a pod that is ending. */
const DRAIN = 2_000;

/**
 * Returns how webhooks are served and registered; `undefined` when they are not.
 *
 * @throws UsageError naming options that conflict, UserError when the files of a certificate cannot be used.
 */
export async function webhooksOf(
  values: RunSettings,
  surroundings: WebhookSurroundings,
): Promise<WebhooksOptions | undefined> {
  const { "webhook-bind-address": address, "webhook-cert-path": folder, "register-webhooks": registers } = values;
  const explicit = reachOf(values);
  const { isEmbedded, development, election, findHost } = surroundings;
  if (address === "0") {
    if (registers && !development)
      throw new UsageError("--register-webhooks is given with --webhook-bind-address=0: leave one out");
    return undefined;
  }
  const reach = explicit ?? (await reachWithout(isEmbedded, development && registers ? findHost : undefined));
  if (registers && reach === undefined && !development) {
    throw new UsageError(
      "--register-webhooks is given without a way to the webhooks: add --webhook-service namespace/name of a Service in the cluster, " +
        "or --webhook-host of this machine",
    );
  }
  if (folder !== undefined) checkFiles(folder);
  const certificates = folder === undefined ? selfManaged(reach) : ({ kind: "files", folder } as const);
  const lends = reach !== undefined && "host" in reach && values["install-crds"];
  const injects = reach !== undefined && "service" in reach && certificates.kind === "secret";
  return {
    address: surroundings.mayListenElsewhere ? listenAt(address, reach, explicit) : address,
    certificates,
    drain: reach !== undefined && "service" in reach ? DRAIN : 0,
    registration: reach && {
      reach: development ? reach : sharedReach(reach, election),
      mode: registers ? "apply" : injects ? "inject" : lends ? "definitions" : "none",
      failurePolicy: development && !isEmbedded ? "Ignore" : undefined,
      ownNamespaces: "service" in reach ? [reach.service.namespace] : [],
      ownLeases: election && { namespace: election.namespace, id: election.id },
      learning: isEmbedded ? 0 : undefined,
    },
  };
}

/** Replicas outside the cluster share one registration, which points to the leader. */
function sharedReach(reach: Reach, election: OwnLeases | undefined): Reach {
  if ("service" in reach || election === undefined) return reach;
  return { ...reach, shared: `binnacle-host.${election.id}.${election.namespace}` };
}

/** Missing files end the process, because whatever restarts it, such as the kubelet, waits for them. */
function checkFiles(folder: string): void {
  try {
    readCertificate(folder);
  } catch (error) {
    const why = messageOf(error);
    throw new UserError(`${why} (--webhook-cert-path)`, { cause: error });
  }
}

/** Returns the Secret of a Service's self-managed certificate. */
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
  const host = await findHost?.();
  return host === undefined ? undefined : { host };
}

/**
 * Returns the address to listen at: the detected address of this machine; all addresses when a host was named, because
 * that may be any of them.
 */
function listenAt(address: string, reach: Reach | undefined, explicit: Reach | undefined): string {
  if (reach === undefined || "service" in reach || /^(?:localhost$|127\.)/.test(reach.host)) return address;
  const port = reach.port ?? Number(address.split(":").at(-1));
  if (explicit !== undefined) return `:${port}`;
  return /^[\d.]+$/.test(reach.host) ? `${reach.host}:${port}` : address;
}

/** The name of this machine, unless a certificate cannot contain it. */
function ownName(): readonly string[] {
  const name = plainHost(hostname());
  return name === undefined ? [] : [name];
}

function selfManaged(
  reach: Reach | undefined,
): Extract<WebhooksOptions["certificates"], { kind: "secret" | "memory" }> {
  if (reach === undefined) return { kind: "memory", hosts: ["localhost", "127.0.0.1", ...ownName()] };
  if ("host" in reach) return { kind: "memory", hosts: [reach.host.replaceAll(/[[\]]/g, "")] };
  const { namespace, name } = reach.service;
  const short = `${name}.${namespace}.svc`;
  return { kind: "secret", secret: secretOf(reach.service), hosts: [short, `${short}.cluster.local`] };
}
