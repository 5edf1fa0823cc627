/** Every case: the generated ones and the written sequences. */
import type { Case } from "./case.ts";
import type { Served } from "./discovery.ts";
import { generatedCases } from "./generated/cases.ts";
import { custom } from "./sequences/custom.ts";
import { listing } from "./sequences/listing.ts";
import { deletion } from "./sequences/deletion.ts";
import { watching } from "./sequences/watching.ts";
import { webhooks } from "./sequences/webhooks.ts";

export function allCases(served: readonly Served[]): Case[] {
  return [...generatedCases(served), ...watching, ...listing, ...custom, ...deletion, ...webhooks];
}
