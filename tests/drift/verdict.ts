/**
 * What the promise says of a child, and whether it holds.
 *
 * The promise: once the run is over, what `children.sync` declares is, by value, a subset of the live object, whatever others
 * did; what others added stays where the schema lets it; what was declared before and is not any more goes, unless another
 * manager set it by its own act; then there is silence. The rules by which a case is judged, and what they leave open:
 *
 * - The server's spelling counts. How it spells what is declared, and what it leaves out of it (`hostNetwork: false`), is
 *   what it answers to a dry creation of the same object. Where it fills in what is declared empty, because it takes that
 *   for not given, the field is its own.
 * - An atomic list has the declared items and no others; inside of its items, as inside of atomic maps that are not declared
 *   empty, there may be more.
 * - Items of keyed lists stand in the declared order among themselves. Sets have none.
 * - What others added stays if server-side apply of the declared object by a new manager leaves it there. Where the server
 *   refuses that apply, or what is left of it without the fields that are no longer declared and with nothing in what is
 *   declared empty, only what is declared is judged.
 * - What others add to a map or a list that is declared empty may stay or go, unless it is atomic.
 * - A field that was once declared is not taken for theirs because an entry of managedFields was renamed, or because the child
 *   was created anew from a backup, or because an earlier state came back together with its marks.
 * - Where others took a declared item out of a keyed list, what they put in its place may stay or go.
 * - A field that was declared in the sync before goes, if it was untouched since that sync and no other manager holds it. It may
 *   stay when nothing is left that could tell: the process is another one, and others have taken both the marks and our
 *   entry of managedFields.
 * - After somebody wrote under the controller's own name, additions and removals are not judged.
 * - What the server refuses, both as an apply and as a replacement, cannot be repaired; such a case is left out.
 */
import { annotationsOf, equal, isMap, type Json, type JsonMap, mapAt } from "./json.ts";
import { BACKUP, RENAMED } from "./forms.ts";
import { anyBelow, type Holder, holds, type Leaf, type Leaves, overlap } from "./leaves.ts";

export type Problem =
  "drift" | "order" | "stays" | "lost" | "noise" | "fails" | "owner" | "not created" | "not pruned" | "no run";

export interface Finding {
  readonly problem: Problem;
  readonly detail: string;
}

const isBookkeeping = (path: string): boolean =>
  /^\/(apiVersion|kind|status(\/|$)|metadata\/(name|namespace|uid|resourceVersion|generation|creationTimestamp|selfLink|managedFields)(\/|$))/.test(
    path,
  ) || /^\/metadata\/annotations\/(binnacle\.dev~1|deprecated\.daemonset\.template\.generation$)/.test(path);

/** The leaves that count: neither bookkeeping of the server nor of binnacle. */
export function counted(leaves: Leaves): ReadonlyMap<string, Leaf> {
  return new Map([...leaves.all].filter(([path]) => !isBookkeeping(path)));
}

export const isEmpty = (value: Json | undefined): boolean =>
  Array.isArray(value) ? value.length === 0 : isMap(value) && Object.keys(value).length === 0;
const isZero = (value: Json | undefined): boolean =>
  value === undefined || value === null || value === false || value === 0 || value === "" || isEmpty(value);

/** Whether a live value has what is declared, in the server's spelling. */
function has(declared: Json, spelled: Json | undefined, live: Json | undefined): boolean {
  if (spelled === undefined) return isZero(live);
  if (Array.isArray(declared)) {
    if (!Array.isArray(live) || !Array.isArray(spelled)) return equal(spelled, live);
    return (
      live.length === spelled.length && spelled.every((item, index) => has(declared[index] ?? item, item, live[index]))
    );
  }
  if (isMap(declared) && isMap(spelled)) {
    if (!isMap(live)) return false;
    if (isEmpty(declared) && isEmpty(spelled)) return isEmpty(live);
    return Object.entries(declared).every(([name, value]) => has(value, spelled[name], live[name]));
  }
  return equal(spelled, live);
}

const show = (value: Json | undefined): string => (value === undefined ? "nothing" : JSON.stringify(value));

/** What is declared and not there. @param granular whether the empty container at a path may have entries of others */
export function missing(
  declared: Leaves,
  { spelled, live }: { readonly spelled: Leaves; readonly live: Leaves },
  granular: (leaf: Leaf) => boolean,
): Finding[] {
  const findings: Finding[] = [];
  for (const [path, leaf] of counted(declared)) {
    const there = live.all.get(path);
    if (isEmpty(leaf.value) && granular(leaf)) {
      const isKept = anyBelow(spelled.all.keys(), path);
      if (isKept && !anyBelow(live.all.keys(), path))
        findings.push({ problem: "drift", detail: `${path}: declared ${show(leaf.value)}, nothing is there` });
      continue;
    }
    const spelling = spelled.all.get(path)?.value;
    if (has(leaf.value, spelling, there?.value) || (isEmpty(leaf.value) && !isZero(spelling))) continue;
    // A map that the server completed is no leaf there.
    if (there === undefined && isEmpty(leaf.value) && anyBelow(live.all.keys(), path)) continue;
    findings.push({ problem: "drift", detail: `${path}: declared ${show(leaf.value)}, live ${show(there?.value)}` });
  }
  for (const [path, order] of declared.orders) {
    const now = (live.orders.get(path) ?? []).filter((id) => order.includes(id));
    if (now.length === order.length && !equal(now, order))
      findings.push({ problem: "order", detail: `${path}: declared ${order.join(" ")}, live ${now.join(" ")}` });
  }
  return findings;
}

