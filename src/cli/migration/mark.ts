/** Where an interrupted migration goes on: an annotation of the definition. */
import type { CustomDefinition } from "./custom-definition.ts";

export const MARK = "binnacle.dev/migration";

/** All objects in front of it are stored in the version. */
export interface Mark {
  readonly storage: string;
  /** The list's token: the server goes on at its object also after it has expired. */
  readonly continue: string;
  /** That are in front of it. */
  readonly objects: number;
}

export function textOfMark(mark: Mark, { metadata: { generation } }: CustomDefinition): string {
  return JSON.stringify({ ...mark, generation });
}

/**
 * The mark of an earlier migration, unless objects may have been stored in another version since: when the storage version is
 * another one, or the definition has changed so often that it may have been for a while.
 */
export function markOf({ metadata }: CustomDefinition, storage: string): Mark | undefined {
  const text = metadata.annotations?.[MARK];
  if (text === undefined) return undefined;
  let mark: Partial<Mark & { readonly generation: number }>;
  try {
    mark = (JSON.parse(text) ?? {}) as typeof mark;
  } catch {
    return undefined;
  }
  const { objects, continue: token, generation } = mark;
  if (mark.storage !== storage || typeof token !== "string" || typeof objects !== "number") return undefined;
  if (typeof generation !== "number" || metadata.generation - generation > 1) return undefined;
  return { storage, continue: token, objects };
}
