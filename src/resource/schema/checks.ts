/** Translates zod's checks of a schema; a check that the API server cannot make is rejected. */
import type { z } from "zod";
import { SchemaProblem } from "./structural.ts";

type Check = z.core.$ZodChecks["_zod"]["def"];

/** Returns the checks of a schema; a format such as `z.email()` is its own first check. */
export function checksOf(schema: z.core.$ZodType, path: string): readonly Check[] {
  const { def, traits } = schema._zod;
  const own = traits.has("$ZodCheck") ? [def as unknown as Check] : [];
  const checks = [...own, ...(def.checks ?? []).map((check) => check._zod.def as Check)];
  for (const { check } of checks) {
    if ((check as string) === "custom") {
      throw new SchemaProblem(
        path,
        ".refine(), .superRefine() and .check() run in JavaScript only, the API server would not know: " +
          "write a CEL rule, `rules: [{ rule, message }]` of the definition or `.meta({ rules: [{ rule, message }] })`",
      );
    }
    if (check === "overwrite") {
      throw new SchemaProblem(
        path,
        ".trim(), .toLowerCase(), .normalize() and other changes of the value do not happen in the API server: " +
          "check the form with .regex() and change the value in your code",
      );
    }
  }
  return checks;
}

/** Makes the error for a check without a counterpart. */
export function unknownCheck(path: string, check: string): SchemaProblem {
  return new SchemaProblem(
    path,
    `the check "${check}" has no counterpart in the API server: write a CEL rule with .meta({ rules })`,
  );
}

/** Rejects every check, for types without checks in the API server. */
export function refuseChecks(schema: z.core.$ZodType, path: string): void {
  for (const { check } of checksOf(schema, path)) throw unknownCheck(path, check);
}

/** Returns the minimum and maximum length that the checks allow, and the remaining checks. */
export function lengthsOf(checks: readonly Check[]): {
  readonly min: number | undefined;
  readonly max: number | undefined;
  readonly rest: readonly Check[];
} {
  let min: number | undefined;
  let max: number | undefined;
  const rest: Check[] = [];
  for (const check of checks) {
    if (check.check === "min_length") min = Math.max(min ?? 0, check.minimum);
    else if (check.check === "max_length") max = Math.min(max ?? Infinity, check.maximum);
    else if (check.check === "length_equals") min = max = check.length;
    else rest.push(check);
  }
  return { min, max, rest };
}
