/** Remembers in an annotation of the definition where an interrupted migration continues. */
import { type CustomDefinition, storageVersion } from "./custom-definition.ts";

export const MARK = "binnacle.dev/migration";

/** The place of an interrupted migration; all objects before it have been rewritten. */
export interface Mark {
  /** The list's continue token; even after it expires, the server continues at its object. */
  readonly continue: string;
  /** The number of objects before it. */
  readonly objects: number;
}

export function textOfMark(mark: Mark, definition: CustomDefinition): string {
  return JSON.stringify({ ...mark, aim: aimOf(definition), generation: definition.metadata.generation });
}

/** Returns the aim of a migration: the storage version, and the unserved versions in which nobody may manage fields any more. */
function aimOf(definition: CustomDefinition): string {
  const served = definition.spec.versions.filter((version) => version.served).map(({ name }) => name);
  return `${storageVersion(definition)} of ${served.sort().join(" ")}`;
}

/**
 * Returns the mark of an earlier migration, unless objects may have been stored in another version since: that is so
 * when the storage version differs, or when the definition changed often enough to have differed for a while.
 */
export function markOf(definition: CustomDefinition): Mark | undefined {
  const { metadata } = definition;
  const text = metadata.annotations?.[MARK];
  if (text === undefined) return undefined;
  let mark: Partial<Mark & { readonly aim: string; readonly generation: number }>;
  try {
    mark = (JSON.parse(text) ?? {}) as typeof mark;
  } catch {
    return undefined;
  }
  const { objects, continue: token, generation } = mark;
  if (mark.aim !== aimOf(definition) || typeof token !== "string" || typeof objects !== "number") return undefined;
  if (typeof generation !== "number" || metadata.generation - generation > 1) return undefined;
  return { continue: token, objects };
}
