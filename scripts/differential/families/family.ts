/**
 * A family of exchanges: everything that a few lists of possibilities combine to, such as verbs, kinds, media types and
 * mistakes. A share of them is made, always the same ones.
 */
import type { Case } from "../case.ts";
import type { Call } from "../exchange.ts";
import { isChosen } from "../fields/sampling.ts";
import type { Loose, Session } from "../session.ts";

export interface Family {
  /** Begins the names of its cases. */
  readonly name: string;
  readonly run: (probe: Probe) => Promise<void>;
}

/** Makes the chosen exchanges of a family. */
export class Probe {
  readonly session: Session;
  readonly #share: number;

  constructor(session: Session, share: number) {
    this.session = session;
    this.#share = share;
  }

  /** The namespace of the family's own. */
  get namespace(): string {
    return this.session.slug;
  }

  /** @param share what is chosen of them when all are asked for, where those would be too many */
  isChosen(label: string, share = 1): boolean {
    return isChosen(this.session.name, label, this.#share * share);
  }

  /** Sends when the exchange is among the chosen ones. */
  async send(label: string, method: string, path: string, call: Partial<Call> = {}): Promise<Loose> {
    if (this.isChosen(label)) return await this.session.send(label, method, path, call);
    return undefined;
  }

  /** Sends what a later exchange needs; it is not compared. */
  async quietly(method: string, path: string, body?: unknown): Promise<Loose> {
    return await this.session.quietly(method, path, body);
  }

  /** A merge patch that is not compared. */
  async merge(path: string, body: unknown): Promise<Loose> {
    return await this.session.quietly("PATCH", path, body, { "content-type": "application/merge-patch+json" });
  }

  async createNamespace(name: string = this.namespace, labels: object = {}): Promise<void> {
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } };
    await this.quietly("POST", "/api/v1/namespaces", namespace);
  }
}

export function familyCases(families: readonly Family[], share: number): Case[] {
  return families.map(({ name, run }) => ({ name, run: (session) => run(new Probe(session, share)) }));
}

/** Every pair of what two lists have. */
export function pairs<One, Other>(ones: readonly One[], others: readonly Other[]): [One, Other][] {
  return ones.flatMap((one) => others.map((other): [One, Other] => [one, other]));
}
