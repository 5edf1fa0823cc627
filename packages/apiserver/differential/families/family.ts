/**
 * A family: a table of requests, such as all pairs of kinds and mistakes, of which a share is played, always the same
 * ones.
 */
import type { Call, Case } from "../case.ts";
import { isChosen, type Selection } from "../sampling.ts";
import { type Loose, Requests, type Session } from "../session.ts";
import type { Tier } from "../tiers.ts";

export interface Family {
  /** The name of its case. */
  readonly name: string;
  /** How much of the answers is compared. @default what the group and the resource of each request's path say */
  readonly tier?: Tier;
  /** Whether the case is played by itself, as `Case.isAlone` says. @default false */
  readonly isAlone?: boolean;
  /** The share of its requests that is played. @default 1 */
  readonly share?: number;
  readonly run: (probe: Probe) => Promise<void>;
}

/** Sends the chosen requests of a family. */
export class Probe extends Requests {
  readonly session: Session;
  readonly #share: number;

  constructor(session: Session, share: number) {
    super();
    this.session = session;
    this.#share = share;
  }

  /** The family's own namespace. */
  get namespace(): string {
    return this.session.slug;
  }

  isChosen(label: string): boolean {
    return isChosen(this.session.name, label, this.#share);
  }

  /** Sends the request if it is chosen. */
  override async send(label: string, method: string, path: string, call: Partial<Call> = {}): Promise<Loose> {
    if (this.isChosen(label)) return await this.session.send(label, method, path, call);
    return undefined;
  }

  /** Sends what a later request needs; it is not compared. */
  async quietly(method: string, path: string, body?: unknown): Promise<Loose> {
    return await this.session.quietly(method, path, body);
  }

  /** Sends a merge patch that is not compared. */
  async merge(path: string, body: unknown): Promise<Loose> {
    return await this.session.merge(path, body);
  }

  async createNamespace(name?: string, labels?: object): Promise<string> {
    return await this.session.createNamespace(name, labels);
  }
}

export function familyCases(families: readonly Family[], { more = 1 }: Selection): Case[] {
  return families.map(({ name, tier, isAlone = false, share = 1, run }) => ({
    name,
    ...(tier && { tier }),
    isAlone,
    run: (session) => run(new Probe(session, share * more)),
  }));
}
