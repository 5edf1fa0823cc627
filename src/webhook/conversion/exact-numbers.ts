/** Numbers that JavaScript has no exact value for: a conversion would give back other ones, without a word. */

/** So many digits may be too many, and hardly any text has them outside of strings. */
const LONG = /\d{16}/;
const WHOLE = /^-?\d+$/;

/** A body with a number in it that was read as another one. */
export class InexactBody {
  readonly body: unknown;
  /** As it stands in the text. */
  readonly number: string;

  constructor(body: unknown, number: string) {
    this.body = body;
    this.number = number;
  }
}

type Reviver = (name: string, value: unknown, context: { readonly source?: string }) => unknown;

/** The platform tells the text of each value, which the compiler's library does not know yet. */
const parseWithSource = JSON.parse as (text: string, reviver: Reviver) => unknown;

/** Reads JSON. @returns an {@link InexactBody} where a whole number would be changed. @throws SyntaxError */
export function parseExactly(text: string): unknown {
  if (!LONG.test(text)) return JSON.parse(text) as unknown;
  let inexact: string | undefined;
  const body = parseWithSource(text, (_, value, { source = "" }) => {
    if (typeof value === "number" && WHOLE.test(source) && !isExact(value, source)) inexact ??= source;
    return value;
  });
  return inexact === undefined ? body : new InexactBody(body, inexact);
}

function isExact(value: number, source: string): boolean {
  return Number.isFinite(value) && BigInt(value) === BigInt(source);
}
