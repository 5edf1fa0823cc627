/** Calls webhooks: mutating ones one after the other, validating ones in parallel. */
import { randomUUID } from "node:crypto";
import { deepEquals } from "#platform/equality";
import type { AdmissionAttributes, Equivalents, Fields, KubeObject, Reader } from "../hooks.ts";
import { jsonPatch, PatchFailure } from "../patch/json-patch.ts";
import { badRequest, internalError, StatusError } from "../status.ts";
import { readReview, reviewRequest, UndecodableAnswer, UndecodablePatch, type Verdict } from "./admission-review.ts";
import { CallError } from "./call-error.ts";
import { type Match, reverted, seenAs, matchOf } from "./equivalent.ts";
import type { Webhook } from "./webhook.ts";
import { post } from "./webhook-client.ts";
import { conditionsOf, PolicyProblem } from "./policies/matching.ts";
import { isExempt, matchesSelectors } from "./rule-match.ts";

interface Around {
  readonly reader: Reader;
  readonly equivalents: Equivalents;
}

/**
 * Calls mutating webhooks in order, and those that ask for it once more when a later one changed the object.
 *
 * @param again runs the server's own plugins on a changed object
 * @throws StatusError when a webhook denies the request, or fails and its failure is not ignored
 */
export async function askMutating(
  webhooks: readonly Webhook[],
  attributes: AdmissionAttributes,
  { again, ...around }: Around & { readonly again: () => void },
): Promise<void> {
  const seen: Webhook[] = [];
  const matching = new Set<Webhook>();
  let isChanged = false;
  for (const webhook of webhooks) {
    const changed = await mutate(webhook, attributes, around);
    if (changed === undefined) continue;
    if (changed) {
      isChanged = true;
      for (const earlier of seen.splice(0)) matching.add(earlier);
    }
    if (webhook.reinvocationPolicy === "IfNeeded") seen.push(webhook);
  }
  if (!isChanged) return;
  const before = structuredClone(attributes.object);
  again();
  const hasOwnChange = !deepEquals(before, attributes.object);
  for (const webhook of webhooks) {
    if (matching.has(webhook) || (hasOwnChange && seen.includes(webhook))) await mutate(webhook, attributes, around);
  }
}

/** Calls validating webhooks in parallel; the first denial decides. @throws StatusError */
export async function askValidating(
  webhooks: readonly Webhook[],
  attributes: AdmissionAttributes,
  around: Around,
): Promise<void> {
  const outcomes = await Promise.allSettled(
    webhooks.map((webhook) => ask(webhook, attributes, { ...around, isMutating: false })),
  );
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
}

/** Calls one webhook. @returns whether the object changed; `undefined` when the webhook was not called */
async function mutate(webhook: Webhook, attributes: AdmissionAttributes, around: Around): Promise<boolean | undefined> {
  const answer = await ask(webhook, attributes, { ...around, isMutating: true });
  if (answer === undefined) return undefined;
  const { verdict, match, seen } = answer;
  const { object } = seen;
  if (verdict.patch === undefined || !Array.isArray(verdict.patch) || verdict.patch.length === 0) return false;
  if (object === undefined) {
    throw internalError(
      `admission webhook ${JSON.stringify(webhook.name)} attempted to modify the object, which is not supported for this operation`,
    );
  }
  const next = patched(object, verdict.patch);
  if (deepEquals(next, object)) return false;
  attributes.object = await reverted(match, next, attributes.object);
  return true;
}

/** Applies a webhook's patch. @throws StatusError 500 when that is impossible */
function patched(object: KubeObject, patch: readonly unknown[]): KubeObject {
  try {
    return jsonPatch(object, patch) as KubeObject;
  } catch (error) {
    if (error instanceof PatchFailure) throw internalError(error.why);
    throw internalError(error instanceof Error ? error.message : String(error));
  }
}

interface AskOptions extends Around {
  readonly isMutating: boolean;
}

interface Asked {
  readonly verdict: Verdict;
  readonly match: Match;
  /** The request as the webhook saw it. */
  readonly seen: AdmissionAttributes;
}

