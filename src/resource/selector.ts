/** Label selectors: Kubernetes' syntax, validation and matching. */
import { labelKeyProblem, labelValueProblem } from "./label-name.ts";

type Labels = Readonly<Record<string, string>>;

/** Selects objects by their labels. */
export interface LabelSelector {
  /** Whether an object with these labels is selected; an empty selector selects everything. */
  matches(labels: Labels | undefined): boolean;
  /** The canonical form for a `labelSelector` query: equal selectors give equal text. */
  toString(): string;
}

/** The condition for a label: a value, one of several values, or a set operator. */
export type LabelMatch =
  | string
  | readonly string[]
  | { readonly in?: readonly string[]; readonly notIn?: readonly string[]; readonly exists?: boolean };

/**
 * The form in Kubernetes objects.
 *
 * @see https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/label-selector/
 */
export interface LabelSelectorObject {
  readonly matchLabels?: Labels | undefined;
  readonly matchExpressions?:
    | readonly {
        readonly key: string;
        readonly operator: string;
        readonly values?: readonly string[] | undefined;
      }[]
    | undefined;
}

/** Any form of a label selector; a text has Kubernetes' own syntax, as for `kubectl -l`. */
export type LabelQuery = string | LabelSelectorObject | { readonly [label: string]: LabelMatch };

type Operator = "in" | "notin" | "exists" | "!" | ">" | "<";

interface Requirement {
  readonly key: string;
  readonly operator: Operator;
  readonly values: readonly string[];
}

class Requirements implements LabelSelector {
  readonly #requirements: readonly Requirement[];
  readonly #text: string;

  constructor(requirements: readonly Requirement[], source: string) {
    for (const requirement of requirements) check(requirement, source);
    const byText = new Map(requirements.map((requirement) => [textOf(requirement), requirement]));
    const sorted = [...byText].sort(([a], [b]) => (a < b ? -1 : 1));
    this.#requirements = sorted.map(([, requirement]) => requirement);
    this.#text = sorted.map(([text]) => text).join(",");
  }

  matches(labels: Labels | undefined): boolean {
    for (const requirement of this.#requirements) if (!meets(labels, requirement)) return false;
    return true;
  }

  toString(): string {
    return this.#text;
  }
}

function meets(labels: Labels | undefined, { key, operator, values }: Requirement): boolean {
  // Labels have arbitrary keys, so only own properties count: `constructor` is not a label.
  const value = labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case "in":
      return value !== undefined && values.includes(value);
    case "notin":
      return value === undefined || !values.includes(value);
    case "exists":
      return value !== undefined;
    case "!":
      return value === undefined;
    default: {
      if (value === undefined || !isInteger(value)) return false;
      const bound = BigInt(values[0] ?? "0");
      return operator === ">" ? BigInt(value) > bound : BigInt(value) < bound;
    }
  }
}

/** Whether Go parses the text as an int64. */
function isInteger(text: string): boolean {
  return /^[-+]?[0-9]+$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text);
}

function check({ key, operator, values }: Requirement, source: string): void {
  let problem = labelKeyProblem(key);
  if (problem === undefined && (operator === "in" || operator === "notin") && values.length === 0) {
    problem = `"${key} ${operator} ()" needs at least one value`;
  }
  if (problem === undefined && (operator === ">" || operator === "<") && !isInteger(values[0] ?? "")) {
    problem = `"${key} ${operator} ${values[0]}" compares integers`;
  }
  for (const value of values) problem ??= labelValueProblem(value);
  if (problem !== undefined) throw new SyntaxError(`Cannot use label selector ${JSON.stringify(source)}: ${problem}`);
}

function textOf({ key, operator, values }: Requirement): string {
  if (operator === "exists") return key;
  if (operator === "!") return `!${key}`;
  if (operator === ">" || operator === "<") return `${key}${operator}${values[0]}`;
  const sorted = [...new Set(values)].sort();
  if (sorted.length === 1) return `${key}${operator === "in" ? "=" : "!="}${sorted[0]}`;
  return `${key} ${operator} (${sorted.join(",")})`;
}

/**
 * Parses a label selector such as `app=web,tier in (a, b),!canary`.
 *
 * @throws SyntaxError that quotes the selector and names the position of the mistake.
 * @see https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors
 */
export function parseLabelSelector(text: string): LabelSelector {
  return new Requirements(new Parser(text).parse(), text);
}

/**
 * Makes a label selector of text, of `{ app: "web", tier: ["a", "b"], canary: { exists: false } }` or of `{
 * matchLabels, matchExpressions }`.
 *
 * @throws SyntaxError that describes the mistake.
 */
export function labelSelector(input: LabelQuery): LabelSelector {
  if (typeof input === "string") return parseLabelSelector(input);
  const source = JSON.stringify(input);
  const keys = Object.keys(input);
  const standard = keys.length > 0 && keys.every((key) => key === "matchLabels" || key === "matchExpressions");
  const requirements = standard
    ? fromStandard(input, source)
    : Object.entries(input as { readonly [label: string]: LabelMatch }).flatMap(([key, match]) =>
        fromMatch(key, match, source),
      );
  return new Requirements(requirements, source);
}

