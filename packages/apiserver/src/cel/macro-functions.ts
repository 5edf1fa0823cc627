/** Adds macros of cel-go that the interpreter lacks: loops over keys and values, and those of optional values. */
import type { Environment, Optional } from "@marcbachmann/cel-js";
import { charge, spentSoFar } from "./cost-meter.ts";
import { compared } from "./call-costs.ts";
import { celLibrary } from "./library.ts";

// The fields of the interpreter's syntax nodes that macros use.
interface Node {
  readonly op: string;
  readonly args: unknown;
}
interface Scope {
  forkWithVariable(name: string, type: unknown): Scope;
  reuse(outer: unknown): Scope;
  setIterValue(value: unknown, evaluator: unknown): Scope;
}
interface Checker {
  check(node: Node, scope: Scope): unknown;
  getType(name: string): unknown;
}
interface Evaluator {
  run(node: Node, scope: unknown): unknown;
}
interface MacroCall {
  readonly args: readonly Node[];
  readonly receiver: Node;
}
function variableName({ op, args }: Node): string {
  if (op !== "id") throw new Error("argument must be a simple name");
  return String(args);
}

interface Loop {
  readonly receiver: Node;
  readonly variables: readonly string[];
  readonly bodies: readonly Node[];
  inner: Scope[];
  /** Whether the last body is a constant; metering knows. */
  isConstant?: boolean;
  /** Whether the type of the last body is known. */
  isTyped?: boolean;
}
/** One entry of the loop; the third element evaluates one of the bodies for it. */
type Entry = readonly [key: unknown, value: unknown, give: (body: number) => unknown];

function macro(count: 1 | 2, result: string, finish: (entries: readonly Entry[], loop: Loop) => unknown) {
  return ({ args, receiver }: MacroCall) => ({
    receiver,
    variables: args.slice(0, count).map(variableName),
    bodies: args.slice(count),
    inner: [] as Scope[],
    async: false,
    typeCheck(checker: Checker, loop: Loop, scope: Scope): unknown {
      checker.check(loop.receiver, scope);
      let inner = scope;
      for (const name of loop.variables)
        loop.inner.push((inner = inner.forkWithVariable(name, checker.getType("dyn"))));
      for (const body of loop.bodies) checker.check(body, inner);
      return checker.getType(result);
    },
    evaluate(evaluator: Evaluator, loop: Loop, scope: unknown): unknown {
      const over = evaluator.run(loop.receiver, scope);
      const isMap = !Array.isArray(over);
      const pairs: [unknown, unknown][] = isMap
        ? over instanceof Map
          ? [...over]
          : Object.entries(over as object)
        : over.map((item, index) => [BigInt(index), item]);
      const entries = pairs.map(([key, value]): Entry => {
        const give = (body: number): unknown => {
          let inner = scope;
          for (const [index, each] of loop.inner.entries())
            inner = each.reuse(inner).setIterValue(count === 1 ? value : index === 0 ? key : value, evaluator);
          return evaluator.run(loop.bodies[body]!, inner);
        };
        return [key, value, give];
      });
      return finish(entries, loop);
    },
  });
}

/** Yields the entries for which the filters before the last body hold, with the value of the last body. */
function* chosen(entries: readonly Entry[], { bodies }: Loop): Generator<readonly [key: unknown, value: unknown]> {
  for (const [key, , give] of entries)
    if (bodies.length === 1 || give(0) === true) yield [key, give(bodies.length - 1)];
}

/** What a list of one item, which is added to the result of a loop, costs with the addition. */
function addition({ isConstant = false }: Loop): number {
  return isConstant ? 2 : 12;
}

/** Looks for an entry of which the body is true, or is not. @param test what the test before each entry costs */
function finds(entries: readonly Entry[], { wanted, test }: { readonly wanted: boolean; readonly test: number }) {
  let isFound = false;
  for (const [, , give] of entries) {
    charge(test);
    if (isFound) break;
    charge(1);
    isFound = (give(0) === true) === wanted;
  }
  charge(1);
  return isFound;
}

function isOne(entries: readonly Entry[]): boolean {
  let count = 0;
  for (const [, , give] of entries) {
    if (give(0) !== true) continue;
    count++;
    charge(2);
  }
  charge(2);
  return count === 1;
}

function transformed(entries: readonly Entry[], loop: Loop): unknown[] {
  const list: unknown[] = [];
  for (const [, value] of chosen(entries, loop)) {
    list.push(value);
    charge(addition(loop));
  }
  charge(1);
  return list;
}

function transformedMap(entries: readonly Entry[], loop: Loop): Map<unknown, unknown> {
  const map = new Map<unknown, unknown>();
  for (const [key, value] of chosen(entries, loop)) {
    map.set(key, value);
    charge(3);
  }
  charge(1);
  return map;
}

