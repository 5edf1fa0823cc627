/**
 * Implements `matchPolicy: Equivalent`: the form in which a webhook or policy gets a request that one of its rules
 * matches in another version.
 */
import type { AdmissionAttributes, Equivalent, Equivalents, KubeObject } from "../hooks.ts";
import { ruleMatches } from "./rule-match.ts";
import type { Rule } from "./webhook.ts";

/** How a request matches: in its own version, or converted to another one. */
export type Match = "own" | Equivalent;

export interface MatchOptions {
  /** @default Equivalent */
  readonly matchPolicy?: string | undefined;
  readonly equivalents: Equivalents;
}

/** Returns the first match of a rule; the request's own version takes precedence over all others. */
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
    const match = others.find((other) => ruleMatches(rule, context, other.row));
    if (match !== undefined) return match;
  }
  return undefined;
}

/** Returns the request in the version of the match, with its objects converted. */
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

/**
 * Converts an object that was changed in the version of the match back to the request's version. @param before the
 * request's object
 */
export function reverted(
  match: Match,
  object: KubeObject,
  before: KubeObject | undefined,
): KubeObject | Promise<KubeObject> {
  return match === "own" ? object : match.revert(object, before ?? object);
}
