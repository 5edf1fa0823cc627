/** The words of an expression, as the lexer of cel-go cuts it. */

const escape = String.raw`\\(?:[abfnrtv"'\\?${"`"}]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})`;

/** Texts, without what may stand before their quotes. */
export const strings: RegExp = new RegExp(
  [
    String.raw`"""(?:[^\\]|${escape})*?"""`,
    String.raw`'''(?:[^\\]|${escape})*?'''`,
    String.raw`"(?:[^"\\\n\r]|${escape})*"`,
    String.raw`'(?:[^'\\\n\r]|${escape})*'`,
  ].join("|"),
);

const raw = String.raw`(?:[bB]?[rR])(?:"""[\s\S]*?"""|'''[\s\S]*?'''|"[^"\n\r]*"|'[^'\n\r]*')`;
const tokens = new RegExp(
  `${raw}|${strings.source}|\\/\\/[^\\n]*|[A-Za-z_]\\w*|(?:0x[0-9a-fA-F]+u?|\\d+(?:\\.\\d+)?(?:[eE][-+]?\\d+)?\\w*|\\.\\d\\w*)|==|!=|<=|>=|&&|\\|\\||[\\[\\]{}().,\\-!?:+*/%<>]|\\s+`,
  "y",
);

const begun = /\\(?:[xX][0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|[0-3][0-7]?)?/y;

/** A name in backticks, which may be selected where the server allows it: it does not. */
const escaped = /`[\w.\-/ ]+`/y;

export interface Token {
  readonly text: string;
  readonly at: number;
  /** A name in backticks. */
  readonly isEscaped?: boolean;
  /** It is behind a dot, where a name may be. */
  readonly isSelected?: boolean;
}

/** The words of a text, and what begins none. */
export function scan(text: string): { readonly known: readonly Token[]; readonly unknown: readonly Token[] } {
  const [known, unknown]: [Token[], Token[]] = [[], []];
  for (let at = 0; at < text.length;) {
    tokens.lastIndex = at;
    const found = tokens.exec(text)?.[0];
    if (found !== undefined) {
      if (!/^(?:\s|\/\/)/.test(found)) known.push({ text: found, at });
      at += found.length;
      continue;
    }
    const wrong = unknownAt(text, at, known.at(-1));
    unknown.push(wrong);
    if (wrong.isEscaped) known.push(wrong);
    at += wrong.text.length;
  }
  return { known, unknown };
}

/** A text that does not end or has a wrong escape, half of a sign with what follows it, or one character. */
function unknownAt(text: string, at: number, before: Token | undefined): Token {
  const first = text[at] ?? "";
  if (first === "'" || first === '"') {
    const inside = new RegExp(`(?:[^${first}\\\\\\n]|${escape})*`, "y");
    inside.lastIndex = at + 1;
    const end = at + 1 + (inside.exec(text)?.[0].length ?? 0);
    begun.lastIndex = end;
    // What begins like an escape goes as far as the character that is none of it.
    const length = begun.exec(text)?.[0].length ?? 0;
    return { text: text.slice(at, length === 0 ? end : end + length + 1), at };
  }
  escaped.lastIndex = at;
  const name = first === "`" ? escaped.exec(text)?.[0] : undefined;
  if (name !== undefined) return { text: name, at, isEscaped: true, isSelected: before?.text === "." };
  return { text: "=&|".includes(first) ? text.slice(at, at + 2) : first, at };
}

/** After these a value begins, not what follows one. */
const opening = /^(?:[-+*/%!?:([{,<>]|==|!=|<=|>=|&&|\|\||in)$/;

/** The same text at the same places, where names that begin with a dot begin with a space: they mean the same. */
export function withoutLeadingDots(text: string): string {
  if (!/(?:^|[^\w)\]}"'\s])\s*\.\s*[A-Za-z_]|\bin\s+\./.test(text)) return text;
  const { known } = scan(text);
  let result = text;
  for (const [index, { text: word, at }] of known.entries()) {
    const before = known[index - 1];
    const isLeading = word === "." && (before === undefined || opening.test(before.text));
    if (isLeading && /^[A-Za-z_]/.test(known[index + 1]?.text ?? ""))
      result = `${result.slice(0, at)} ${result.slice(at + 1)}`;
  }
  return result;
}

/** Whether the name at a place begins with a dot. */
export function hasLeadingDot(text: string, at: number): boolean {
  return text.slice(0, at).trimEnd().endsWith(".");
}

const most = 2n ** 63n;

export interface NumberProblem {
  readonly at: number;
  readonly length: number;
  readonly what: string;
  /** One of its type that is not too large, and no longer. */
  readonly fitting: string;
}

/** A number that is too large for what holds it. */
export function numberProblem(known: readonly Token[], index: number): NumberProblem | undefined {
  const { text, at } = known[index]!;
  if (!/^\d/.test(text)) return undefined;
  const [sign, before] = [known[index - 1], known[index - 2]];
  const isSigned = sign?.text === "-" && (before === undefined || opening.test(before.text));
  const from = isSigned ? sign.at : at;
  const wrong = (type: string, fitting: string): NumberProblem => ({
    at: from,
    length: at + text.length - from,
    what: `invalid ${type} literal`,
    fitting,
  });
  if (/^(?:0x[0-9a-fA-F]+|\d+)u$/.test(text))
    return BigInt(text.slice(0, -1)) < 2n ** 64n ? undefined : wrong("uint", "1u");
  if (/^(?:0x[0-9a-fA-F]+|\d+)$/.test(text)) {
    const value = BigInt(text);
    return value > most || (value === most && !isSigned) ? wrong("int", "1") : undefined;
  }
  return Number.isFinite(Number(text)) ? undefined : wrong("double", "1.0");
}
