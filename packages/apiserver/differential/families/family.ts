/**
 * A family of exchanges: all combinations of a few lists of possibilities, such as verbs, kinds, media types and
 * mistakes. A share of them is played, always the same ones.
 */
import type { Case } from "../case.ts";
import type { Call } from "../exchange.ts";
import { isChosen } from "../fields/sampling.ts";
import type { Loose, Session } from "../session.ts";
import type { Tier } from "../tiers.ts";

export interface Family {
  /** The prefix of the names of its cases. */
  readonly name: string;
  /** How much of the answers is compared. @default what the group and the resource of each request's path say */
  readonly tier?: Tier;
  readonly run: (probe: Probe) => Promise<void>;
}

/** Sends the chosen exchanges of a family. */
export class Probe {
  readonly session: Session;
  readonly #share: number;

  constructor(session: Session, share: number) {
    this.session = session;
    this.#share = share;
  }

  /** The family's own namespace. */
  get namespace(): string {
    return this.session.slug;
  }

  /** Whether the exchange is played. @param share the share when all are requested, where those would be too many */
  isChosen(label: string, share = 1): boolean {
    return isChosen(this.session.name, label, this.#share * share);
  }

  /** Sends the exchange if it is chosen. */
  async send(label: string, method: string, path: string, call: Partial<Call> = {}): Promise<Loose> {
    if (this.isChosen(label)) return await this.session.send(label, method, path, call);
    return undefined;
  }

  /** Sends what a later exchange needs; it is not compared. */
  async quietly(method: string, path: string, body?: unknown): Promise<Loose> {
    return await this.session.quietly(method, path, body);
  }

  /** Sends a merge patch that is not compared. */
  async merge(path: string, body: unknown): Promise<Loose> {
    return await this.session.quietly("PATCH", path, body, { "content-type": "application/merge-patch+json" });
  }

  async createNamespace(name: string = this.namespace, labels: object = {}): Promise<void> {
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } };
    await this.quietly("POST", "/api/v1/namespaces", namespace);
  }
}

export function familyCases(families: readonly Family[], share: number): Case[] {
  return families.map(({ name, tier, run }) => ({
    name,
    ...(tier && { tier }),
    run: (session) => run(new Probe(session, share)),
  }));
}

/** Returns every pair of items of two lists. */
export function pairs<One, Other>(ones: readonly One[], others: readonly Other[]): [One, Other][] {
  return ones.flatMap((one) => others.map((other): [One, Other] => [one, other]));
}
