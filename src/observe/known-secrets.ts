/** The secret values that the whole process knows, such as those of the modules' configuration: no line of the log repeats one. */
import { printable } from "./printable.ts";

/** Shorter values are ignored, because they occur by chance. */
export const SHORTEST_SECRET = 8;
/** What stands in place of a secret value. */
export const INSTEAD_OF_SECRET = "[redacted]";

/** The values of each owner. */
const known = new Map<symbol, readonly string[]>();
/** All spellings, longest first because one may be a part of another. */
let needles: readonly string[] = [];

/** Keeps values out of what is logged and reported, until it is disposed of. */
export function keepSecret(values: Iterable<string>): Disposable {
  const owner = Symbol("owner");
  const own = [...values].flatMap((value) => [...spellings(value)]);
  if (own.length === 0) return { [Symbol.dispose]: () => {} };
  known.set(owner, own);
  collect();
  return {
    [Symbol.dispose]: () => {
      known.delete(owner);
      collect();
    },
  };
}

function collect(): void {
  needles = longestFirst(new Set([...known.values()].flat()));
}

/** Returns the texts that are long enough to be looked for, in the order in which they are replaced. */
export function longestFirst(spelled: ReadonlySet<string>): readonly string[] {
  return [...spelled].filter(({ length }) => length >= SHORTEST_SECRET).sort((a, b) => b.length - a.length);
}

/** Returns the text without any of the values. */
export function withoutSecrets(text: string): string {
  let clean = text;
  for (const needle of needles) {
    if (clean.includes(needle)) clean = clean.replaceAll(needle, INSTEAD_OF_SECRET);
  }
  return clean;
}

/** Yields a value in plain form, in base64, and as escaped in JSON and URLs; nothing for a value that is too short. */
export function* spellings(value: string): Generator<string> {
  if (value.length < SHORTEST_SECRET) return;
  yield value;
  const trimmed = value.trim(); // a value that was made with `echo` ends with a line break
  if (trimmed.length < SHORTEST_SECRET) return;
  for (const text of trimmed === value ? [value] : [value, trimmed]) {
    yield text;
    yield JSON.stringify(text).slice(1, -1);
    yield printable(text);
    yield encodeURIComponent(text.toWellFormed());
    const bytes = Buffer.from(text);
    yield bytes.toString("base64").replace(/=+$/, "");
    yield bytes.toString("base64url");
  }
}
