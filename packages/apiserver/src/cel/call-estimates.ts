/** What calls of functions and operators cost at most, by the sizes of their arguments, as cel-go and kube-apiserver estimate it. */
import { exactly, plus, product, type SizeRange, sum, times, union, units, unknownSize } from "./size-range.ts";

/** An argument of a call. */
export interface Operand {
  readonly size: SizeRange;
  /** The type's name, such as `string` or `list`. */
  readonly type: string;
  /** The items of a list. */
  readonly items?: { readonly size: SizeRange; readonly type: string } | undefined;
  /** The value of a literal number. */
  readonly literal?: number | undefined;
}

export interface CallEstimate {
  readonly cost: number;
  /** The size of the result; `undefined` when the call says nothing about it. */
  readonly size?: SizeRange;
}

interface Call {
  readonly name: string;
  readonly overload: string;
  /** The receiver; `undefined` for a plain function. */
  readonly target: Operand | undefined;
  readonly args: readonly Operand[];
}

type Rule = (target: Operand, args: readonly Operand[], call: Call) => CallEstimate | undefined;

const perCharacter = 0.1;
const perPatternCharacter = 0.25;
const newList = 10;
const newStruct = 40;
/** A format counts as a pattern of this length. */
const longestFormat = 128;
const addressSize = 16;
const one: CallEstimate = { cost: 1 };

/** Returns what a call costs at most, without its arguments. */
export function estimateCall(call: Call): CallEstimate {
  const { name, overload, target, args } = call;
  const subject = target ?? args[0];
  if (subject === undefined) return one;
  const rule =
    listRules[overload] ?? (overload.endsWith("_sort") ? sorted : undefined) ?? named(name) ?? core[overload];
  const rest = target === undefined ? args.slice(1) : args;
  return rule?.(subject, rest, call) ?? core[overload]?.(subject, rest, call) ?? one;
}

function named(name: string): Rule | undefined {
  return Object.hasOwn(byName, name) ? byName[name] : undefined;
}

function traversal({ size }: Operand, factor = perCharacter): number {
  return units(size.max, factor);
}

const traversed: Rule = (text) => ({ cost: traversal(text) });
const kept: Rule = (text) => ({ cost: traversal(text), size: text.size });

const visited: Rule = (list) => {
  const { items } = list;
  if (items === undefined) return { cost: traversal(list) };
  const isText = items.type === "string" || items.type === "bytes";
  return { cost: times(list.size.max, isText ? plus(1, units(items.size.max, perCharacter)) : 1) };
};

const searched: Rule = (text, [pattern = text]) => ({
  cost: times(units(plus(text.size.max, 1), perCharacter), traversal(pattern, perPatternCharacter)),
});

const selected: Rule = (_, [selector]) => {
  if (selector === undefined) return undefined;
  const requirements = units(selector.size.max, 0.5);
  return { cost: plus(newList + traversal(selector), times(requirements, newList + newStruct)) };
};

const contained: Rule = (_, [part], { overload }) => {
  const parsed = overload === "cidr_contains_ip_string" && part !== undefined ? traversal(part) : 0;
  return { cost: plus(units(2 * addressSize, perCharacter), parsed) };
};

const containing: Rule = (_, [part], { overload }) => {
  const parsed = overload === "cidr_contains_cidr_string" && part !== undefined ? traversal(part) : 0;
  return { cost: plus(units(2 * addressSize, perCharacter) + units(addressSize, perCharacter) + 1, parsed) };
};

/** Estimates by the name of a function. */
const byName: Readonly<Record<string, Rule>> = {
  check: () => ({ cost: 350_000 }),
  fieldSelector: selected,
  labelSelector: selected,
  isSorted: visited,
  sum: visited,
  max: visited,
  min: visited,
  indexOf: visited,
  lastIndexOf: visited,
  url: kept,
  "jsonpatch.escapeKey": kept,
  lowerAscii: kept,
  upperAscii: kept,
  substring: kept,
  trim: kept,
  replace: (text, args) => ({ cost: traversal(text, 2 * perCharacter), size: replaced(text.size, args) }),
  split: (text, [, limit]) => ({
    cost: traversal(text, 2 * perCharacter),
    size: { min: 0, max: limit?.literal ?? text.size.max },
  }),
  join: joined,
  find: (text, args, call) => ({ ...searched(text, args, call)!, size: { min: 0, max: text.size.max } }),
  findAll: (text, args, call) => ({ ...searched(text, args, call)!, size: { min: 0, max: text.size.max } }),
  cidr: traversed,
  isIP: traversed,
  isCIDR: traversed,
  ip: (text, _, { overload }) => (overload === "cidr_ip" ? one : { cost: traversal(text) }),
  "ip.isCanonical": (text) => ({ cost: traversal(text, 2 * perCharacter) }),
  containsIP: contained,
  containsCIDR: containing,
  quantity: traversed,
  isQuantity: traversed,
  semver: traversed,
  isSemver: traversed,
  validate: (_, [text]) =>
    text === undefined ? undefined : { cost: units(traversal(text), longestFormat * perPatternCharacter) },
};

