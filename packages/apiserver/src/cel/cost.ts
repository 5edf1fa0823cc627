/**
 * Estimates the maximum cost of an expression in kube-apiserver's units. @see
 * https://kubernetes.io/docs/reference/using-api/cel/#resource-constraints
 */
import { estimateCall, type Operand } from "./call-estimates.ts";
import type { Checked } from "./checker.ts";
import { loopShape, isMacro } from "./macros.ts";
import { nameOf, operators } from "./names.ts";
import type { CelNode } from "./node.ts";
import { exactly, plus, type SizeRange, times, union, unknownSize } from "./size-range.ts";
import { keySize, type SizeType } from "./sizes.ts";
import { type Type, unwrapped } from "./type.ts";

/** The sizes of the keys (or items' indices) and values of a list or map that the expression makes. */
interface Entries {
  readonly isList: boolean;
  readonly key: SizeRange;
  readonly value: SizeRange;
}

/** The estimate of a node and of its value. */
interface Estimate {
  readonly cost: number;
  /** The size that follows from the expression; `undefined` where only the path or the type says something. */
  readonly size?: SizeRange | undefined;
  /** The path through the schema, which begins with a variable. */
  readonly path?: readonly string[] | undefined;
  readonly entries?: Entries | undefined;
  readonly type: Type | undefined;
  readonly literal?: number | undefined;
}

type Scope = ReadonlyMap<string, Omit<Estimate, "cost">>;

const newList = 10;
const newMap = 30;
const scalars = new Set("bool double google.protobuf.Duration int google.protobuf.Timestamp uint".split(" "));

/** Returns the maximum cost of a checked expression whose `self` and `oldSelf` have these sizes. */
export function costOf(
  { node, checked }: { readonly node: CelNode; readonly checked: Checked },
  self: SizeType | undefined,
): number {
  return new Estimator(checked, self).visit(node, new Map()).cost;
}

class Estimator {
  readonly #checked: Checked;
  readonly #root: SizeType | undefined;

  constructor(checked: Checked, root: SizeType | undefined) {
    this.#checked = checked;
    this.#root = root;
  }

  visit(node: CelNode, scope: Scope): Estimate {
    return { type: this.#checked.typeOf(node), ...this.#estimate(node, scope) };
  }

  #estimate(node: CelNode, scope: Scope): Omit<Estimate, "type"> {
    const { op, args } = node;
    switch (op) {
      case "value":
        return {
          cost: 0,
          size: exactly(literalSize(args)),
          ...(typeof args === "bigint" && { literal: Number(args) }),
        };
      case "id": {
        const { size, path, entries } = scope.get(String(args)) ?? { path: [String(args)] };
        return { cost: 1, path, entries, ...(this.#sizeAt(path) === undefined ? { size } : {}) };
      }
      case ".":
        return this.#select(node, args as [CelNode, string], scope);
      case ".?":
        return { cost: 1 + this.visit((args as [CelNode])[0], scope).cost };
      case "&&":
      case "||":
        return { cost: this.#sum(args as CelNode[], scope), size: exactly(1) };
      case "?:":
        return this.#choice(args as [CelNode, CelNode, CelNode], scope);
      case "list":
        return this.#list(args as CelNode[], scope);
      case "map":
        return this.#map(args as [CelNode, CelNode][], scope);
      case "call":
        return this.#function(node, args as [string, CelNode[]], scope);
      case "rcall":
        return this.#method(node, args as [string, CelNode, CelNode[]], scope);
      case "-_":
        if (isNumber(args as CelNode)) return { cost: 0, size: exactly(1) };
        return this.#call(node, "-_", { args: [args as CelNode], scope });
      case "!_":
        return this.#call(node, op, { args: [args as CelNode], scope });
      default:
        return this.#call(node, operators[op] ?? `_${op}_`, { args: args as CelNode[], scope });
    }
  }

  #sum(nodes: readonly CelNode[], scope: Scope): number {
    return nodes.reduce((sum, node) => plus(sum, this.visit(node, scope).cost), 0);
  }

  /** Returns the size that the schema gives to a path; a path that begins with no variable leads to the whole value. */
  #sizeAt(path: readonly string[] | undefined): SizeRange | undefined {
    if (path === undefined || path.length === 0) return undefined;
    let at = this.#root;
    for (const name of path.slice(1)) {
      if (name === "@items" || name === "@values") at = at?.items;
      else if (name === "@keys") at = at?.kind === "map" ? keySize : undefined;
      else at = at?.fields?.get(name);
      if (at === undefined) return undefined;
    }
    return at === undefined ? undefined : { min: 0, max: at.most };
  }

  /** Returns what is known of a value's size: by the expression, by the schema, or by its type. */
  #sizeOf({ size, path, type }: Omit<Estimate, "cost">): SizeRange | undefined {
    return size ?? this.#sizeAt(path) ?? (isScalar(type) ? exactly(1) : undefined);
  }

