/** Field selectors such as `metadata.name=web,status.phase!=Running`. */
import type { AnyObject } from "./handle.ts";

/** Selects objects by the text of their fields. */
export interface FieldSelector {
  /** Whether the object is selected; an absent field counts as the empty text. */
  matches(object: AnyObject): boolean;
  /** The canonical form for a `fieldSelector` query: equal selectors give equal text. */
  toString(): string;
}

interface Term {
  readonly path: readonly string[];
  readonly equal: boolean;
  readonly value: string;
}

class Terms implements FieldSelector {
  readonly #terms: readonly Term[];
  readonly #text: string;

  constructor(terms: ReadonlyMap<string, Term>) {
    const sorted = [...terms].sort(([a], [b]) => (a < b ? -1 : 1));
    this.#terms = sorted.map(([, term]) => term);
    this.#text = sorted.map(([text]) => text).join(",");
  }

  matches(object: AnyObject): boolean {
    for (const { path, equal, value } of this.#terms) if ((textAt(object, path) === value) !== equal) return false;
    return true;
  }

  toString(): string {
    return this.#text;
  }
}

function textAt(object: unknown, path: readonly string[]): string {
  let value = object;
  for (const name of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return "";
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return typeof value === "string" ? value : typeof value === "number" || typeof value === "boolean" ? `${value}` : "";
}

/**
 * Parses a field selector: `=`, `==` and `!=`, joined by commas; `\` escapes `,`, `=` and itself in values.
 *
 * @throws SyntaxError that quotes the selector and the term.
 * @see https://kubernetes.io/docs/concepts/overview/working-with-objects/field-selectors/
 */
export function parseFieldSelector(text: string): FieldSelector {
  const terms = new Map<string, Term>();
  for (const part of text.match(/(?:\\.|[^\\,]|\\$)+/gs) ?? []) {
    const operator = /!=|==|=/.exec(part);
    const path = part.slice(0, operator?.index);
    if (operator === null || !/^[^\s.\\()]+(?:\.[^\s.\\()]+)*$/.test(path)) {
      throw new SyntaxError(
        `Cannot use field selector ${JSON.stringify(text)}: "${part}" must be <field>=<value> or <field>!=<value>`,
      );
    }
    const equal = operator[0] !== "!=";
    const value = unescape(part.slice(operator.index + operator[0].length), text);
    const escaped = value.replace(/[\\,=]/g, "\\$&");
    terms.set(`${path}${equal ? "=" : "!="}${escaped}`, { path: path.split("."), equal, value });
  }
  return new Terms(terms);
}

function unescape(value: string, source: string): string {
  const wrong = /\\(?![\\,=])|(?<!\\)=/.exec(value.replaceAll("\\\\", ""));
  if (wrong !== null) {
    throw new SyntaxError(
      `Cannot use field selector ${JSON.stringify(source)}: write "\\\\", "\\," and "\\=" for "\\", "," and "=" in "${value}"`,
    );
  }
  return value.replace(/\\([\\,=])/g, "$1");
}
