/**
 * Estimates the maximum cost of an expression in kube-apiserver's units. @see
 * https://kubernetes.io/docs/reference/using-api/cel/#resource-constraints
 */
import type { CelNode } from "./node.ts";
import { keySize, type SizeType } from "./sizes.ts";

/** The estimate of an expression and of its result. */
interface Estimate {
  readonly cost: number;
  /** The maximum size of the result; `undefined` when it is unknown. */
  readonly size: number | undefined;
  /** The type of the result, with its place in the schema. */
  readonly type: SizeType | undefined;
  /** The size and type of the items, for a list that the expression makes. */
  readonly items?: Pick<Estimate, "size" | "type"> | undefined;
}

const most = 2 ** 64;
const perCharacter = 0.1;
const perPatternCharacter = 0.25;
/** A format counts as a pattern of 128 characters. */
const longestFormat = 128 * perPatternCharacter;

function product(one: number, other: number): number {
  return one === 0 || other === 0 ? 0 : Math.min(most, one * other);
}

function traversal(size: number, factor = perCharacter): number {
  return Math.min(most, Math.ceil(size * factor));
}

/** Returns the maximum cost of a checked expression whose `self` and `oldSelf` have these sizes. */
export function costOf(node: CelNode, self: SizeType | undefined): number {
  const whole: Estimate = { cost: 1, size: sizeOf(self), type: self };
  return new Estimator().visit(
    node,
    new Map([
      ["self", whole],
      ["oldSelf", whole],
    ]),
  ).cost;
}

function sizeOf(type: SizeType | undefined): number | undefined {
  return type?.most;
}

type Scope = ReadonlyMap<string, Estimate>;

const flat: Pick<Estimate, "size" | "type"> = { size: 1, type: { kind: "scalar", most: 1, least: 1 } };
const unknown: Pick<Estimate, "size" | "type"> = { size: undefined, type: undefined };
const bools = new Set(["==", "!=", "<", "<=", ">", ">="]);
const accessors = new Set(
  "allowed reason error errored masked prefixLength family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast sign asInteger isInteger asApproximateFloat isGreaterThan isLessThan compareTo major minor patch getScheme getHostname getHost getPort getEscapedPath getQuery serviceAccount path group resource subresource namespace name".split(
    " ",
  ),
);
const predicates = new Set(
  "startsWith endsWith contains matches size isSorted indexOf lastIndexOf all exists".split(" "),
);

class Estimator {
  visit(node: CelNode, scope: Scope): Estimate {
    const { op, args } = node;
    switch (op) {
      case "value":
        return literal(args);
      case "id":
        return { ...(scope.get(String(args)) ?? flat), cost: 1 }; // this is a type if it is not a variable
      case ".":
      case ".?":
        return this.#select(args as [CelNode, string], scope);
      case "[]":
      case "[?]":
        return this.#index(args as [CelNode, CelNode], scope);
      case "&&":
      case "||":
        return { ...flat, cost: this.#sum(args as CelNode[], scope) };
      case "?:":
        return this.#choice(args as [CelNode, CelNode, CelNode], scope);
      case "list":
        return this.#list(args as CelNode[], scope);
      case "map":
        return {
          ...unknown,
          size: (args as unknown[]).length,
          cost: 30 + this.#sum((args as CelNode[][]).flat(), scope),
        };
      case "call":
        return this.#call(args as [string, CelNode[]], scope);
      case "rcall":
        return this.#method(args as [string, CelNode, CelNode[]], scope);
      case "!_":
      case "-_":
        return { ...flat, cost: 1 + this.visit(args as CelNode, scope).cost };
      default:
        return this.#operator(op, args as [CelNode, CelNode], scope);
    }
  }

  #sum(nodes: readonly CelNode[], scope: Scope): number {
    return nodes.reduce((sum, node) => Math.min(most, sum + this.visit(node, scope).cost), 0);
  }

