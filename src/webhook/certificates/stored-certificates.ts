/** The stored parts of a self-managed certificate, and the next step that they need. */
import type { X509Certificate } from "node:crypto";
import { validityOf } from "../../kube/config/certificate-validity.ts";
import { addressBytes } from "../../kube/config/ip-address.ts";
import { belongTogether } from "../../kube/config/key-pair.ts";

/** All parts are PEM. */
export interface StoredCertificates {
  /** The authorities that the API server trusts, the newest first. */
  readonly authorities: readonly string[];
  /** The key of the newest authority. */
  readonly authorityKey: string;
  readonly cert: string;
  readonly key: string;
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Milliseconds by which a certificate's validity begins before its issue, because clocks of machines differ. */
export const BACKDATED: number = HOUR;
export const AUTHORITY_LIFETIME: number = 730 * DAY;
export const SERVER_LIFETIME: number = 90 * DAY;
/** The remaining part of a lifetime at which a certificate is replaced. */
const REPLACED_AT = 1 / 3;
/** How long an authority is in force before a server uses it, because API servers must learn of it first. */
const SPREAD = 10_000;
/**
 * Milliseconds for which an authority is trusted after its last certificate was replaced, because replicas must load
 * the new one.
 */
const OVERLAP = HOUR;
/** The interval between checks whether an authority is in force. */
const ASK_AGAIN = 1_000;
/** With less time than this left, the certificate is replaced even if its authority is not known to be in force. */
const URGENT = DAY;

/** The next action with its reason, or the milliseconds until there is one. */
export type NextStep =
  | { readonly kind: "wait"; readonly ms: number }
  | { readonly kind: "authority" | "server" | "forget"; readonly why: string };

export interface Situation {
  readonly now: number;
  /** The names that the certificate must have. */
  readonly hosts: readonly string[];
  /** Whether every registration has the newest authority. */
  readonly inForce: boolean;
}

/**
 * Decides the next step.
 *
 * An authority is replaced in three steps, so that no server ever uses a certificate that an API server does not trust:
 * `authority` adds a new one beside the old one, `server` issues a certificate of the new one once it is in force
 * everywhere, and `forget` drops the old one when no replica uses its certificates any more.
 */
export function nextStep(stored: StoredCertificates | undefined, { now, hosts, inForce }: Situation): NextStep {
  if (stored === undefined) return { kind: "authority", why: "there is none" };
  const [newest, ...others] = stored.authorities;
  const authority = newest === undefined ? undefined : validity(newest);
  if (newest === undefined || authority === undefined || !belongTogether(newest, stored.authorityKey)) {
    return { kind: "authority", why: "the stored one is invalid" };
  }
  const authorityDue = dueAt(authority);
  if (now >= authorityDue) return { kind: "authority", why: `it expires on ${dayOf(authority.until)}` };

  const server = usable(stored, now);
  if (server === undefined) return { kind: "server", why: "the stored one is invalid" };
  const serverDue = dueAt(server);
  const missing = missingHosts(stored.cert, hosts);
  const isOfNewest = isIssuedBy(stored.cert, newest);
  if (!isOfNewest) {
    const known = madeAt(authority) + SPREAD;
    if (now < known) return { kind: "wait", ms: known - now };
    if (!inForce && server.until - now > URGENT) return { kind: "wait", ms: ASK_AGAIN };
    return { kind: "server", why: "its authority was replaced" };
  }
  if (missing.length > 0) return { kind: "server", why: `it does not name ${missing.join(", ")}` };
  if (now >= serverDue) return { kind: "server", why: `it expires on ${dayOf(server.until)}` };

  const next = Math.min(authorityDue, serverDue) - now;
  if (others.length === 0) return { kind: "wait", ms: next };
  const forgotten = madeAt(server) + OVERLAP;
  if (now >= forgotten) return { kind: "forget", why: "no replica uses a certificate of it any more" };
  return { kind: "wait", ms: Math.min(next, forgotten - now) };
}

/** Whether a server can use the certificate, and is trusted with it. */
export function isUsable(stored: StoredCertificates, now: number): boolean {
  return usable(stored, now) !== undefined;
}

/** Returns when a certificate expires, in milliseconds since the epoch. */
export function expiryOf(pem: string): number | undefined {
  return validity(pem)?.until;
}

/** Returns the DNS names and addresses of a certificate. */
export function hostsOf(cert: string): readonly string[] {
  const names = parsed(cert)?.subjectAltName?.split(", ") ?? [];
  return names.flatMap((name) => {
    const host = /^(?:DNS|IP Address):(.+)$/.exec(name)?.[1];
    return host === undefined ? [] : [host];
  });
}

/** Returns the certificates of a PEM text one by one. */
export function certificatesOf(pem: string): readonly string[] {
  return (pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).map((one) => `${one}\n`);
}

interface Validity {
  readonly from: number;
  readonly until: number;
}

function usable(stored: StoredCertificates, now: number): Validity | undefined {
  const period = validity(stored.cert);
  if (period === undefined || period.until <= now || !belongTogether(stored.cert, stored.key)) return undefined;
  return stored.authorities.some((authority) => isIssuedBy(stored.cert, authority)) ? period : undefined;
}

function validity(cert: string): Validity | undefined {
  try {
    return validityOf(cert);
  } catch {
    return undefined;
  }
}

function madeAt({ from }: Validity): number {
  return from + BACKDATED;
}

function dueAt({ from, until }: Validity): number {
  return until - (until - from) * REPLACED_AT;
}

function isIssuedBy(cert: string, authority: string): boolean {
  const [child, parent] = [parsed(cert), parsed(authority)];
  if (child === undefined || parent === undefined) return false;
  return child.checkIssued(parent) && child.verify(parent.publicKey);
}

/** Returns the hosts that a certificate does not name. */
export function missingHosts(cert: string, hosts: readonly string[]): readonly string[] {
  const certificate = parsed(cert);
  return hosts.filter((host) => {
    if (certificate === undefined) return true;
    const isAddress = addressBytes(host) !== undefined;
    return (isAddress ? certificate.checkIP(host) : certificate.checkHost(host)) === undefined;
  });
}

/** `node:crypto` takes 2 MiB, and only processes that issue their own certificates need it. */
function parsed(cert: string): X509Certificate | undefined {
  const crypto = process.getBuiltinModule("node:crypto");
  try {
    return new crypto.X509Certificate(cert);
  } catch {
    return undefined;
  }
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
