import type { Loose } from "../session.ts";

/** What a kind's generated exchanges are made of. */

export interface Sample {
  /** The smallest object that is valid, without apiVersion, kind and metadata. */
  readonly minimal: Readonly<Record<string, unknown>>;
  /** More of its fields, still valid. */
  readonly full?: Readonly<Record<string, unknown>>;
  /** Where the name is not free. */
  readonly name?: (slug: string) => string;
  /** Merge patches on the minimal object; some are refused because a field is immutable. */
  readonly changes?: readonly Readonly<Record<string, unknown>>[];
  /** A merge patch of the status. */
  readonly status?: Readonly<Record<string, unknown>>;
  /** Where a controller of the server itself writes the status a moment later: whether it has. */
  readonly settled?: (object: Loose) => boolean;
}

export type Samples = Readonly<Record<string, Sample>>;

export const podSpec = { containers: [{ name: "main", image: "example.test/main:1" }] };

export const labelled = { app: "a" };

export const podTemplate = { metadata: { labels: labelled }, spec: podSpec };

export const selector = { matchLabels: labelled };