  #operand(estimate: Estimate): Operand {
    const { type, path, literal } = estimate;
    const [item] = type?.params ?? [];
    const itemPath = path === undefined || path.length === 0 ? undefined : [...path, "@items"];
    return {
      size: this.#sizeOf(estimate) ?? unknownSize,
      type: type?.name ?? "dyn",
      items: item === undefined ? undefined : { size: this.#sizeAt(itemPath) ?? unknownSize, type: item.name },
      literal,
    };
  }

  #select(node: CelNode, [inner, name]: [CelNode, string], scope: Scope): Omit<Estimate, "type"> {
    if (!this.#checked.sees(inner)) return { cost: 1, path: [nameOf(node) ?? name] };
    const { cost, path = [], type } = this.visit(inner, scope);
    const own = type?.kind === "struct" || type?.kind === "map" || type?.kind === "param" ? 1 : 0;
    return { cost: plus(cost, own), path: [...path, name] };
  }

  #choice([condition, left, right]: [CelNode, CelNode, CelNode], scope: Scope): Omit<Estimate, "type"> {
    const [a, b] = [this.visit(left, scope), this.visit(right, scope)];
    const cost = plus(this.visit(condition, scope).cost, Math.max(a.cost, b.cost));
    const size = union(this.#sizeOf(a) ?? unknownSize, this.#sizeOf(b) ?? unknownSize);
    return { cost, size, entries: unionOf(a.entries, b.entries) };
  }

  #list(nodes: readonly CelNode[], scope: Scope): Omit<Estimate, "type"> {
    const items = nodes.map((node) => this.visit(node, scope));
    const cost = items.reduce((sum, item) => plus(sum, item.cost), newList);
    const entries = { isList: true, key: exactly(1), value: this.#unionOf(items) };
    return { cost, size: exactly(nodes.length), entries };
  }

  #map(pairs: readonly [CelNode, CelNode][], scope: Scope): Omit<Estimate, "type"> {
    const [keys, values] = [
      pairs.map(([key]) => this.visit(key, scope)),
      pairs.map(([, one]) => this.visit(one, scope)),
    ];
    const cost = [...keys, ...values].reduce((sum, part) => plus(sum, part.cost), newMap);
    const entries = { isList: false, key: this.#unionOf(keys), value: this.#unionOf(values) };
    return { cost, size: exactly(pairs.length), entries };
  }

