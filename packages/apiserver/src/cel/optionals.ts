/** What cel-go offers for optional values and the interpreter lacks: macros that map them, and the ends of lists. */
import type { Environment, Optional } from "@marcbachmann/cel-js";
import { celLibrary } from "./library.ts";
import { type Checker, type Evaluator, type Found, type Scope, variableName } from "./macro-parts.ts";

/** Makes a macro that evaluates its second argument for the value of an optional, which has the name of the first. */
function mapping(finish: (result: unknown) => unknown) {
  return ({ args, receiver }: Found) => ({
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
      const found = evaluator.run(receiver, scope) as Optional;
      if (!found.hasValue()) return celLibrary().Optional.none();
      const inner = macro.inner!.reuse(scope).setIterValue(found.value(), evaluator);
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
