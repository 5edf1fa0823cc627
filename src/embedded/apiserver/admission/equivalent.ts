/** What a webhook or a policy sees of a request that one of its rules means in another version: `matchPolicy: Equivalent`. */
import type { AdmissionAttributes, Equivalent, Equivalents, KubeObject } from "../hooks.ts";
import { ruleMatches } from "./rule-match.ts";
import type { Rule } from "./webhook.ts";

/** How a request is matched: as it is, or as the request of another version. */
export type Match = "own" | Equivalent;

export interface MatchOptions {
  /** @default Equivalent */
  readonly matchPolicy?: string | undefined;
  readonly equivalents: Equivalents;
}

/** The first match of a rule; the request's own version comes before all others. */
export function matchOf(
  rules: readonly Rule[],
  { context }: AdmissionAttributes,
  { matchPolicy, equivalents }: MatchOptions,
): Match | undefined {
  const { row, subresource } = context;
  if (rules.some((rule) => ruleMatches(rule, context, row))) return "own";
  if (matchPolicy === "Exact") return undefined;
  const others = equivalents(row).filter(
    (other) => subresource === "" || other.row.subresources.some(({ name }) => name === subresource),
  );
  for (const rule of rules) {
    const found = others.find((other) => ruleMatches(rule, context, other.row));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The request in the version of the match, with its objects converted. */
export function seenAs(
  match: Match,
  attributes: AdmissionAttributes,
): AdmissionAttributes | Promise<AdmissionAttributes> {
  if (match === "own") return attributes;
  const object = attributes.object && match.convert(attributes.object);
  const oldObject = attributes.oldObject && match.convert(attributes.oldObject);
  if (!(object instanceof Promise) && !(oldObject instanceof Promise))
    return { ...attributes, object, oldObject, matched: match.row };
  return Promise.all([object, oldObject]).then(([one, old]) => ({
    ...attributes,
    object: one,
    oldObject: old,
    matched: match.row,
  }));
}

/** An object that was changed in the version of the match, in that of the request. @param before the request's */
export function reverted(
  match: Match,
  object: KubeObject,
  before: KubeObject | undefined,
): KubeObject | Promise<KubeObject> {
  return match === "own" ? object : match.revert(object, before ?? object);
}
