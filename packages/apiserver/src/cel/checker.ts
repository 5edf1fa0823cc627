/** Infers the types in an expression and reports errors in the words of cel-go's checker, at the positions that it reports. */
import type { CelNode } from "./node.ts";
import { overloadsOf, type Overload } from "./functions.ts";
import { isMacro, loopShape } from "./macros.ts";
import { literalType, nameOf, operators, qualifiedTypes, variableOf } from "./names.ts";
import { Places } from "./places.ts";
import { hasLeadingDot } from "./tokens.ts";
import {
  assign,
  type Bindings,
  bool,
  bytes,
  double,
  dyn,
  errorType,
  int,
  isDynOrError,
  isSame,
  listOf,
  mapOf,
  mostGeneral,
  nullType,
  optionalOf,
  param,
  shown,
  string,
  substitute,
  type Type,
  typeOf,
  uint,
  unwrapped,
} from "./type.ts";

export interface Checked {
  /** One error for each mistake, in the order of their positions. */
  readonly errors: readonly string[];
  /** The type of the whole expression. */
  readonly type: Type;
  /** Returns the type of a node of the expression. */
  typeOf(node: CelNode): Type;
  /** Returns the overloads of a function that a call may refer to. */
  overloadsOf(node: CelNode): readonly string[];
  /** Whether the node is an expression of its own, and not a part of a qualified name. */
  sees(node: CelNode): boolean;
}

export type Variables = ReadonlyMap<string, Type>;

/** The name of a variable that marks expressions which make patches: these have functions of their own. */
export const patchesMark = "@patches";

/** The names of types, which are values in expressions. */
const typeNames: ReadonlyMap<string, Type> = new Map(
  [bool, int, uint, double, string, bytes, nullType].map((type) => [type.name, typeOf(type)]),
);

/** @param messages the positions of maps that stand for messages, whose fields may have any types */
export function check(
  node: CelNode,
  text: string,
  variables: Variables,
  messages: ReadonlySet<number> = new Set(),
): Checked {
  const checker = new Checker(text, messages);
  checker.visit(node, variables);
  const found = (one: CelNode): Type => checker.final(one);
  return {
    errors: checker.errors,
    type: found(node),
    typeOf: found,
    overloadsOf: (one) => checker.overloads.get(one) ?? [],
    sees: (one) => checker.sees(one),
  };
}

interface Problem {
  readonly at: number;
  readonly what: string;
}

class Checker {
  readonly overloads = new Map<CelNode, readonly string[]>();
  readonly #types = new Map<CelNode, Type>();
  /** Lists whose items may have different types. */
  readonly #mixed = new Set<CelNode>();
  readonly #text: string;
  readonly #places: Places;
  readonly #problems: Problem[] = [];
  #bindings: Bindings = new Map();
  #free = 0;

  readonly #messages: ReadonlySet<number>;

  constructor(text: string, messages: ReadonlySet<number>) {
    this.#text = text;
    this.#messages = messages;
    this.#places = new Places(text);
  }

  get errors(): string[] {
    return this.#problems
      .toSorted((one, other) => one.at - other.at)
      .map(({ at, what }) => this.#places.error(at, what));
  }

  final(node: CelNode): Type {
    return substitute(this.#bindings, this.#types.get(node) ?? dyn, true);
  }

  sees(node: CelNode): boolean {
    return this.#types.has(node);
  }

  visit(node: CelNode, scope: Variables): Type {
    const type = this.#typeOf(node, scope);
    this.#types.set(node, type);
    return type;
  }

  #typeOf(node: CelNode, scope: Variables): Type {
    const { op, args } = node;
    switch (op) {
      case "value":
        return literalType(args);
      case "id":
        return this.#name(node, String(args), scope);
      case ".":
        return this.#select(node, args as [CelNode, string], { scope, isOptional: false });
      case ".?":
        return this.#select(node, args as [CelNode, string], { scope, isOptional: true });
      case "list":
        return this.#list(node, scope);
      case "map":
        return this.#map(node, args as [CelNode, CelNode][], scope);
      case "&&":
      case "||":
        return this.#logical(args as [CelNode, CelNode], scope);
      case "call":
        return this.#call(node, args as [string, CelNode[]], scope);
      case "rcall":
        return this.#method(node, args as [string, CelNode, CelNode[]], scope);
      case "!_":
      case "-_":
        return this.#operator(node, op, { operands: [args as CelNode], scope });
      default:
        return this.#operator(node, operators[op] ?? `_${op}_`, { operands: args as CelNode[], scope });
    }
  }

  #report(at: number, what: string): Type {
    if (this.#problems.length < 100) this.#problems.push({ at, what });
    return errorType;
  }

  #fits(from: Type, to: Type): boolean {
    const assignment = assign(this.#bindings, [from], [to]);
    if (assignment !== undefined) this.#bindings = assignment;
    return assignment !== undefined;
  }

  #fresh(): Type {
    return param(`_var${this.#free++}`);
  }

