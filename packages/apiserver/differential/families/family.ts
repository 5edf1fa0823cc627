/**
 * A family: a table of requests, such as all pairs of kinds and mistakes, of which a share is played, always the same
 * ones.
 */
import type { Case } from "../case.ts";
import type { Selection } from "../sampling.ts";
import { type Loose, Share } from "../session.ts";
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
export class Probe extends Share {
  /** The family's own namespace. */
  get namespace(): string {
    return this.session.slug;
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
