/** Finds where two answers differ. */
import type { Answer, Exchange } from "./exchange.ts";
import type { Normalized } from "./normalize.ts";

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

export function compareCases(expected: Normalized, actual: Normalized | undefined): ExchangeDifference[] {
  const found: ExchangeDifference[] = [];
  const length = Math.max(expected.exchanges.length, actual?.exchanges.length ?? 0);
  for (let index = 0; index < length; index++) {
    const left = expected.exchanges[index];
    const right = actual?.exchanges[index];
    const differences: Difference[] = [];
    if (!left || !right || left.label !== right.label) {
      differences.push({ field: "(exchange)", expected: left?.label, actual: right?.label });
    } else {
      compareAnswers(left.answer, right.answer, differences);
    }
    if (differences.length > 0) found.push({ caseName: expected.name, expected: left, actual: right, differences });
  }
  return found;
}

function compareAnswers(expected: Answer, actual: Answer, into: Difference[]): void {
  if (expected.status !== actual.status) {
    into.push({ field: "(code)", expected: expected.status, actual: actual.status });
  }
  compareValues(expected.headers, actual.headers, { field: "(header)", into });
  compareValues(expected.body, actual.body, { field: "", into });
}

interface Place {
  readonly field: string;
  readonly into: Difference[];
}

function compareValues(expected: unknown, actual: unknown, { field, into }: Place): void {
  if (Object.is(expected, actual)) return;
  if (Array.isArray(expected) && Array.isArray(actual)) {
    const length = Math.max(expected.length, actual.length);
    for (let index = 0; index < length; index++) {
      compareValues(expected[index], actual[index], { field: `${field}[${index}]`, into });
    }
    return;
  }
  if (isFields(expected) && isFields(actual)) {
    for (const name of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
      compareValues(expected[name], actual[name], { field: field === "" ? name : `${field}.${name}`, into });
    }
    return;
  }
  into.push({ field: field === "" ? "(body)" : field, expected, actual });
}

function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
