/** Every case: the generated ones and the written sequences. */
import type { Case } from "./case.ts";
import type { Served } from "./discovery.ts";
import { fieldCases } from "./fields/cases.ts";
import { generatedCases } from "./generated/cases.ts";
import { admission } from "./sequences/admission.ts";
import { allocation } from "./sequences/allocation.ts";
import { embedded } from "./sequences/embedded.ts";
import { custom } from "./sequences/custom.ts";
import { listing } from "./sequences/listing.ts";
import { deletion } from "./sequences/deletion.ts";
import { mutatingPolicies } from "./sequences/mutating-policies.ts";
import { podSecurity } from "./sequences/pod-security.ts";
import { policies } from "./sequences/policies.ts";
import { protocol } from "./sequences/protocol.ts";
import { conversion } from "./sequences/conversion.ts";
import { versions } from "./sequences/versions.ts";
import { costs } from "./sequences/costs.ts";
import { watching } from "./sequences/watching.ts";
import { webhooks } from "./sequences/webhooks.ts";

/** The share that `npm test` takes. */
export const usualShare = 0.02;

/** @param share of the cases that vary each field: 1 for all of them */
export function allCases(served: readonly Served[], share: number): Case[] {
  return [
    ...generatedCases(served),
    ...watching,
    ...listing,
    ...protocol,
    ...custom,
    ...deletion,
    ...webhooks,
    ...admission,
    podSecurity,
    ...policies,
    ...mutatingPolicies,
    ...versions,
    ...costs,
    ...conversion,
    ...allocation,
    ...embedded,
    ...fieldCases(served, share),
  ];
}
