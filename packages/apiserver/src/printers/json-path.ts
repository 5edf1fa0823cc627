/** Implements the part of JSONPath that printer columns use: fields, indexes, wildcards, and filters by equality. */

type Step = (value: unknown) => unknown[];

/** Compiles a path such as `.status.conditions[?(@.type=="Ready")].status`. */
export function jsonPath(text: string): (value: unknown) => unknown[] {
  const steps = parse(text.replace(/^\{|\}$/g, "").replace(/^\$/, ""));
  return (value) => steps.reduce<unknown[]>((values, step) => values.flatMap(step), [value]);
}

const filter = /^\?\(\s*@((?:\.[\w-]+|\['[^']+'\])+)\s*(==|!=)\s*(?:"([^"]*)"|'([^']*)'|([\w.-]+))\s*\)$/;

function parse(text: string): Step[] {
  const steps: Step[] = [];
  let rest = text;
  while (rest !== "") {
    const field = /^\.((?:\\.|[^.[\]])+)/.exec(rest);
    if (field) {
      const name = (field[1] ?? "").replaceAll("\\", "");
      steps.push(name === "*" ? every : read(name));
      rest = rest.slice(field[0].length);
      continue;
    }
    const end = rest.startsWith("[") ? closing(rest) : -1;
    if (end < 0) return [...steps, () => []];
    steps.push(bracket(rest.slice(1, end)));
    rest = rest.slice(end + 1);
  }
  return steps;
}

function closing(text: string): number {
  let depth = 0;
  let quote = "";
  for (let index = 0; index < text.length; index++) {
    const character = text[index] ?? "";
    if (quote !== "") quote = character === quote ? "" : quote;
    else if (character === "'" || character === '"') quote = character;
    else if (character === "[") depth++;
    else if (character === "]" && --depth === 0) return index;
  }
  return -1;
}

function bracket(inside: string): Step {
  if (inside === "*") return every;
  if (/^-?\d+$/.test(inside)) return (value) => (Array.isArray(value) ? defined(value.at(Number(inside))) : []);
  const quoted = /^(?:'(.*)'|"(.*)")$/.exec(inside);
  if (quoted) return read(quoted[1] ?? quoted[2] ?? "");
  const [, path, operator, double, single, bare] = filter.exec(inside) ?? [];
  if (path === undefined) return () => [];
  const inner = jsonPath(path);
  const name = double ?? single ?? bare ?? "";
  return (value) =>
    Array.isArray(value) ? value.filter((item) => (String(inner(item)[0]) === name) === (operator === "==")) : [];
}

const every: Step = (value) => (typeof value === "object" && value !== null ? Object.values(value) : []);

function read(name: string): Step {
  return (value) =>
    typeof value === "object" && value !== null && Object.hasOwn(value, name)
      ? defined((value as Record<string, unknown>)[name])
      : [];
}

function defined(value: unknown): unknown[] {
  return value === undefined ? [] : [value];
}
