/** A kind that a controller owns, and the way in which its children are found. */
import type { SharedInformer } from "../cache/shared-informer.ts";
import { groupKind, type Resource } from "../resource/handle.ts";

/** One entry of `owns`, with the informer that sees its children. */
export interface OwnedKind {
  readonly resource: Resource;
  readonly track: "owner" | "label";
  /** The informer of the children; it has {@link OWNER_INDEX}. */
  readonly informer: SharedInformer;
}

/** The index by the owner's UID that the informers of owned kinds have. */
export const OWNER_INDEX = "binnacle.dev/owner";

/** An identifier that is unique among the children of all kinds. */
export function childId(resource: Resource, key: string): string {
  return `${groupKind(resource)}/${key}`;
}