const operators: ReadonlyMap<string, Operator> = new Map([
  ["In", "in"],
  ["NotIn", "notin"],
  ["Exists", "exists"],
  ["DoesNotExist", "!"],
]);

function fromStandard({ matchLabels, matchExpressions }: LabelSelectorObject, source: string): Requirement[] {
  const requirements = Object.entries(matchLabels ?? {}).flatMap(([key, value]) => fromMatch(key, value, source));
  for (const { key, operator: name, values = [] } of matchExpressions ?? []) {
    const operator = operators.get(name);
    if (operator === undefined) {
      throw refusal(source, `the operator "${name}" is none of In, NotIn, Exists and DoesNotExist`);
    }
    if ((operator === "exists" || operator === "!") && values.length > 0) {
      throw refusal(source, `${name} of "${key}" takes no values`);
    }
    requirements.push({ key, operator, values });
  }
  return requirements;
}

function fromMatch(key: string, match: unknown, source: string): Requirement[] {
  if (typeof match === "string") return [{ key, operator: "in", values: [match] }];
  if (isStrings(match)) return [{ key, operator: "in", values: match }];
  const requirements: Requirement[] = [];
  if (typeof match === "object" && match !== null && !Array.isArray(match)) {
    for (const [name, value] of Object.entries(match)) {
      if (name === "in" && isStrings(value)) requirements.push({ key, operator: "in", values: value });
      else if (name === "notIn" && isStrings(value)) requirements.push({ key, operator: "notin", values: value });
      else if (name === "exists" && typeof value === "boolean") {
        requirements.push({ key, operator: value ? "exists" : "!", values: [] });
      } else throw refusal(source, matchAdvice(key));
    }
  }
  if (requirements.length === 0) throw refusal(source, matchAdvice(key));
  return requirements;
}

function matchAdvice(key: string): string {
  return `"${key}" must be a string, an array of strings, { in: [...] }, { notIn: [...] } or { exists: true | false }`;
}

function isStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function refusal(source: string, problem: string): SyntaxError {
  return new SyntaxError(`Cannot use label selector ${source}: ${problem}`);
}

/** The grammar of `k8s.io/apimachinery/pkg/labels`. */
class Parser {
  readonly #source: string;
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(source: string) {
    this.#source = source;
    this.#tokens = source.match(/==|!=|[=!(),<>]|[^\s=!(),<>]+/g) ?? [];
  }

  parse(): Requirement[] {
    const requirements: Requirement[] = [];
    if (this.#peek() === undefined) return requirements;
    for (;;) {
      requirements.push(this.#requirement());
      const token = this.#next();
      if (token === undefined) return requirements;
      if (token !== ",") throw this.#unexpected(token, '"," or the end');
    }
  }

  #requirement(): Requirement {
    let key = this.#next();
    const absent = key === "!";
    if (absent) key = this.#next();
    if (!isWord(key)) throw this.#unexpected(key, absent ? "a label key" : 'a label key or "!"');
    const after = this.#peek();
    if (after === undefined || after === ",") return { key, operator: absent ? "!" : "exists", values: [] };
    if (absent) throw this.#unexpected(after, `"," or the end after "!${key}"`);
    this.#at++;
    switch (after) {
      case "=":
      case "==":
        return { key, operator: "in", values: [this.#value()] };
      case "!=":
        return { key, operator: "notin", values: [this.#value()] };
      case ">":
      case "<":
        return { key, operator: after, values: [this.#value()] };
      case "in":
      case "notin":
        return { key, operator: after, values: this.#values() };
      default:
        throw this.#unexpected(after, '"=", "==", "!=", "in", "notin", ">" or "<"');
    }
  }

  /** Returns a value; nothing before a comma or the end is the empty value. */
  #value(): string {
    const token = this.#peek();
    if (token === undefined || token === ",") return "";
    if (!isWord(token)) throw this.#unexpected(token, "a value");
    this.#at++;
    return token;
  }

  #values(): string[] {
    const open = this.#next();
    if (open !== "(") throw this.#unexpected(open, '"("');
    const values: string[] = [];
    for (;;) {
      // `()`, `(a,)` and `(,a)` contain the empty value, as on the server.
      const token = this.#peek();
      if (isWord(token)) this.#at++;
      values.push(isWord(token) ? token : "");
      const separator = this.#next();
      if (separator === ")") return values;
      if (separator !== ",") throw this.#unexpected(separator, '"," or ")"');
    }
  }

  #peek(): string | undefined {
    return this.#tokens[this.#at];
  }

  #next(): string | undefined {
    return this.#tokens[this.#at++];
  }

  #unexpected(token: string | undefined, expected: string): SyntaxError {
    const description = token === undefined ? "the end" : `"${token}"`;
    return refusal(JSON.stringify(this.#source), `found ${description}, expected ${expected}`);
  }
}

function isWord(token: string | undefined): token is string {
  return token !== undefined && !/^[=!(),<>]/.test(token);
}
