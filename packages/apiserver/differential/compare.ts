/** Finds where two responses differ. */
import { type Answer, type CaseRecord, type Exchange, noAnswer } from "./case.ts";
import { comparedPart, isOfDecoder, isOfItsValidation, tierOf, tierOfWarnings } from "./tiers.ts";

export interface Difference {
  readonly field: string;
  readonly expected: unknown;
  readonly actual: unknown;
}

export interface ExchangeDifference {
  readonly caseName: string;
  readonly expected: Exchange | undefined;
  readonly actual: Exchange | undefined;
  readonly differences: readonly Difference[];
}

/** Pairs one server's numbered names with the other's; each has exactly one partner. */
class Pairing {
  readonly #there = new Map<string, string>();
  readonly #back = new Map<string, string>();

  same(expected: string, actual: string): boolean {
    if (!expected.includes("<") || !actual.includes("<")) return expected === actual;
    const [left, right] = [expected.match(numbered) ?? [], actual.match(numbered) ?? []];
    if (expected.replace(numbered, "<$1>") !== actual.replace(numbered, "<$1>")) return false;
    return left.every((name, index) => this.#pair(name, right[index] ?? ""));
  }

  #pair(expected: string, actual: string): boolean {
    const partner = this.#there.get(expected);
    if (partner !== undefined) return partner === actual;
    if (this.#back.has(actual)) return false;
    this.#there.set(expected, actual);
    this.#back.set(actual, expected);
    return true;
  }
}

const numbered = /<(uid|version|address|port|generated) \d+( of another shape)?>/g;

/** Exchanges are paired by their labels; those to which the first server did not respond are left out. */
export function compareCases(expected: CaseRecord | undefined, actual: CaseRecord): ExchangeDifference[] {
  const differing: ExchangeDifference[] = [];
  const pairing = new Pairing();
  const others = Map.groupBy(actual.exchanges, ({ label }) => label);
  const pairs = (expected?.exchanges ?? []).map((left) => [left, others.get(left.label)?.shift()] as const);
  const unexpected = [...others.values()].flat().map((right) => [undefined, right] as const);
  for (const [left, right] of [...pairs, ...unexpected]) {
    if (left?.answer.status === noAnswer || (left && isOfItsValidation(left.call.path, left.answer))) continue;
    const differences: Difference[] = [];
    if (left === undefined || right === undefined) {
      differences.push({ field: "(exchange)", expected: left?.label, actual: right?.label });
    } else {
      const isFree = isOfDecoder(left.answer.body) || isOfDecoder(right.answer.body);
      const tier = isFree ? "outcome" : (actual.tier ?? tierOf(right.call.path));
      const tiers = { tier, warnings: tier === "words" ? tierOfWarnings(right.call.path) : tier };
      const [one, other] = [comparedPart(left.answer, tiers), comparedPart(right.answer, tiers)];
      compareAnswers(one, other, { into: differences, pairing });
    }
    if (differences.length > 0) differing.push({ caseName: actual.name, expected: left, actual: right, differences });
  }
  return differing;
}

function compareAnswers(expected: Answer, actual: Answer, { into, pairing }: Omit<Place, "field">): void {
  if (expected.status !== actual.status) {
    into.push({ field: "(code)", expected: expected.status, actual: actual.status });
  }
  compareValues(expected.headers, actual.headers, { field: "(header)", into, pairing });
  compareValues(expected.body, actual.body, { field: "", into, pairing });
}

interface Place {
  readonly field: string;
  readonly into: Difference[];
  readonly pairing: Pairing;
}

function compareValues(expected: unknown, actual: unknown, { field, into, pairing }: Place): void {
  if (typeof expected === "string" && typeof actual === "string" && pairing.same(expected, actual)) return;
  if (Object.is(expected, actual) && typeof expected !== "string") return;
  if (Array.isArray(expected) && Array.isArray(actual)) {
    const length = Math.max(expected.length, actual.length);
    for (let index = 0; index < length; index++) {
      compareValues(expected[index], actual[index], { field: `${field}[${index}]`, into, pairing });
    }
    return;
  }
  if (isFields(expected) && isFields(actual)) {
    for (const name of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
      compareValues(expected[name], actual[name], { field: field === "" ? name : `${field}.${name}`, into, pairing });
    }
    return;
  }
  into.push({ field: field === "" ? "(body)" : field, expected, actual });
}

function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
