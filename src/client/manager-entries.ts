/**
 * Moves fields from one entry of `metadata.managedFields` to another: to a new name, or from updates to applies as
 * client-go's `csaupgrade` does. The values of the object do not change.
 *
 * @see https://kubernetes.io/docs/reference/using-api/server-side-apply/#upgrading-from-client-side-apply-to-server-side-apply
 */
import type { FieldsV1, ManagedFieldsEntry } from "../resource/meta.ts";
import { unite } from "./managed-fields.ts";

export interface Move {
  /** The managers whose entries are moved. */
  readonly from: readonly string[];
  readonly to: string;
  readonly subresource?: string;
  /** Whether updated fields become applied ones. */
  readonly asApplied: boolean;
}

/** Moves entries. @returns the new entries; `undefined` when there is nothing to move. */
export function moved(entries: readonly ManagedFieldsEntry[], move: Move): readonly ManagedFieldsEntry[] | undefined {
  const { from, to, subresource = "", asApplied } = move;
  const result: ManagedFieldsEntry[] = [];
  let isMoved = false;
  for (const entry of entries) {
    const { manager = "", operation, fieldsV1 = {} } = entry;
    const isTheirs = (entry.subresource ?? "") === subresource && (from.includes(manager) || manager === to);
    if (!isTheirs) {
      result.push(entry);
      continue;
    }
    const becomes = asApplied ? "Apply" : operation;
    isMoved ||= manager !== to || becomes !== operation;
    const same = result.findIndex(
      (other) =>
        other.manager === to &&
        other.operation === becomes &&
        (other.subresource ?? "") === subresource &&
        (becomes === "Apply" || other.apiVersion === entry.apiVersion),
    );
    if (same < 0) result.push({ ...entry, manager: to, operation: becomes });
    else result[same] = joined(result[same]!, entry.apiVersion, fieldsV1);
  }
  return isMoved ? result : undefined;
}

/** Paths of another version may mean something else: of those an applied entry takes nothing, and they are nobody's. */
function joined(entry: ManagedFieldsEntry, apiVersion: string | undefined, fields: FieldsV1): ManagedFieldsEntry {
  if (entry.apiVersion !== apiVersion) return entry;
  return { ...entry, fieldsV1: unite(entry.fieldsV1 ?? {}, fields) };
}
