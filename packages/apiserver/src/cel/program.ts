/** An expression that is compiled once and evaluated for many objects. */
import type { Environment } from "@marcbachmann/cel-js";
import { check, type Variables } from "./checker.ts";
import { measured, type Outcome } from "./cost-meter.ts";
import { matchAsGo } from "./matches.ts";
import { meter } from "./metering.ts";
import { withoutLeadingDots } from "./tokens.ts";

export interface Program {
  /** Evaluates the expression with these variables. It does not throw: what goes wrong is the outcome's error. */
  run(variables: Readonly<Record<string, unknown>>): Outcome;
}

export interface ProgramOptions {
  readonly environment: Environment;
  /** The types of the variables. They decide what some functions cost, and nothing else. */
  readonly types: Variables;
  /** The positions of maps that stand for messages. @default none */
  readonly messages?: ReadonlySet<number>;
}

/** Compiles an expression. @throws Error when it cannot be parsed */
export function programOf(expression: string, { environment, types, messages }: ProgramOptions): Program {
  const parsed = environment.parse(withoutLeadingDots(expression));
  const cost = meter(parsed.ast, check(parsed.ast, expression, types, messages), messages);
  matchAsGo(parsed.ast);
  return { run: (variables) => measured(cost, () => parsed(variables) as unknown) };
}
