/** Every case: the generated ones and the written sequences. */
import { allAccess } from "./access/all-access.ts";
import type { Case } from "./case.ts";
import type { Served } from "./discovery.ts";
import { allFamilies } from "./families/all-families.ts";
import { fieldCases } from "./fields/cases.ts";
import { generatedCases } from "./generated/cases.ts";
import { admission } from "./sequences/admission.ts";
import { allocation } from "./sequences/allocation.ts";
import { embedded } from "./sequences/embedded.ts";
import { custom } from "./sequences/custom.ts";
import { listOptions } from "./sequences/list-options.ts";
import { listing } from "./sequences/listing.ts";
import { deletion } from "./sequences/deletion.ts";
import { mutatingPolicies } from "./sequences/mutating-policies.ts";
import { podSecurity } from "./sequences/pod-security.ts";
import { policies } from "./sequences/policies.ts";
import { protocol } from "./sequences/protocol.ts";
import { conversion } from "./sequences/conversion.ts";
import { versions } from "./sequences/versions.ts";
import { allStrangers } from "./strangers/all-strangers.ts";
import { costs } from "./sequences/costs.ts";
import { watching } from "./sequences/watching.ts";
import { webhooks } from "./sequences/webhooks.ts";

/** The share of very many exchanges that is played, always the same ones: 1 for all of them. */
export interface Selected {
  /** The share of those that vary each field of each kind. */
  readonly share: number;
  /** The share of those that make one field of a sample wrong. */
  readonly wrong: number;
  /** The share of those that are answered alike for each kind, of which every kind plays others. @default 1 */
  readonly general?: number;
  /** The share of the worlds of roles and users. */
  readonly worlds: number;
  /** The share of those of the families and of strangers. */
  readonly families: number;
  /** The share of the cases of strangers. @default that of the families when all of these are played, 0 otherwise */
  readonly strangers?: number;
  /** Chooses the exchanges of strangers: another number gives such as nobody has seen. @default 0 */
  readonly seed?: number;
  /** Whether the written sequences are played, which wait for what kube-apiserver does by itself. @default true */
  readonly sequences?: boolean;
  /** Of what is left each case whose number this divides. @default 1 */
  readonly every?: number;
}

/** What `npm test` plays. */
export const usual: Selected = {
  share: 0.01,
  wrong: 0.1,
  general: 0.2,
  worlds: 0.03,
  families: 0.04,
  strangers: 0.04,
  seed: 2,
};

/** What `npm test` plays on a second runtime. */
export const brief: Selected = {
  share: 0.002,
  wrong: 0.02,
  general: 0.3,
  worlds: 0.02,
  families: 0.02,
  sequences: false,
  every: 12,
};

export function allCases(
  served: readonly Served[],
  { share, wrong, general = 1, worlds, families, strangers, seed = 0, sequences = true, every = 1 }: Selected,
): Case[] {
  const visited = strangers ?? (families < 1 ? 0 : families);
  const all = [
    ...generatedCases(served, { wrong, general }),
    ...(sequences ? written : []),
    ...allAccess(worlds),
    ...allFamilies(families),
    ...(visited > 0 ? allStrangers(served, { share: visited, seed }) : []),
    ...fieldCases(served, share),
  ];
  const played = all.filter((_, index) => index % every === 0);
  return played.toSorted((one, other) => Number(early.has(other.name)) - Number(early.has(one.name)));
}

/** These show what a server serves: they go before cases that define kinds, of which kube-apiserver lets go late. */
const early: ReadonlySet<string> = new Set(["openapi paths", "plain paths"]);

const written: readonly Case[] = [
  ...watching,
  ...listing,
  ...listOptions,
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
];
