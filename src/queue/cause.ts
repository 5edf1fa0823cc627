/** Merges the causes for which a key was queued. */
import type { Cause } from "../resource/cause.ts";

export type { Cause };

/** How many causes are kept; for a key under constant change the newest are the most useful. */
const MAX_CAUSES = 8;

const NONE: readonly Cause[] = Object.freeze([]);

/**
 * Adds a cause, newest last; one from the same object replaces the earlier one. Of too many, those go first
 * that hand over nothing.
 */
export function withCause(causes: readonly Cause[] = NONE, cause: Cause | undefined): readonly Cause[] {
  if (cause === undefined) return causes;
  if (causes.length === 0) return [cause];
  const merged: Cause[] = [];
  for (const earlier of causes) if (!isSame(earlier, cause)) merged.push(earlier);
  if (merged.length === MAX_CAUSES)
    merged.splice(
      Math.max(
        merged.findIndex(({ value }) => value === undefined),
        0,
      ),
      1,
    );
  merged.push(cause);
  return merged;
}

/** Adds the causes of a run whose key runs again; what has come since counts as newer. */
export function withEarlier(causes: readonly Cause[] = NONE, earlier: readonly Cause[]): readonly Cause[] {
  return causes.reduce<readonly Cause[]>(withCause, earlier);
}

/** Returns the causes that hand over a value; `undefined` when none does. */
export function causesWithValues(causes: readonly Cause[]): readonly Cause[] | undefined {
  const some = causes.filter(({ value }) => value !== undefined);
  return some.length === 0 ? undefined : some;
}

function isSame(a: Cause, b: Cause): boolean {
  return (
    a.source === b.source &&
    a.type === b.type &&
    a.kind === b.kind &&
    a.key?.name === b.key?.name &&
    a.key?.namespace === b.key?.namespace
  );
}

/** The causes as text for people: `for Guestbook create default/hello; owns Deployment update default/hello`. */
export function causesText(causes: readonly Cause[]): string {
  return causes.map(causeText).join("; ");
}

function causeText({ source, type, kind, key }: Cause): string {
  const of = kind === undefined || source.includes(kind) ? "" : ` ${kind}`;
  const name = key === undefined ? "" : ` ${key.namespace === undefined ? "" : `${key.namespace}/`}${key.name}`;
  const what = type === "generic" ? "" : ` ${type}`;
  return `${source}${of}${what}${name}`;
}