/** Whether our reference to the owner is there and controls. */
export function ownership(live: JsonMap, uid: string): Finding[] {
  const references = mapAt(live, "metadata")["ownerReferences"];
  const ours = Array.isArray(references) ? references.filter(isMap).find((one) => one["uid"] === uid) : undefined;
  return ours?.["controller"] === true ? [] : [{ problem: "owner", detail: `owner references: ${show(references)}` }];
}

export interface Around {
  readonly declared: Leaves;
  /** The child before the sync, after what others did. */
  readonly before: Leaves;
  readonly live: Leaves;
  readonly holders: readonly Holder[];
}

export const overlapsAny = (paths: Iterable<string>, path: string): boolean => {
  for (const one of paths) if (overlap(one, path)) return true;
  return false;
};

/**
 * What others have set and is gone or changed.
 *
 * @param merged the child as an apply of a new manager would leave it
 * @param once what has been declared at any time
 */
export function lost(around: Around, merged: Leaves, once: Once): Finding[] {
  const { declared, before, live, holders } = around;
  const own = [...declared.all].filter(([, { value }]) => !isEmpty(value)).map(([path]) => path);
  const emptied = [...declared.all].filter(([, { value }]) => isEmpty(value)).map(([path]) => path);
  const replaced = listsWithoutDeclared(declared, before);
  const findings: Finding[] = [];
  for (const [path, leaf] of counted(before)) {
    if (isEmpty(leaf.value) || declared.all.has(path) || overlapsAny(own, path)) continue;
    const isAct = holders.some((holder) => !once.isRestored && isActOf(holder) && holds(holder, path, leaf));
    if (!isAct && wasDeclared(once.paths, path)) continue;
    if (emptied.some((container) => path.startsWith(`${container}/`))) continue;
    if (replaced.some((list) => path.startsWith(`${list}/`))) continue;
    if (!equal(merged.all.get(path)?.value, leaf.value)) continue;
    const there = live.all.get(path)?.value;
    if (!equal(there, leaf.value))
      findings.push({ problem: "lost", detail: `${path}: theirs was ${show(leaf.value)}, live ${show(there)}` });
  }
  return findings;
}

export interface Once {
  readonly paths: ReadonlySet<string>;
  /** Others have changed the marks, and may have brought back earlier ones with what they speak of. */
  readonly isRestored: boolean;
}

/** Whether the field, or the item of a list that it belongs to, was declared. */
function wasDeclared(paths: ReadonlySet<string>, path: string): boolean {
  const item = /^.*\/\[[^/]*\](?=\/)/.exec(path)?.[0];
  return overlapsAny(paths, path) || (item !== undefined && overlapsAny(paths, item));
}

/** Whether what a manager holds says that he set it: names of those who have copied entries, or a whole object, do not. */
const isActOf = ({ manager }: Holder): boolean => manager !== RENAMED && manager !== BACKUP;

/** Keyed lists out of which others took a declared item. */
function listsWithoutDeclared(declared: Leaves, before: Leaves): string[] {
  return [...declared.orders].flatMap(([path, order]) => {
    const now = before.orders.get(path) ?? [];
    return order.every((id) => now.includes(id)) ? [] : [path];
  });
}

export interface Past {
  /** What the sync before declared. */
  readonly declared: Leaves;
  /** The child after that sync. */
  readonly live: Leaves;
  /** What the server adds to what is declared now. */
  readonly spelled: Leaves;
}

/** What is no longer declared, and still there although nobody else set it. */
export function stays(around: Around, past: Past): Finding[] {
  const { declared, before, live, holders } = around;
  const findings: Finding[] = [];
  for (const [path, leaf] of counted(past.declared)) {
    if (isEmpty(leaf.value) || overlapsAny(declared.all.keys(), path)) continue;
    const was = past.live.all.get(path)?.value;
    const then = before.all.get(path)?.value;
    if (was === undefined || !equal(was, then)) continue;
    if (holders.some((holder) => holds(holder, path, leaf))) continue;
    const there = live.all.get(path)?.value;
    const isDefault = equal(there, past.spelled.all.get(path)?.value);
    if (!equal(there, then) || isDefault) continue; // what the server has filled in again is not ours any more
    findings.push({ problem: "stays", detail: `${path}: no longer declared, live ${show(there)}` });
  }
  return findings;
}

/** Whether the child carries binnacle's marks as they were. */
export function hasMarks(object: JsonMap, before: JsonMap): boolean {
  const marksOf = (one: JsonMap): JsonMap =>
    Object.fromEntries(Object.entries(annotationsOf(one)).filter(([name]) => name.startsWith("binnacle.dev/")));
  return equal(marksOf(object), marksOf(before));
}
