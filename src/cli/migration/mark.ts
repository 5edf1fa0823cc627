/** Where an interrupted migration goes on: an annotation of the definition. */
import { type CustomDefinition, storageVersion } from "./custom-definition.ts";

export const MARK = "binnacle.dev/migration";

/** All objects in front of it have been rewritten. */
export interface Mark {
  /** The list's token: the server goes on at its object also after it has expired. */
  readonly continue: string;
  /** That are in front of it. */
  readonly objects: number;
}

export function textOfMark(mark: Mark, definition: CustomDefinition): string {
  return JSON.stringify({ ...mark, aim: aimOf(definition), generation: definition.metadata.generation });
}

/** What objects are rewritten for: the version that is stored, and versions that are not served and that nobody manages fields in. */
function aimOf(definition: CustomDefinition): string {
  const served = definition.spec.versions.filter((version) => version.served).map(({ name }) => name);
  return `${storageVersion(definition)} of ${served.sort().join(" ")}`;
}

/**
 * The mark of an earlier migration, unless objects may have been stored in another version since: when the storage version is
 * another one, or the definition has changed so often that it may have been for a while.
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
