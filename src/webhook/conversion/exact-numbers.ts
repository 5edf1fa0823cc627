/** Detects numbers that JavaScript cannot represent exactly, because a conversion would change them silently. */

/** Only numbers with this many digits may be inexact, and hardly any text has them outside of strings. */
const LONG = /\d{16}/;
const WHOLE = /^-?\d+$/;

/** A body with a number that JavaScript cannot represent exactly. */
export class InexactBody {
  readonly body: unknown;
  /** The number as it is written in the text. */
  readonly number: string;

  constructor(body: unknown, number: string) {
    this.body = body;
    this.number = number;
  }
}

type Reviver = (name: string, value: unknown, context: { readonly source?: string }) => unknown;

/** `JSON.parse` with the text of each value, which the platform passes and the compiler's library does not know yet. */
const parseWithSource = JSON.parse as (text: string, reviver: Reviver) => unknown;

/** Parses JSON. @returns an {@link InexactBody} if a whole number would change. @throws SyntaxError */
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
