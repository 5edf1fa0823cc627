/** Kinds of CustomResourceDefinitions, told by their group; some of those look like built-in ones, and are taken for such. */
import type { Resource } from "../resource/handle.ts";

/**
 * A custom resource is stored as it was given, and an update of its status changes nothing else. Of a built-in kind the
 * server leaves out what means nothing, such as an empty text, and some statuses carry labels and annotations along.
 */
export function isCustomKind({ group }: Resource): boolean {
  return group.includes(".") && !group.endsWith(".k8s.io");
}