/** Returns the size of a text in which each occurrence of another one is replaced. */
function replaced({ min, max }: SizeRange, [from, to]: readonly Operand[]): SizeRange {
  if (from === undefined || to === undefined) return unknownSize;
  const [old, next] = [from.size, to.size];
  // An empty text is found before, between and behind all characters.
  const growth =
    old.min === 0
      ? plus(times(plus(max, 1), next.max), max)
      : next.max <= old.min
        ? max
        : times(Math.ceil(max / old.min), next.max);
  const rest =
    old.max === 0
      ? plus(times(plus(min, 1), next.min), min)
      : old.max <= next.min
        ? min
        : times(Math.ceil(min / old.max), next.min);
  return { min: rest, max: growth };
}

function joined({ size, items }: Operand, [separator]: readonly Operand[]): CallEstimate {
  let whole = items === undefined ? exactly(0) : product(size, items.size);
  if (separator !== undefined) {
    const gaps = { min: Math.max(0, size.min - 1), max: Math.max(0, size.max - 1) };
    whole = sum(whole, product(separator.size, gaps));
  }
  return { cost: units(whole.max, perCharacter), size: whole };
}

function listOf(factor: number, size: SizeRange): CallEstimate {
  return { cost: plus(units(size.max, factor), 1 + newList), size };
}

const sorted: Rule = ({ size, items }) => {
  const isText = items?.type === "string" || items?.type === "bytes";
  return listOf(isText ? 2 + perCharacter : 2, product(size, size));
};

const pairs =
  (factor: number): Rule =>
  (list, [other = list]) => ({ cost: plus(units(times(list.size.max, other.size.max), factor), 1) });

/** Estimates of the libraries of lists and sets, by overload. */
const listRules: Readonly<Record<string, Rule>> = {
  list_sets_contains_list: pairs(1),
  list_sets_intersects_list: pairs(1),
  list_sets_equivalent_list: pairs(2),
  list_slice: ({ size }, [start, end]) =>
    listOf(1, exactly(Math.max(0, (end?.literal ?? size.max) - (start?.literal ?? 0)))),
  lists_range: ({ literal }) => listOf(1, exactly(literal ?? unknownSize.max)),
  list_reverse: ({ size }) => listOf(1, size),
  list_flatten: ({ size }) => listOf(1, size),
  list_flatten_int: ({ size }, [depth]) => listOf(depth?.literal ?? unknownSize.max, size),
  list_distinct: ({ size }) => listOf(2, product(size, size)),
};

const shorter: Rule = (left, [right = left]) => ({
  cost: units(Math.min(left.size.max, right.size.max), perCharacter),
});

const concatenated: Rule = (left, [right = left], { overload }) => {
  const size = sum(left.size, right.size);
  return { cost: overload === "add_list" ? 1 : units(size.max, perCharacter), size };
};

/** Estimates of the language itself, by overload. */
const core: Record<string, Rule> = {
  string_format: traversed,
  string_to_bytes: (text) => ({ cost: traversal(text), size: { min: text.size.min, max: times(text.size.max, 4) } }),
  bytes_to_string: (text) => ({
    cost: traversal(text),
    size: { min: Math.floor(text.size.min / 4), max: text.size.max },
  }),
  strings_quote: (text) => ({
    cost: traversal(text),
    size: { min: plus(text.size.min, 2), max: plus(times(text.size.max, 2), 2) },
  }),
  starts_with_string: (_, [part]) => (part === undefined ? undefined : { cost: traversal(part) }),
  ends_with_string: (_, [part]) => (part === undefined ? undefined : { cost: traversal(part) }),
  in_list: (_, [list]) => (list === undefined ? undefined : { cost: list.size.max }),
  matches_string: searched,
  contains_string: (text, [part = text]) => ({ cost: times(traversal(text), traversal(part)) }),
  add_string: concatenated,
  add_bytes: concatenated,
  add_list: concatenated,
  not_equals: shorter,
  equals: (left, args, call) => flatEquality(left, args[0]) ?? shorter(left, args, call),
};

for (const order of ["less", "greater", "less_equals", "greater_equals"])
  for (const type of ["string", "bytes"]) core[`${order}_${type}`] = shorter;

const flat = new Set(
  "net.IP net.CIDR kubernetes.Quantity kubernetes.Semver kubernetes.authorization.Authorizer kubernetes.authorization.PathCheck kubernetes.authorization.GroupCheck kubernetes.authorization.ResourceCheck kubernetes.authorization.Decision".split(
    " ",
  ),
);

/** The longest text of a named format. */
const formatSize = 64;

/** Returns the estimate of comparing two values of one library type. */
function flatEquality({ type, size }: Operand, right: Operand | undefined): CallEstimate | undefined {
  if (right?.type !== type) return undefined;
  if (flat.has(type)) return one;
  if (type === "kubernetes.NamedFormat") return { cost: units(formatSize, perCharacter) };
  if (type === "kubernetes.URL")
    return { cost: units(Math.max(size.max === unknownSize.max ? 1 : union(size, right.size).max), perCharacter) };
  return undefined;
}
