/** Splits an expression into tokens as cel-go's lexer does. */

const escape = String.raw`\\(?:[abfnrtv"'\\?${"`"}]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})`;

/** Matches string literals without their prefix. */
const strings = [
  String.raw`"""(?:[^\\]|${escape})*?"""`,
  String.raw`'''(?:[^\\]|${escape})*?'''`,
  String.raw`"(?:[^"\\\n\r]|${escape})*"`,
  String.raw`'(?:[^'\\\n\r]|${escape})*'`,
].join("|");

const raw = String.raw`(?:[bB]?[rR])(?:"""[\s\S]*?"""|'''[\s\S]*?'''|"[^"\n\r]*"|'[^'\n\r]*')`;
const tokens = new RegExp(
  `${raw}|${strings}|\\/\\/[^\\n]*|[A-Za-z_]\\w*|(?:0x[0-9a-fA-F]+u?|\\d+(?:\\.\\d+)?(?:[eE][-+]?\\d+)?\\w*|\\.\\d\\w*)|==|!=|<=|>=|&&|\\|\\||[\\[\\]{}().,\\-!?:+*/%<>]|\\s+`,
  "y",
);

const begun = /\\(?:[xX][0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|[0-3][0-7]?)?/y;

/** Matches an identifier in backticks: the grammar has it, but kube-apiserver does not enable it. */
const escaped = /`[\w.\-/ ]+`/y;

export interface Token {
  readonly text: string;
  readonly at: number;
  /** Whether it is an identifier in backticks. */
  readonly isEscaped?: boolean;
  /** Whether it follows a dot. */
  readonly isSelected?: boolean;
}

/** Returns the tokens of a text, and the characters at which no token begins. */
export function scan(text: string): { readonly known: readonly Token[]; readonly unknown: readonly Token[] } {
  const [known, unknown]: [Token[], Token[]] = [[], []];
  for (let at = 0; at < text.length;) {
    tokens.lastIndex = at;
    const token = tokens.exec(text)?.[0];
    if (token !== undefined) {
      if (!/^(?:\s|\/\/)/.test(token)) known.push({ text: token, at });
      at += token.length;
      continue;
    }
    const wrong = unknownAt(text, at, known.at(-1));
    unknown.push(wrong);
    if (wrong.isEscaped) known.push(wrong);
    at += wrong.text.length;
  }
  return { known, unknown };
}

/**
 * Returns an invalid token: an unterminated or badly escaped string, an incomplete operator with the text that follows
 * it, or one character.
 */
function unknownAt(text: string, at: number, before: Token | undefined): Token {
  const first = text[at] ?? "";
  if (first === "'" || first === '"') {
    const inside = new RegExp(`(?:[^${first}\\\\\\n]|${escape})*`, "y");
    inside.lastIndex = at + 1;
    const end = at + 1 + (inside.exec(text)?.[0].length ?? 0);
    begun.lastIndex = end;
    // The lexer consumes an incomplete escape up to and including the character that does not belong to it.
    const length = begun.exec(text)?.[0].length ?? 0;
    return { text: text.slice(at, length === 0 ? end : end + length + 1), at };
  }
  escaped.lastIndex = at;
  const name = first === "`" ? escaped.exec(text)?.[0] : undefined;
  if (name !== undefined) return { text: name, at, isEscaped: true, isSelected: before?.text === "." };
  return { text: "=&|".includes(first) ? text.slice(at, at + 2) : first, at };
}

/** After these tokens a value begins. */
const opening = /^(?:[-+*/%!?:([{,<>]|==|!=|<=|>=|&&|\|\||in)$/;

/**
 * Replaces the leading dots of names by spaces, so that positions stay the same: `.name` and `name` mean the same here.
 */
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

/** Returns whether the name at this place has a leading dot. */
export function hasLeadingDot(text: string, at: number): boolean {
  return text.slice(0, at).trimEnd().endsWith(".");
}

const most = 2n ** 63n;

export interface NumberProblem {
  readonly at: number;
  readonly length: number;
  readonly what: string;
  /** A number of the same type that is in range and not longer. */
  readonly fitting: string;
}

/** Reports a number that is out of range for its type. */
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
