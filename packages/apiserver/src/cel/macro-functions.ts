/** Adds macros of cel-go that the interpreter lacks: loops over keys and values, and those of optional values. */
import type { Environment, Optional } from "@marcbachmann/cel-js";
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
}
/** One entry of the loop; the third element evaluates one of the bodies for it. */
type Entry = readonly [key: unknown, value: unknown, give: (body: number) => unknown];

function macro(
  count: 1 | 2,
  result: string,
  finish: (entries: readonly Entry[], bodies: number, isMap: boolean) => unknown,
) {
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
      return finish(entries, loop.bodies.length, isMap);
    },
  });
}

/** Returns the entries for which the filters before the last body hold. */
function chosen(entries: readonly Entry[], bodies: number): readonly Entry[] {
  return bodies > 1 ? entries.filter(([, , give]) => give(0) === true) : entries;
}

export function registerLoops(environment: Environment): void {
  const register = environment.registerFunction.bind(environment) as unknown as (text: string, macro: unknown) => void;
  for (const over of ["list", "map"]) {
    register(
      `${over}.all(ast, ast, ast): bool`,
      macro(2, "bool", (all) => all.every(([, , give]) => give(0) === true)),
    );
    register(
      `${over}.exists(ast, ast, ast): bool`,
      macro(2, "bool", (all) => all.some(([, , give]) => give(0) === true)),
    );
    for (const name of ["exists_one", "existsOne"])
      register(
        `${over}.${name}(ast, ast, ast): bool`,
        macro(2, "bool", (all) => all.filter(([, , give]) => give(0) === true).length === 1),
      );
    for (const bodies of ["ast", "ast, ast"]) {
      register(
        `${over}.transformList(ast, ast, ${bodies}): dyn`,
        macro(2, "dyn", (all, count) => chosen(all, count).map(([, , give]) => give(count - 1))),
      );
      register(
        `${over}.transformMap(ast, ast, ${bodies}): dyn`,
        macro(2, "dyn", (all, count) => new Map(chosen(all, count).map(([key, , give]) => [key, give(count - 1)]))),
      );
    }
  }
  register(
    "list.sortBy(ast, ast): dyn",
    macro(1, "dyn", (all) =>
      all
        .map(([, value, give]) => [give(0) as number, value] as const)
        .toSorted(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0))
        .map(([, value]) => value),
    ),
  );
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
      const optional = evaluator.run(receiver, scope) as Optional;
      if (!optional.hasValue()) return celLibrary().Optional.none();
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
    mapping((result) => Optional.of(result)),
  );
  register(
    "optional.optFlatMap(ast, ast): optional<dyn>",
    mapping((result) => result),
  );
  environment.registerOperator("optional<A> == optional<A>", (a: Optional, b: Optional) => {
    if (!a.hasValue() || !b.hasValue()) return a.hasValue() === b.hasValue();
    return environment.evaluate("self[0] == self[1]", { self: [a.value(), b.value()] }) === true;
  });
  const at = (list: readonly unknown[], index: number): unknown =>
    list.length === 0 ? Optional.none() : Optional.of(list.at(index));
  register("list.first(): optional<dyn>", (list: readonly unknown[]) => at(list, 0));
  register("list.last(): optional<dyn>", (list: readonly unknown[]) => at(list, -1));
}
