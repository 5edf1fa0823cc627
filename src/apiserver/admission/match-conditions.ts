/** `matchConditions`: expressions that all must hold. */
import type { Environment } from "@marcbachmann/cel-js";
import type { AdmissionAttributes } from "../hooks.ts";
import { celEnvironment } from "../schema/cel-environment.ts";
import { reviewRequest } from "./admission-review.ts";
import { CallError } from "./call-error.ts";
import type { Webhook } from "./webhook.ts";

let environment: Environment | undefined;
const programs = new Map<string, (context: Record<string, unknown>) => unknown>();

function program(expression: string): (context: Record<string, unknown>) => unknown {
  let known = programs.get(expression);
  if (known) return known;
  environment ??= ["object", "oldObject", "request", "authorizer"].reduce(
    (made, name) => made.registerVariable(name, "dyn"),
    celEnvironment().clone(),
  );
  const parsed = environment.parse(expression);
  known = (context) => parsed(context) as unknown;
  if (programs.size > 1000) programs.clear();
  programs.set(expression, known);
  return known;
}

/** @throws CallError when an expression fails and none is false */
export function conditionsHold({ name, matchConditions = [] }: Webhook, attributes: AdmissionAttributes): boolean {
  const { object, oldObject, context } = attributes;
  const request = reviewRequest(attributes, { uid: "", version: context.row.version });
  const failures: string[] = [];
  for (const condition of matchConditions) {
    try {
      const result = program(condition.expression)({ object: object ?? null, oldObject: oldObject ?? null, request });
      if (result !== true) return false;
    } catch (error) {
      const why = error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
      failures.push(`expression '${condition.expression}' resulted in error: ${why.toLowerCase()}`);
    }
  }
  if (failures.length === 0) return true;
  throw new CallError(name, failures.length === 1 ? (failures[0] ?? "") : `[${failures.join(", ")}]`, {
    isCondition: true,
  });
}