  #unionOf([first, ...rest]: readonly Estimate[]): SizeRange {
    if (first === undefined) return exactly(0);
    const size = (one: Estimate): SizeRange => this.#sizeOf(one) ?? unknownSize;
    return rest.reduce((all, one) => union(all, size(one)), size(first));
  }

  #function(node: CelNode, [name, args]: [string, CelNode[]], scope: Scope): Omit<Estimate, "type"> {
    const [first] = args;
    if (first !== undefined && name === "has") {
      const [holder] = first.args as [CelNode];
      return { cost: this.visit(holder, scope).cost };
    }
    if (first !== undefined && name === "dyn") {
      const inner = this.visit(first, scope);
      return { cost: plus(inner.cost, 1), size: this.#sizeOf(inner), entries: inner.entries };
    }
    return this.#call(node, name, { args, scope });
  }

  #method(node: CelNode, [name, receiver, args]: [string, CelNode, CelNode[]], scope: Scope): Omit<Estimate, "type"> {
    if (name === "optMap" || name === "optFlatMap") return this.#mapped(name, [receiver, args], scope);
    if (name === "sortBy" && isMacro(name, args.length)) return this.#sortedBy([receiver, args], scope);
    if (isMacro(name, args.length)) return this.#loop(name, [receiver, args], scope);
    if (!this.#checked.sees(receiver)) return this.#call(node, `${nameOf(receiver)}.${name}`, { args, scope });
    return this.#call(node, name, { target: receiver, args, scope });
  }

  #call(
    node: CelNode,
    name: string,
    { target, args, scope }: { readonly target?: CelNode; readonly args: readonly CelNode[]; readonly scope: Scope },
  ): Omit<Estimate, "type"> {
    const all = [...(target === undefined ? [] : [target]), ...args].map((arg) => this.visit(arg, scope));
    const before = all.reduce((sum, { cost }) => plus(sum, cost), 0);
    const operands = all.map((one) => this.#operand(one));
    const [first, second] = all;
    const isIndex = node.op === "[]";
    let cost = 0;
    let size: SizeRange | undefined;
    let path: readonly string[] | undefined;
    for (const overload of this.#checked.overloadsOf(node)) {
      const call =
        target === undefined ? { target: undefined, args: operands } : { target: operands[0], args: operands.slice(1) };
      const estimate = estimateCall({ name, overload, ...call });
      cost = Math.max(cost, estimate.cost);
      if (estimate.size !== undefined) size = size === undefined ? estimate.size : union(size, estimate.size);
      if (isIndex && (overload === "index_list" || overload === "index_map")) {
        size = first?.entries?.value;
        path = [...(first?.path ?? []), overload === "index_list" ? "@items" : "@values"];
      }
    }
    const entries = node.op === "+" ? unionOf(first?.entries, second?.entries) : undefined;
    return { cost: plus(before, cost), size, path, entries };
  }

  /** cel-go expands `optMap` to a test, an access and a variable for the value. */
  #mapped(name: string, [receiver, args]: [CelNode, CelNode[]], scope: Scope): Omit<Estimate, "type"> {
    const target = this.visit(receiver, scope);
    const type = target.type === undefined ? undefined : unwrapped(target.type);
    const inner = new Map(scope).set(String(args[0]?.args), { type });
    const body = this.visit(args[1]!, inner);
    const value = plus(newList, plus(target.cost + 1, body.cost));
    const size = name === "optMap" ? undefined : union(this.#sizeOf(body) ?? unknownSize, unknownSize);
    return { cost: plus(target.cost + 1, plus(value, name === "optMap" ? 1 : 0)), size };
  }

  /** cel-go expands `sortBy` to a variable for the list, the list of its keys, and a sort. */
  #sortedBy([receiver, args]: [CelNode, CelNode[]], scope: Scope): Omit<Estimate, "type"> {
    const list = this.visit(receiver, scope);
    const variable: Estimate = { ...list, cost: 1, size: this.#sizeOf(list) };
    const keys = this.#iteration("map", variable, { args, scope });
    const type = this.#checked.typeOf(args[1]!);
    const sort = estimateCall({
      name: "sort",
      overload: "list_sort",
      target: {
        ...this.#operand({ ...keys, type: undefined }),
        items: { size: unknownSize, type: type.kind === "dyn" ? "string" : type.name },
      },
      args: [],
    });
    const cost = [newList, list.cost, 1, keys.cost, sort.cost].reduce(plus, 0);
    return { cost, ...(sort.size === undefined ? {} : { size: sort.size }) };
  }

  #loop(name: string, [receiver, args]: [CelNode, CelNode[]], scope: Scope): Omit<Estimate, "type"> {
    return this.#iteration(name, this.visit(receiver, scope), { args, scope });
  }

  #iteration(
    name: string,
    range: Estimate,
    { args, scope }: { readonly args: readonly CelNode[]; readonly scope: Scope },
  ): Omit<Estimate, "type"> {
    const { variables, bodies } = loopShape(name, args);
    const isList = range.entries?.isList ?? range.type?.kind === "list";
    const path = range.path ?? [];
    const [keyType, valueType] = range.type?.kind === "map" ? range.type.params : [undefined, range.type?.params[0]];
    const key = { path: [...path, isList ? "@indices" : "@keys"], size: range.entries?.key, type: keyType };
    const value = { path: [...path, isList ? "@items" : "@values"], size: range.entries?.value, type: valueType };
    const inner = new Map(scope);
    const names = variables.map(({ args: variable }) => String(variable));
    if (names.length > 1) inner.set(names[0]!, key).set(names[1]!, value);
    else inner.set(names[0]!, isList ? value : key);
    const costs = bodies.map((body) => this.visit(body, inner));
    const body = costs.reduce((sum, { cost }) => plus(sum, cost), 0);
    const last = costs.at(-1);
    const count = this.#sizeOf(range) ?? unknownSize;
    const loop = (before: number, each: number, after: number): number =>
      plus(plus(range.cost, before), plus(times(count.max, plus(body, each)), after));
    const items = (item: SizeRange): Entries => ({
      isList: true,
      key: exactly(1),
      value: union(exactly(0), item),
    });
    switch (name) {
      case "all":
        return { cost: loop(0, 3, 1), size: exactly(1) };
      case "exists":
        return { cost: loop(0, 4, 1), size: exactly(1) };
      case "exists_one":
      case "existsOne":
        return { cost: loop(0, 2, 2), size: exactly(1) };
      case "filter": {
        const item = isList ? value : key;
        return {
          cost: loop(newList, 13, 1),
          size: count,
          entries: items(this.#sizeOf(item) ?? item.size ?? unknownSize),
        };
      }
      case "transformMap":
        return { cost: loop(newMap, 3, 1), size: count };
      case "transformMapEntry":
        return { cost: loop(newMap, 2, 1), size: count };
      default:
        return {
          cost: loop(newList, 12, 1),
          size: count,
          entries: items(last === undefined ? unknownSize : (this.#sizeOf(last) ?? unknownSize)),
        };
    }
  }
}

function unionOf(one: Entries | undefined, other: Entries | undefined): Entries | undefined {
  if (one === undefined || other === undefined) return undefined;
  return { isList: one.isList, key: union(one.key, other.key), value: union(one.value, other.value) };
}

/** Whether all values of a type have the size 1. */
function isScalar(type: Type | undefined): boolean {
  if (type === undefined) return false;
  const inner = unwrapped(type);
  return inner === undefined ? scalars.has(type.name) : isScalar(inner);
}

function isNumber({ op, args }: CelNode): boolean {
  return op === "value" && typeof args !== "string";
}

function literalSize(value: unknown): number {
  if (typeof value === "string") return Array.from(value).length;
  return value instanceof Uint8Array ? value.length : 1;
}
