/** Every case: the generated ones and the written sequences. */
import type { Case } from "./case.ts";
import type { Served } from "./discovery.ts";
import { generatedCases } from "./generated/cases.ts";

export function allCases(served: readonly Served[]): Case[] {
  return [...generatedCases(served)];
}