  #name(node: CelNode, name: string, scope: Variables): Type {
    const known = scope.get(name) ?? typeNames.get(name);
    if (known !== undefined) return known;
    if (name === "list") return typeOf(listOf(dyn));
    if (name === "map") return typeOf(mapOf(dyn, dyn));
    if (name === "type") return typeOf(dyn);
    return this.#undeclared(node.start, name, node);
  }

  #undeclared(at: number, name: string, { start }: CelNode): Type {
    const dot = hasLeadingDot(this.#text, start) ? "." : "";
    return this.#report(at, `undeclared reference to '${dot}${name}' (in container '')`);
  }

  #select(
    node: CelNode,
    [operand, field]: [CelNode, string],
    { scope, isOptional }: { readonly scope: Variables; readonly isOptional: boolean },
  ): Type {
    const qualified = nameOf(node);
    // A qualified name is looked up as a whole first, then part by part.
    const whole = qualified === undefined ? undefined : (scope.get(qualified) ?? qualifiedTypes.get(qualified));
    if (whole !== undefined) return whole;
    const type = substitute(this.#bindings, this.visit(operand, scope));
    const inner = unwrapped(type);
    const result = this.#fieldOf(this.#places.dot(node), inner ?? type, field);
    return inner !== undefined || isOptional ? optionalOf(result) : result;
  }

  #fieldOf(place: number, type: Type, field: string): Type {
    if (type.kind === "map") return type.params[1]!;
    if (type.kind === "struct") {
      if (type.fields === undefined) return this.#report(place, `unexpected failed resolution of '${type.name}'`);
      const member = type.fields().get(field);
      return member ?? this.#report(place, `undefined field '${field}'`);
    }
    if (type.kind === "param") this.#fits(dyn, type);
    else if (!isDynOrError(type)) this.#report(place, `type '${shown(type)}' does not support field selection`);
    return dyn;
  }

  #list(node: CelNode, scope: Variables): Type {
    const items = node.args as CelNode[];
    if (this.#mixed.has(node)) {
      const [first, ...rest] = items.map((item) => this.visit(item, scope));
      return listOf(first !== undefined && rest.every((type) => isSame(type, first)) ? first : dyn);
    }
    let joined: Type | undefined;
    for (const item of items) joined = this.#join(item, joined, this.visit(item, scope));
    return listOf(joined ?? this.#fresh());
  }

  #map(node: CelNode, entries: readonly (readonly [CelNode, CelNode])[], scope: Variables): Type {
    if (this.#messages.has(node.start)) {
      for (const part of entries.flat()) this.visit(part, scope);
      return dyn;
    }
    let [keys, values]: [Type | undefined, Type | undefined] = [undefined, undefined];
    for (const [key, value] of entries) {
      keys = this.#join(key, keys, this.visit(key, scope));
      values = this.#join(value, values, this.visit(value, scope));
    }
    return mapOf(keys ?? this.#fresh(), values ?? this.#fresh());
  }

  /** Returns the common type of a list's items. */
  #join(node: CelNode, before: Type | undefined, now: Type): Type {
    if (before === undefined) return now;
    if (this.#fits(before, now)) return mostGeneral(before, now);
    return this.#report(this.#places.of(node), `expected type '${shown(before)}' but found '${shown(now)}'`);
  }

  #logical(operands: readonly CelNode[], scope: Variables): Type {
    const types = operands.map((operand) => this.visit(operand, scope));
    let result = bool;
    for (const [index, type] of types.entries()) {
      if (this.#fits(type, bool)) continue;
      result = this.#report(this.#places.of(operands[index]!), `expected type 'bool' but found '${shown(type)}'`);
    }
    return result;
  }

  #call(node: CelNode, [name, args]: [string, CelNode[]], scope: Variables): Type {
    if (name === "has" && args.length === 1) return this.#has(node, args[0]!, scope);
    for (const arg of args) this.visit(arg, scope);
    const known = overloadsOf(name);
    const place = this.#places.of(node);
    if (known === undefined) return this.#undeclared(place, name, node);
    return this.#resolve(node, name, { known, types: args.map((arg) => this.#types.get(arg)!), isMember: false });
  }

  #has(node: CelNode, arg: CelNode, scope: Variables): Type {
    if (arg.op !== "." && arg.op !== ".?") return this.#report(this.#places.of(arg), "invalid argument to has() macro");
    const [operand, field] = arg.args as [CelNode, string];
    const type = substitute(this.#bindings, this.visit(operand, scope));
    this.#fieldOf(this.#places.of(node), unwrapped(type) ?? type, field);
    return bool;
  }

  #method(node: CelNode, [name, receiver, args]: [string, CelNode, CelNode[]], scope: Variables): Type {
    if (isMacro(name, args.length)) return this.#macro(node, [name, receiver, args], scope);
    // The arguments of `format` may have any types.
    if (name === "format" && args[0] !== undefined) this.#mix(args[0]);
    for (const arg of args) this.visit(arg, scope);
    const types = args.map((arg) => this.#types.get(arg)!);
    const prefix = nameOf(receiver);
    const isKnown = prefix !== undefined && !scope.has(prefix) && (prefix !== "jsonpatch" || scope.has(patchesMark));
    const namespaced = isKnown ? overloadsOf(`${prefix}.${name}`) : undefined;
    if (namespaced !== undefined)
      return this.#resolve(node, `${prefix}.${name}`, { known: namespaced, types, isMember: false });
    const target = this.visit(receiver, scope);
    const known = overloadsOf(name);
    if (known === undefined)
      return this.#report(this.#places.of(node), `undeclared reference to '${name}' (in container '')`);
    return this.#resolve(node, name, { known, types: [target, ...types], isMember: true });
  }

  #mix(list: CelNode): void {
    if (list.op !== "list") return;
    this.#mixed.add(list);
    for (const item of list.args as CelNode[]) this.#mix(item);
  }

  #operator(
    node: CelNode,
    name: string,
    { operands, scope }: { readonly operands: readonly CelNode[]; readonly scope: Variables },
  ): Type {
    const types = operands.map((operand) => this.visit(operand, scope));
    return this.#resolve(node, name, { known: overloadsOf(name) ?? [], types, isMember: false });
  }

  #resolve(
    node: CelNode,
    name: string,
    {
      known,
      types,
      isMember,
    }: { readonly known: readonly Overload[]; readonly types: Type[]; readonly isMember: boolean },
  ): Type {
    let result: Type | undefined;
    const chosen: string[] = [];
    for (const overload of known) {
      if (overload.isMember !== isMember) continue;
      const fresh = new Map(overload.params.map((each) => [each, this.#fresh()]));
      const parameters = overload.args.map((each) => substitute(fresh, each));
      const assignment = assign(this.#bindings, types, parameters);
      if (assignment === undefined) continue;
      this.#bindings = assignment;
      chosen.push(overload.id);
      const gives = substitute(assignment, substitute(fresh, overload.result));
      if (result === undefined) result = gives;
      else if (result.kind !== "dyn" && !isSame(gives, result)) result = dyn;
    }
    this.overloads.set(node, chosen);
    if (result !== undefined) return result;
    const args = types.map((type) => shown(substitute(this.#bindings, type, true)));
    const [target, ...rest] = args;
    const signature = isMember ? `${target}.(${rest.join(", ")})` : `(${args.join(", ")})`;
    return this.#report(this.#places.of(node), `found no matching overload for '${name}' applied to '${signature}'`);
  }

  #macro(node: CelNode, [name, receiver, args]: [string, CelNode, CelNode[]], scope: Variables): Type {
    const place = this.#places.of(node);
    if (name === "optMap" || name === "optFlatMap") {
      const target = this.visit(receiver, scope);
      // The macro expands to a test and an access.
      for (const method of ["hasValue", "value"])
        this.#resolve(node, method, { known: overloadsOf(method) ?? [], types: [target], isMember: true });
      const body = this.visit(args[1]!, new Map(scope).set(variableOf(args[0]!), unwrapped(target) ?? dyn));
      return name === "optMap" ? optionalOf(body) : body;
    }
    const shape = loopShape(name, args);
    const notName = shape.variables.find(({ op }) => op !== "id");
    if (notName !== undefined) return this.#report(this.#places.of(notName), "argument must be a simple name");
    const range = substitute(this.#bindings, this.visit(receiver, scope));
    const inner = this.#loopScope(receiver, range, { scope, variables: shape.variables.map(variableOf) });
    const bodies = shape.bodies.map((body) => [body, this.visit(body, inner)] as const);
    const last = bodies.at(-1)?.[1] ?? dyn;
    const filters = shape.filters ? bodies.slice(0, -1) : bodies;
    switch (name) {
      case "all":
      case "exists":
        for (const [body, type] of bodies) this.#needsBool(body, type);
        return bool;
      case "exists_one":
      case "existsOne":
        for (const [, type] of bodies) this.#chooses(place, type, int);
        return bool;
      case "filter": {
        const item = listOf(inner.get(variableOf(args[0]!)) ?? dyn);
        for (const [, type] of bodies) this.#chooses(place, type, item);
        return item;
      }
      case "transformMap":
      case "transformMapEntry": {
        const keys = inner.get(variableOf(args[0]!)) ?? dyn;
        const result = name === "transformMap" ? mapOf(keys, last) : last;
        for (const [, type] of filters) this.#chooses(place, type, result);
        return result;
      }
      case "sortBy":
        return range;
      default:
        for (const [, type] of filters) this.#chooses(place, type, listOf(last));
        return listOf(last);
    }
  }

  #loopScope(
    receiver: CelNode,
    range: Type,
    { scope, variables }: { readonly scope: Variables; readonly variables: readonly string[] },
  ): Variables {
    const [first = "", second] = variables;
    const bind = (key: Type, value: Type): Variables =>
      second === undefined
        ? new Map(scope).set(first, range.kind === "list" ? value : key)
        : new Map(scope).set(first, key).set(second, value);
    if (range.kind === "list") return bind(int, range.params[0]!);
    if (range.kind === "map") return bind(range.params[0]!, range.params[1]!);
    if (isDynOrError(range) || range.kind === "param") {
      this.#fits(dyn, range);
      return bind(dyn, dyn);
    }
    const what = "cannot be range of a comprehension (must be list, map, or dynamic)";
    this.#report(this.#places.of(receiver), `expression of type '${shown(range)}' ${what}`);
    return bind(errorType, errorType);
  }

  #needsBool(node: CelNode, type: Type): void {
    if (!this.#fits(type, bool)) this.#report(this.#places.of(node), `expected type 'bool' but found '${shown(type)}'`);
  }

  /** Types the condition on which a macro adds an item to its result. */
  #chooses(place: number, condition: Type, gathered: Type): void {
    if (this.#fits(condition, bool)) return;
    const signature = `(${shown(condition)}, ${shown(gathered)}, ${shown(gathered)})`;
    this.#report(place, `found no matching overload for '_?_:_' applied to '${signature}'`);
  }
}
