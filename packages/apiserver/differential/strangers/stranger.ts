/**
 * Exchanges as somebody would make them who knows the API's documents and not this server: each is a random combination
 * of kinds, verbs, options, media types and states, the same in every run.
 */
import { Dice } from "../access/dice.ts";
import type { Case } from "../case.ts";
import type { Served } from "../discovery.ts";
import type { Call } from "../exchange.ts";
import type { Loose, Session } from "../session.ts";

export interface Stranger {
  /** The prefix of the names of its cases. */
  readonly name: string;
  /** The number of its cases. */
  readonly count: number;
  readonly run: (visit: Visit) => Promise<void>;
}

/** One case of a stranger. */
export class Visit {
  readonly session: Session;
  readonly dice: Dice;
  readonly served: readonly Served[];
  readonly index: number;
  #count = 0;

  constructor(session: Session, { seed, served, index }: { seed: number; served: readonly Served[]; index: number }) {
    this.session = session;
    this.dice = new Dice(seed);
    this.served = served;
    this.index = index;
  }

  /** The case's own namespace, and a unique part of the names of objects outside of it. */
  get namespace(): string {
    return this.session.slug;
  }

  /** Sends a request under a label of its own. */
  async send(label: string, method: string, path: string, call: Partial<Call> = {}): Promise<Loose> {
    return await this.session.send(`${this.#count++} ${label}`, method, path, call);
  }

  /** Sends what a later exchange needs; it is not compared. */
  async quietly(method: string, path: string, body?: unknown): Promise<Loose> {
    return await this.session.quietly(method, path, body);
  }

  async merge(path: string, body: unknown): Promise<Loose> {
    return await this.session.quietly("PATCH", path, body, { "content-type": "application/merge-patch+json" });
  }

  async createNamespace(name: string = this.namespace, labels: object = {}): Promise<string> {
    await this.quietly("POST", "/api/v1/namespaces", {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name, labels },
    });
    return `/api/v1/namespaces/${name}`;
  }

  /** Returns a query of some of the options, which begins with `?` unless it is empty. */
  query(options: readonly string[], most = 3): string {
    const chosen = Array.from({ length: Math.floor(this.dice.next() * (most + 1)) }, () => this.dice.one(options));
    return chosen.length === 0 ? "" : `?${chosen.join("&")}`;
  }
}

/** Which of the cases of strangers are played. */
export interface Visits {
  /** How many of each stranger's cases, 1 for all. */
  readonly share: number;
  /** Other numbers give other exchanges. */
  readonly seed: number;
}

/** Returns the cases of strangers. */
export function casesOf(strangers: readonly Stranger[], served: readonly Served[], { share, seed }: Visits): Case[] {
  return strangers.flatMap(({ name, count, run }, place) =>
    Array.from({ length: Math.ceil(count * share) }, (_, index) => ({
      name: `${name} ${index}`,
      run: async (session: Session) =>
        await run(new Visit(session, { seed: seed * 100_000 + 7000 + place * 500 + index, served, index })),
    })),
  );
}