/** Makes a map of the entries of small maps. @throws Error when two have the same key */
function mergedMap(entries: readonly Entry[], loop: Loop): Map<unknown, unknown> {
  const map = new Map<unknown, unknown>();
  for (const [, part] of chosen(entries, loop)) {
    for (const [key, value] of part instanceof Map ? part : Object.entries(part as object)) {
      if (map.has(key)) throw new Error(`insert failed: key ${String(key)} already exists`);
      map.set(key, value);
    }
    charge(2);
  }
  charge(1);
  return map;
}

function sortedBy(entries: readonly Entry[], loop: Loop): unknown[] {
  charge(2);
  const keys: unknown[] = [];
  for (const [, , give] of entries) {
    keys.push(give(0));
    charge(addition(loop));
  }
  charge(1 + (loop.isTyped === true ? compared(keys) : 1));
  return entries
    .map(([, value], index) => [keys[index] as number, value] as const)
    .toSorted(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0))
    .map(([, value]) => value);
}

export function registerLoops(environment: Environment): void {
  const register = environment.registerFunction.bind(environment) as unknown as (text: string, macro: unknown) => void;
  for (const over of ["list", "map"]) {
    register(
      `${over}.all(ast, ast, ast): bool`,
      macro(2, "bool", (entries) => !finds(entries, { wanted: false, test: 2 })),
    );
    register(
      `${over}.exists(ast, ast, ast): bool`,
      macro(2, "bool", (entries) => finds(entries, { wanted: true, test: 3 })),
    );
    for (const name of ["exists_one", "existsOne"])
      register(`${over}.${name}(ast, ast, ast): bool`, macro(2, "bool", isOne));
    for (const bodies of ["ast", "ast, ast"]) {
      register(`${over}.transformList(ast, ast, ${bodies}): dyn`, macro(2, "dyn", transformed));
      register(`${over}.transformMap(ast, ast, ${bodies}): dyn`, macro(2, "dyn", transformedMap));
      register(`${over}.transformMapEntry(ast, ast, ${bodies}): dyn`, macro(2, "dyn", mergedMap));
    }
  }
  register("list.sortBy(ast, ast): dyn", macro(1, "dyn", sortedBy));
}

/**
 * Makes a macro that evaluates its second argument for the value of an optional; its first argument names that value.
 */
function mapping(finish: (result: unknown) => unknown) {
  return ({ args, receiver }: MacroCall) => ({
    receiver,
    name: variableName(args[0]!),
    body: args[1]!,
    inner: undefined as Scope | undefined,
    async: false,
    typeCheck(checker: Checker, macro: { inner: Scope | undefined }, scope: Scope): unknown {
      checker.check(receiver, scope);
      macro.inner = scope.forkWithVariable(variableName(args[0]!), checker.getType("dyn"));
      checker.check(args[1]!, macro.inner);
      return checker.getType("optional<dyn>");
    },
    evaluate(evaluator: Evaluator, macro: { readonly inner: Scope | undefined }, scope: unknown): unknown {
      const before = spentSoFar();
      const optional = evaluator.run(receiver, scope) as Optional;
      const again = spentSoFar() - before;
      charge(1);
      if (!optional.hasValue()) {
        charge(1);
        return celLibrary().Optional.none();
      }
      // cel-go evaluates the optional once more to get its value, which is one call.
      charge(again + 1);
      const inner = macro.inner!.reuse(scope).setIterValue(optional.value(), evaluator);
      return finish(evaluator.run(args[1]!, inner));
    },
  });
}

export function registerOptionals(environment: Environment): void {
  const { Optional } = celLibrary();
  const register = environment.registerFunction.bind(environment) as unknown as (text: string, macro: unknown) => void;
  register(
    "optional.optMap(ast, ast): optional<dyn>",
    mapping((result) => {
      charge(1);
      return Optional.of(result);
    }),
  );
  register(
    "optional.optFlatMap(ast, ast): optional<dyn>",
    mapping((result) => result),
  );
  environment.registerOperator("optional<A> == optional<A>", (a: Optional, b: Optional) => {
    if (!a.hasValue() || !b.hasValue()) return a.hasValue() === b.hasValue();
    return environment.evaluate("self[0] == self[1]", { self: [a.value(), b.value()] }) === true;
  });
  environment.registerFunction("OptionalNamespace.ofNonZeroValue(dyn): optional<dyn>", (_: unknown, value: unknown) =>
    isZero(value) ? Optional.none() : Optional.of(value),
  );
  const at = (list: readonly unknown[], index: number): unknown =>
    list.length === 0 ? Optional.none() : Optional.of(list.at(index));
  register("list.first(): optional<dyn>", (list: readonly unknown[]) => at(list, 0));
  register("list.last(): optional<dyn>", (list: readonly unknown[]) => at(list, -1));
}

/** Whether it is the value that a type begins with, such as an empty text. */
function isZero(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return !value;
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length === 0;
  if (value instanceof Map) return value.size === 0;
  const prototype: unknown = Object.getPrototypeOf(value);
  return (prototype === Object.prototype || prototype === null) && Object.keys(value).length === 0;
}
