/**
 * Moves fields from one entry of `metadata.managedFields` to another: to a new name, or from updates to applies as
 * client-go's `csaupgrade` does. The values of the object do not change.
 *
 * @see https://kubernetes.io/docs/reference/using-api/server-side-apply/#upgrading-from-client-side-apply-to-server-side-apply
 */
import type { FieldsV1, ManagedFieldsEntry } from "../resource/meta.ts";
import { isLeaf, unite } from "./managed-fields.ts";

export interface Move {
  /** The managers whose entries are moved. */
  readonly from: readonly string[];
  readonly to: string;
  readonly subresource?: string;
  /** Whether updated fields become applied ones. */
  readonly asApplied: boolean;
  /** Selects the fields that an applied entry keeps; the others become nobody's. @default all */
  readonly moves?: (fields: FieldsV1, isApplied: boolean) => FieldsV1;
}

/** Moves entries. @returns the new entries; `undefined` when there is nothing to move. */
export function moved(entries: readonly ManagedFieldsEntry[], move: Move): readonly ManagedFieldsEntry[] | undefined {
  const { from, to, subresource = "", asApplied, moves = all } = move;
  const result: ManagedFieldsEntry[] = [];
  let isMoved = false;
  for (const entry of entries) {
    const { manager = "", operation } = entry;
    const isTheirs = (entry.subresource ?? "") === subresource && (from.includes(manager) || manager === to);
    if (!isTheirs) {
      result.push(entry);
      continue;
    }
    const becomes = asApplied ? "Apply" : operation;
    const fieldsV1 = asApplied ? moves(entry.fieldsV1 ?? {}, becomes === operation) : entry.fieldsV1;
    isMoved ||= manager !== to || becomes !== operation || fieldsV1 !== entry.fieldsV1;
    const same = result.findIndex(
      (other) =>
        other.manager === to &&
        other.operation === becomes &&
        (other.subresource ?? "") === subresource &&
        (becomes === "Apply" || other.apiVersion === entry.apiVersion),
    );
    if (same < 0) result.push({ ...entry, manager: to, operation: becomes, fieldsV1 });
    else result[same] = joined(result[same]!, entry.apiVersion, fieldsV1 ?? {});
  }
  return isMoved ? result : undefined;
}

function all(fields: FieldsV1): FieldsV1 {
  return fields;
}

/** Fields that a manager claims although its own entry does not name them any more. */
export interface Claim {
  readonly manager: string;
  readonly apiVersion: string;
  /** The fields that it desires or once desired, as far as they exist. */
  readonly fields: FieldsV1;
  /** The part of `fields` that the manager claims; the apply that follows makes desired fields its own. */
  readonly claims: FieldsV1;
}

/** When somebody applies, the server gives all fields of an object without entries to this name. */
const NOBODY = "before-first-apply";

/** Whether the server has given fields to nobody. */
export function isNobodys(entries: readonly ManagedFieldsEntry[] = []): boolean {
  return entries.some(({ manager }) => manager === NOBODY);
}

/**
 * Gives the manager the fields that nobody else has explicitly set.
 *
 * @returns the new entries; `undefined` when there is nothing to give.
 */
export function claimed(
  entries: readonly ManagedFieldsEntry[],
  { manager, apiVersion, fields, claims }: Claim,
): readonly ManagedFieldsEntry[] | undefined {
  let left: FieldsV1 | undefined = claims;
  let own: ManagedFieldsEntry | undefined;
  let isTaken = false;
  const others: ManagedFieldsEntry[] = [];
  for (const entry of entries) {
    const { fieldsV1 = {} } = entry;
    if (entry.manager === manager && entry.operation === "Apply" && !entry.subresource) {
      own = entry;
      left &&= without(left, fieldsV1, "whole values");
    } else if (entry.manager === NOBODY) {
      const rest = without(fieldsV1, fields);
      if (rest !== undefined) others.push({ ...entry, fieldsV1: rest });
      isTaken = true;
    } else {
      others.push(entry);
      left &&= without(left, fieldsV1);
    }
  }
  if ((left === undefined && !isTaken) || (own !== undefined && own.apiVersion !== apiVersion)) return undefined;
  const fieldsV1 = unite(own?.fieldsV1 ?? {}, left ?? {});
  return [...others, { manager, operation: "Apply", apiVersion, fieldsType: "FieldsV1", ...own, fieldsV1 }];
}

/**
 * The fields of one set that another does not have; `undefined` when there are none.
 *
 * @param how whether the other set counts as owner of a whole map or list when it has no part of it
 */
export function without(fields: FieldsV1, others: FieldsV1, how?: "whole values"): FieldsV1 | undefined {
  const left: Record<string, FieldsV1> = {};
  let isAny = false;
  for (const name in fields) {
    const part = rest(fields[name]!, others[name], how);
    if (part === undefined) continue;
    left[name] = part;
    isAny = true;
  }
  return isAny ? left : undefined;
}

function rest(part: FieldsV1, theirs: FieldsV1 | undefined, how?: "whole values"): FieldsV1 | undefined {
  if (theirs === undefined) return part;
  if (isLeaf(part) || (how !== undefined && isLeaf(theirs))) return undefined;
  return without(part, isLeaf(theirs) ? WHOLE : theirs, how);
}

const WHOLE: FieldsV1 = { ".": {} };

/**
 * Paths of another version may have another meaning: an applied entry takes none of them over, and they lose their
 * owner.
 */
function joined(entry: ManagedFieldsEntry, apiVersion: string | undefined, fields: FieldsV1): ManagedFieldsEntry {
  if (entry.apiVersion !== apiVersion) return entry;
  return { ...entry, fieldsV1: unite(entry.fieldsV1 ?? {}, fields) };
}
