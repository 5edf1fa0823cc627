import type { Loose } from "../session.ts";

/** Valid objects of a kind, and changes of them, from which its cases are generated. */
export interface Sample {
  /** The smallest valid object, without apiVersion, kind and metadata. */
  readonly minimal: Readonly<Record<string, unknown>>;
  /** More of its fields, still valid. */
  readonly full?: Readonly<Record<string, unknown>>;
  /** Makes the name, for kinds whose objects may not have any name. */
  readonly name?: (slug: string) => string;
  /** Merge patches of the minimal object; some are rejected because a field is immutable. */
  readonly changes?: readonly Readonly<Record<string, unknown>>[];
  /** A merge patch of the status. */
  readonly status?: Readonly<Record<string, unknown>>;
  /** Whether the controller of kube-apiserver that writes the status has done so. */
  readonly settled?: (object: Loose) => boolean;
}

export type Samples = Readonly<Record<string, Sample>>;

export const podSpec = { containers: [{ name: "main", image: "example.test/main:1" }] };

export const labelled = { app: "a" };

export const podTemplate = { metadata: { labels: labelled }, spec: podSpec };

export const selector = { matchLabels: labelled };
