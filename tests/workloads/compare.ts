/** Where the outcomes of a situation differ, and which of it is known. */
import type { Outcome } from "./outcome.ts";

export interface Difference {
  readonly situation: string;
  /** Such as `1 rolled out/Deployment/web/0/status/replicas`. */
  readonly field: string;
  readonly expected: unknown;
  readonly actual: unknown;
}

export function compareOutcomes(situation: string, expected: Outcome, actual: Outcome): Difference[] {
  const differences: Difference[] = [];
  compareValues(expected, actual, { situation, field: "", found: differences });
  return differences;
}

interface Place {
  readonly situation: string;
  readonly field: string;
  readonly found: Difference[];
}

function compareValues(expected: unknown, actual: unknown, { situation, field, found }: Place): void {
  if (Object.is(expected, actual)) return;
  const isList = Array.isArray(expected) && Array.isArray(actual);
  // A list of texts tells a story: it is told whole.
  if (isList && [...expected, ...actual].every((item) => typeof item !== "object")) {
    if (JSON.stringify(expected) !== JSON.stringify(actual)) found.push({ situation, field, expected, actual });
    return;
  }
  if (isFields(expected) && isFields(actual)) {
    for (const name of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
      const inside = field === "" ? name : `${field}/${name}`;
      compareValues(expected[name], actual[name], { situation, field: inside, found });
    }
    return;
  }
  found.push({ situation, field, expected, actual });
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

/** A difference that is meant, with its reason. */
export interface Allowed {
  readonly situation: RegExp;
  readonly field: RegExp;
  readonly why: string;
}

/** Reads `allowed.txt`: `situation | field | reason` on each line; `*` stands for any text. */
export function parseAllowed(text: string): Allowed[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("#"));
  return lines.map((line) => {
    const [situation = "", field = "", why = ""] = line.split("|").map((part) => part.trim());
    if (why === "") throw new Error(`The allowed difference ${JSON.stringify(line)} has no reason`);
    return { situation: pattern(situation), field: pattern(field), why };
  });
}

function pattern(text: string): RegExp {
  return new RegExp(`^${text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll("\\*", ".*")}$`);
}

export function withoutAllowed(differences: readonly Difference[], allowed: readonly Allowed[]): Difference[] {
  return differences.filter(
    (one) => !allowed.some((each) => each.situation.test(one.situation) && each.field.test(one.field)),
  );
}

export function describe({ situation, field, expected, actual }: Difference): string {
  return `${situation}\n  ${field}\n    real:     ${shown(expected)}\n    embedded: ${shown(actual)}`;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "(none)";
  return text.length > 1_000 ? `${text.slice(0, 1_000)}…` : text;
}
