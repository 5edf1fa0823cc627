/** The marks of children, and the `Update` entry of managed fields that a child has after a `POST`. */
import type { AnyObject } from "../resource/handle.ts";
import type { ManagedFieldsEntry } from "../resource/meta.ts";
import { appliedFields, entryOf, isLeaf } from "./managed-fields.ts";

/** The annotation of every child: its name in the set of `children.sync`, and the beginning of its owner's UID. */
export const CHILD_ANNOTATION = "binnacle.dev/child";
/** The label of a child that has no owner reference: the UID of its owner. */
export const OWNER_UID_LABEL = "binnacle.dev/owner-uid";

const CHILD = `f:${CHILD_ANNOTATION}`;
const OWNER_UID = `f:${OWNER_UID_LABEL}`;

/** The `Update` entry of a manager for its child; `undefined` when the author updated an applied object by hand. */
export function childUpdates(object: AnyObject, manager: string): ManagedFieldsEntry | undefined {
  const { annotations } = object.metadata;
  return annotations !== undefined && Object.hasOwn(annotations, CHILD_ANNOTATION)
    ? updatesOf(object, manager)
    : undefined;
}

/**
 * Like {@link childUpdates}, for an object that is known to be a child although somebody may have removed its marks.
 */
export function updatesOf(object: AnyObject, manager: string): ManagedFieldsEntry | undefined {
  const entry = entryOf(object, { manager, operation: "Update" });
  const metadata = entry?.fieldsV1?.["f:metadata"];
  if (metadata === undefined) return undefined;
  if (metadata["f:annotations"]?.[CHILD] !== undefined) return entry;
  // If another controller of the owner has renamed the child, the fields that name the owner decide.
  const isOwned = metadata["f:ownerReferences"] !== undefined || metadata["f:labels"]?.[OWNER_UID] !== undefined;
  return isOwned && appliedFields(object, manager) === undefined ? entry : undefined;
}

/** Whether one of the managers applied the object, or created it as a child. */
export function isMadeBy(object: AnyObject, managers: readonly string[]): boolean {
  return managers.some(
    (manager) =>
      appliedFields(object, manager) !== undefined ||
      childUpdates(object, manager) !== undefined ||
      hadMarks(updatesOf(object, manager)),
  );
}

/** Whether an entry of a child shows that it had our annotations, which somebody has replaced. */
function hadMarks(entry: ManagedFieldsEntry | undefined): boolean {
  const annotations = entry?.fieldsV1?.["f:metadata"]?.["f:annotations"];
  return annotations !== undefined && isLeaf(annotations);
}