async function ask(webhook: Webhook, attributes: AdmissionAttributes, options: AskOptions): Promise<Asked | undefined> {
  try {
    const match = webhookMatch(webhook, attributes, options.equivalents);
    if (match === undefined) return undefined;
    const seen = match === "own" ? attributes : await seenAs(match, attributes);
    if ((webhook.matchConditions ?? []).length > 0 && !conditionsHold(webhook, seen)) return undefined;
    const verdict = await review(webhook, seen, options);
    for (const warning of verdict.warnings) attributes.context.warn(warning);
    if (!verdict.allowed) throw refusal(webhook.name, verdict.status);
    return { verdict, match, seen };
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    if (webhook.failurePolicy === "Ignore") return undefined;
    if (error.isCondition) throw conditionFailure(attributes, error.message);
    throw internalError(`failed calling webhook ${JSON.stringify(webhook.name)}: ${error.message}`);
  }
}

async function review(
  webhook: Webhook,
  attributes: AdmissionAttributes,
  { reader, isMutating }: AskOptions,
): Promise<Verdict> {
  const { name, sideEffects, timeoutSeconds = 10, admissionReviewVersions = [], clientConfig } = webhook;
  if (attributes.context.dryRun && sideEffects !== "None" && sideEffects !== "NoneOnDryRun") {
    throw badRequest(`admission webhook ${JSON.stringify(name)} does not support dry run`);
  }
  const reviewVersion = admissionReviewVersions.find((each) => each === "v1" || each === "v1beta1");
  if (reviewVersion === undefined) {
    const why = "webhook does not accept known AdmissionReview versions (v1, v1beta1)";
    throw new CallError(name, `could not create admission objects: ${why}`);
  }
  const uid: string = randomUUID();
  const apiVersion = `admission.k8s.io/${reviewVersion}`;
  const body = { kind: "AdmissionReview", apiVersion, request: reviewRequest(attributes, uid) };
  let answer: unknown;
  try {
    answer = await post(clientConfig, body, { reader, timeout: timeoutSeconds });
  } catch (error) {
    throw new CallError(name, `failed to call webhook: ${error instanceof Error ? error.message : String(error)}`);
  }
  try {
    return readReview(answer, { uid, apiVersion, isMutating });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    if (error instanceof UndecodableAnswer) throw new CallError(name, `failed to call webhook: ${why}`);
    if (error instanceof UndecodablePatch)
      throw new CallError(name, `received undecodable patch in webhook response: ${why}`);
    throw new CallError(name, `received invalid webhook response: ${why}`);
  }
}

/** Makes the error for the client whose request a webhook denied. */
function refusal(name: string, status: Fields | undefined): StatusError {
  const denied = `admission webhook ${JSON.stringify(name)} denied the request`;
  const {
    message: said,
    reason,
    code = 0,
    details,
  } = (status ?? {}) as {
    message?: string;
    reason?: string;
    code?: number;
    details?: Fields;
  };
  const message = said ? `${denied}: ${said}` : reason ? `${denied}: ${reason}` : `${denied} without explanation`;
  return new StatusError(code < 400 ? 400 : code, reason ?? "", {
    message,
    ...(details === undefined ? {} : { details }),
  });
}

function conditionFailure({ context }: AdmissionAttributes, why: string): StatusError {
  const { row, name } = context;
  const resource = row.group === "" ? row.plural : `${row.plural}.${row.group}`;
  const what = name === "" ? resource : `${resource} ${JSON.stringify(name)}`;
  const details = {
    ...(name === "" ? {} : { name }),
    ...(row.group === "" ? {} : { group: row.group }),
    kind: row.plural,
  };
  return new StatusError(403, "Forbidden", { message: `${what} is forbidden: ${why}`, details });
}

/** Evaluates match conditions. @throws CallError when a condition fails and none is false */
function conditionsHold(webhook: Webhook, attributes: AdmissionAttributes): boolean {
  try {
    return conditionsOf(webhook, attributes, undefined);
  } catch (error) {
    if (!(error instanceof PolicyProblem)) throw error;
    throw new CallError(webhook.name, error.message, { isCondition: true });
  }
}

/** Returns how the request matches the webhook's rules; `undefined` when it does not. Match conditions are not evaluated here. */
function webhookMatch(
  { rules = [], matchPolicy, ...webhook }: Webhook,
  attributes: AdmissionAttributes,
  equivalents: Equivalents,
): Match | undefined {
  if (isExempt(attributes.context.row)) return undefined;
  const match = matchOf(rules, attributes, { matchPolicy, equivalents });
  return match !== undefined && matchesSelectors(webhook, attributes) ? match : undefined;
}