  #select([inner, name]: [CelNode, string], scope: Scope): Estimate {
    const { cost, type } = this.visit(inner, scope);
    const field = type?.kind === "map" ? type.items : type?.fields?.get(name);
    const own = type?.kind === "object" || type?.kind === "map" ? 1 : 0;
    return { cost: cost + own, size: sizeOf(field), type: field };
  }

  #index([list, at]: [CelNode, CelNode], scope: Scope): Estimate {
    const [holder, index] = [this.visit(list, scope), this.visit(at, scope)];
    const item = holder.items ?? { size: sizeOf(holder.type?.items), type: holder.type?.items };
    return { ...item, cost: 1 + holder.cost + index.cost };
  }

  #choice([condition, left, right]: [CelNode, CelNode, CelNode], scope: Scope): Estimate {
    const [a, b] = [this.visit(left, scope), this.visit(right, scope)];
    const cost = this.visit(condition, scope).cost + Math.max(a.cost, b.cost);
    const size = a.size === undefined || b.size === undefined ? undefined : Math.max(a.size, b.size);
    return { cost, size, type: a.type ?? b.type, items: a.items ?? b.items };
  }

  #list(nodes: readonly CelNode[], scope: Scope): Estimate {
    const items = nodes.map((node) => this.visit(node, scope));
    const sizes = items.map(({ size }) => size ?? most);
    const cost = items.reduce((sum, item) => sum + item.cost, 10);
    const type = items[0]?.type;
    return { cost, size: nodes.length, type: undefined, items: { size: Math.max(0, ...sizes), type } };
  }

  #operator(op: string, [left, right]: [CelNode, CelNode], scope: Scope): Estimate {
    const [a, b] = [this.visit(left, scope), this.visit(right, scope)];
    const both = a.cost + b.cost;
    const shorter = Math.min(a.size ?? most, b.size ?? most);
    if (op === "==" || op === "!=") return { ...flat, cost: both + traversal(shorter) };
    if (op === "in") {
      const isMap = b.type?.kind === "map" || right.op === "map";
      return { ...flat, cost: both + (isMap ? 1 : (b.size ?? most)) };
    }
    const ofTexts = [a, b].some(({ type }) => isText(type));
    if (bools.has(op)) return { ...flat, cost: both + (ofTexts ? traversal(shorter) : 1) };
    if (op !== "+") return { ...flat, cost: both + 1 };
    const size = Math.min(most, (a.size ?? most) + (b.size ?? most));
    if (ofTexts) return { cost: both + traversal(size), size, type: { kind: "string", most: size, least: 2 } };
    const isList = a.items !== undefined || b.items !== undefined || a.type?.kind === "list";
    return isList ? { cost: both + 1, size, type: a.type, items: a.items ?? b.items } : { ...flat, cost: both + 1 };
  }

  #call([name, args]: [string, CelNode[]], scope: Scope): Estimate {
    if (name === "has") {
      const [selected] = args;
      const [inner] = (selected?.op === "." ? selected.args : [selected]) as [CelNode];
      return { ...flat, cost: this.visit(inner, scope).cost };
    }
    const sizes = args.map((arg) => this.visit(arg, scope));
    const sum = sizes.reduce((all, { cost }) => all + cost, 0);
    const [first] = sizes;
    if (name === "dyn" && first !== undefined) return { ...first, cost: sum + 1 };
    if (
      ["url", "quantity", "isQuantity", "semver", "isSemver", "ip", "cidr", "isIP", "isCIDR", "isURL"].includes(name)
    ) {
      return { ...unknown, cost: sum + traversal(first?.size ?? most) };
    }
    const isFlat = ["size", "int", "uint", "double", "bool", "duration", "timestamp", "type"].includes(name);
    return { ...(isFlat ? flat : unknown), cost: sum + 1 };
  }

  #method([name, receiver, args]: [string, CelNode, CelNode[]], scope: Scope): Estimate {
    if (receiver.op === "id" && receiver.args === "sets" && !scope.has("sets")) {
      const [one, other] = args.map((arg) => this.visit(arg, scope));
      const pairs = product(one?.size ?? most, other?.size ?? most);
      const compared = product(pairs, name === "equivalent" ? 2 : 1);
      return { ...flat, cost: Math.min(most, (one?.cost ?? 0) + (other?.cost ?? 0) + compared + 1) };
    }
    const target = this.visit(receiver, scope);
    if (isLoop(name, args)) return this.#loop(name, { target, args }, scope);
    const sizes = args.map((arg) => this.visit(arg, scope));
    const before = target.cost + sizes.reduce((all, { cost }) => all + cost, 0);
    const size = target.size ?? most;
    const other = sizes[0]?.size ?? most;
    const result = { cost: before, size: target.size, type: target.type };
    if (name === "startsWith" || name === "endsWith") return { ...flat, cost: before + traversal(other) };
    if (name === "contains") return { ...flat, cost: before + product(traversal(size), traversal(other)) };
    if (name === "matches" || name === "find" || name === "findAll") {
      const cost = before + product(traversal(size + 1), traversal(other, perPatternCharacter));
      return name === "matches" ? { ...flat, cost } : { ...unknown, size, cost };
    }
    if (["lowerAscii", "upperAscii", "substring", "trim"].includes(name))
      return { ...result, cost: before + traversal(size) };
    if (name === "replace" || name === "split") {
      return {
        ...result,
        cost: before + traversal(size, 2 * perCharacter),
        ...(name === "split" && { type: undefined }),
      };
    }
    if (["isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"].includes(name)) {
      return { ...flat, cost: before + this.#ordered(target) };
    }
    if (name === "join") {
      const item = target.items === undefined ? (target.type?.items?.most ?? most) : most;
      const whole = Math.min(most, product(size, item) + product(Math.max(0, size - 1), sizes[0]?.size ?? 0));
      return { cost: before + traversal(whole), size: whole, type: { kind: "string", most: whole, least: 2 } };
    }
    if (name === "validate") return { ...unknown, cost: before + product(traversal(other), longestFormat) };
    if (name === "distinct" || name === "sort" || name === "reverse") {
      const compared = name === "reverse" ? size : product(size, size);
      const cost = Math.min(most, before + 11 + product(compared, name === "reverse" ? 1 : 2));
      return { ...result, size: compared, cost };
    }
    if (name === "check") return { ...unknown, cost: before + 350_000 };
    if (accessors.has(name) || predicates.has(name)) return { ...flat, cost: before + 1 };
    return { ...unknown, cost: before + 1 };
  }

  /** Every item is compared, and texts character by character; nothing bounds the texts of a list that the expression makes. */
  #ordered({ size = most, type, items }: Estimate): number {
    if (items !== undefined) return product(size, isText(items.type) ? most : 1);
    const item = type?.items;
    if (item === undefined) return traversal(size);
    const each = item.kind === "string" || item.kind === "bytes" ? 1 + traversal(item.most) : 1;
    return product(size, each);
  }

  #loop(name: string, { target, args }: Loop, scope: Scope): Estimate {
    const isMap = target.type?.kind === "map";
    const key: Estimate = { cost: 1, size: isMap ? keySize.most : 1, type: isMap ? keySize : flat.type };
    const item: Estimate = {
      cost: 1,
      ...(target.items ?? { size: sizeOf(target.type?.items), type: target.type?.items }),
    };
    const [first, ...rest] = args;
    const inner = new Map(scope);
    const isDouble = rest.length > 1 && rest[0]?.op === "id" && name !== "map";
    inner.set(String(first?.args), isDouble || isMap ? key : item);
    const bodies = isDouble ? rest.slice(1) : rest;
    if (isDouble) inner.set(String(rest[0]?.args), item);
    const costs = bodies.map((body) => this.visit(body, inner));
    const body = costs.reduce((sum, { cost }) => sum + cost, 0);
    const times = target.size ?? most;
    const last = costs.at(-1);
    const loop = (before: number, each: number, after: number): number =>
      Math.min(most, target.cost + before + product(times, each) + after);
    switch (name) {
      case "all":
        return { ...flat, cost: loop(0, body + 3, 1) };
      case "exists":
        return { ...flat, cost: loop(0, body + 4, 1) };
      case "exists_one":
      case "existsOne":
        return { ...flat, cost: loop(0, body + 2, 2) };
      case "filter":
        return { cost: loop(10, body + 13, 1), size: times, type: undefined, items: isMap ? key : item };
      default:
        return { cost: loop(10, body + 12, 1), size: times, type: undefined, items: last };
    }
  }
}

function isText(type: SizeType | undefined): boolean {
  return type?.kind === "string" || type?.kind === "bytes";
}

interface Loop {
  readonly target: Estimate;
  readonly args: readonly CelNode[];
}

const loops = new Set("all exists exists_one existsOne map filter transformList transformMap".split(" "));

function isLoop(name: string, [variable, ...bodies]: readonly CelNode[]): boolean {
  return loops.has(name) && variable?.op === "id" && bodies.length > 0;
}

function literal(value: unknown): Estimate {
  if (typeof value !== "string") return { ...flat, cost: 0 };
  return { cost: 0, size: Array.from(value).length, type: { kind: "string", most: value.length, least: 2 } };
}
