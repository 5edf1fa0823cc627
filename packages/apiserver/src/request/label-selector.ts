/** Label selectors: those of a query, with the server's error messages, and those of objects. */
import { goQuoted } from "../field-error.ts";
import { badRequest } from "../status.ts";
import { labelValue, qualifiedName } from "../validation/formats.ts";

type Labels = Readonly<Record<string, string>> | undefined;
type Test = (labels: Labels) => boolean;

const operators = ["in", "notin", "=", "==", "!=", "gt", "lt"];

/** Parses a selector. @throws StatusError 400. */
export function parseLabels(text: string): Test {
  const tests = new Parser(text).parse();
  const [only, ...others] = tests;
  if (only !== undefined && others.length === 0) return only;
  return (labels) => tests.every((test) => test(labels));
}

const standardOperators: Readonly<Record<string, string>> = {
  In: "in",
  NotIn: "notin",
  Exists: "exists",
  DoesNotExist: "!",
};

interface SelectorObject {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

/** Returns the test of a selector in an object, which selects everything when it is empty. @throws Error when it is not valid. */
export function selects(selector: SelectorObject): Test {
  const { matchLabels = {}, matchExpressions = [] } = selector;
  const labels = Object.entries(matchLabels).map(([key, value]) => ({ key, operator: "=", values: [value] }));
  const expressions = matchExpressions.map(({ key, operator, values = [] }) => {
    const test = Object.hasOwn(standardOperators, operator) ? standardOperators[operator] : undefined;
    const takesValues = test === "in" || test === "notin";
    if (test === undefined || takesValues !== values.length > 0) throw refusal(`${operator} of ${goQuoted(key)}`);
    return { key, operator: test, values };
  });
  const tests = [...labels, ...expressions].map((requirement) => {
    const problems = qualifiedName(requirement.key);
    if (problems.length > 0) throw refusal(problems.join("; "));
    return testOf(checked(requirement));
  });
  return (of) => tests.every((test) => test(of));
}

interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values: readonly string[];
}

class Parser {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = text.match(/==|!=|[=!(),<>]|[^\s=!(),<>]+/g) ?? [];
  }

  parse(): Test[] {
    const tests: Test[] = [];
    for (;;) {
      const token = this.#peek();
      if (token === "") return tests;
      if (!isWord(token) && token !== "!")
        throw badRequest(`found '${token}', expected: !, identifier, or 'end of string'`);
      tests.push(testOf(this.#requirement()));
      const after = this.#next();
      if (after === "") return tests;
      if (after !== ",") throw badRequest(`found '${after}', expected: ',' or 'end of string'`);
      const following = this.#peek();
      if (!isWord(following) && following !== "!")
        throw badRequest(`found '${following}', expected: identifier after ','`);
    }
  }

  #requirement(): Requirement {
    let key = this.#next();
    const absent = key === "!";
    if (absent) key = this.#next();
    if (!isWord(key)) throw refusal(`found '${key}', expected: identifier`);
    const problems = qualifiedName(key);
    if (problems.length > 0) throw refusal(`<nil>: Invalid value: ${goQuoted(key)}: ${problems.join("; ")}`);
    const after = this.#peek();
    if (after === "" || after === ",") return { key, operator: absent ? "!" : "exists", values: [] };
    if (absent) return { key, operator: "!", values: [] };
    this.#at += 1;
    if (after === "in" || after === "notin") return checked({ key, operator: after, values: this.#values() });
    if (!["=", "==", "!=", ">", "<"].includes(after))
      throw refusal(`found '${after}', expected: ${operators.join(", ")}`);
    return checked({ key, operator: after, values: [this.#value()] });
  }

  #value(): string {
    const token = this.#peek();
    if (token === "" || token === ",") return "";
    this.#at += 1;
    if (!isWord(token)) throw refusal(`found '${token}', expected: identifier`);
    return token;
  }

  #values(): string[] {
    const open = this.#next();
    if (open !== "(") throw refusal(`found '${open}' expected: '('`);
    const first = this.#peek();
    if (first !== ")" && first !== "," && !isWord(first))
      throw refusal(`found '${first}', expected: ',', ')' or identifier`);
    // `()`, `(a,)` and `(,a)` contain the empty value.
    const values = new Set<string>();
    for (;;) {
      const token = this.#next();
      if (isWord(token)) values.add(token);
      else if (token === ")") return [...values, ""];
      else if (token !== ",") throw refusal(`found '${token}', expected: ',', or identifier`);
      else values.add("");
      const after = this.#peek();
      if (after === ")") {
        this.#at += 1;
        return token === "," ? [...values, ""] : [...values];
      }
      if (after === ",") this.#at += 1;
      else if (isWord(token)) throw refusal(`found '${after}', expected: ',' or ')'`);
    }
  }

  /** Returns the next token; `""` at the end. */
  #peek(): string {
    return this.#tokens[this.#at] ?? "";
  }

  #next(): string {
    return this.#tokens[this.#at++] ?? "";
  }
}

function isWord(token: string): boolean {
  return token !== "" && !/^[=!(),<>]/.test(token);
}

function refusal(why: string): Error {
  return badRequest(`unable to parse requirement: ${why}`);
}

function checked(requirement: Requirement): Requirement {
  const { key, operator, values } = requirement;
  if ((operator === ">" || operator === "<") && !/^[-+]?[0-9]+$/.test(values[0] ?? ""))
    throw refusal(
      `values[0]: Invalid value: ${goQuoted(values[0] ?? "")}: for 'Gt', 'Lt' operators, the value must be an integer`,
    );
  for (const [index, value] of [...new Set(values)].toSorted().entries()) {
    const problems = labelValue(value);
    if (problems.length > 0)
      throw refusal(`values[${index}][${key}]: Invalid value: ${goQuoted(value)}: ${problems.join("; ")}`);
  }
  return requirement;
}

function testOf({ key, operator, values }: Requirement): Test {
  const read = (labels: Labels): string | undefined =>
    // Labels have arbitrary keys: `constructor` must not find a member that every object has.
    labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
  const [value = ""] = values;
  const included = new Set(values);
  switch (operator) {
    case "exists":
      return (labels) => read(labels) !== undefined;
    case "!":
      return (labels) => read(labels) === undefined;
    case "=":
    case "==":
      return (labels) => read(labels) === value;
    case "!=":
      return (labels) => read(labels) !== value;
    case "in":
      return (labels) => included.has(read(labels) ?? " ");
    case "notin":
      return (labels) => !included.has(read(labels) ?? " ");
    default: {
      const bound = BigInt(value);
      return (labels) => {
        const text = read(labels);
        if (text === undefined || !/^[-+]?[0-9]+$/.test(text)) return false;
        return operator === ">" ? BigInt(text) > bound : BigInt(text) < bound;
      };
    }
  }
}
