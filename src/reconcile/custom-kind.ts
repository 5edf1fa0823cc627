/** Recognises custom kinds by their group; a custom kind whose group looks built-in counts as built-in. */
import type { Resource } from "../resource/handle.ts";

/**
 * Whether the kind is custom. Custom resources are stored as they are sent, and an update of their status changes
 * nothing else. In built-in kinds the server drops empty values, and an update of some statuses also changes labels and
 * annotations.
 */
export function isCustomKind({ group }: Resource): boolean {
  return group.includes(".") && !group.endsWith(".k8s.io");
}
