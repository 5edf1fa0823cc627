/** Sums up the cost of all rules of a definition, and reports the places where it is too high. */
import type { FieldError } from "../field-error.ts";

const mostOfOne = 10_000_000;
const mostOfAll = 100_000_000;

interface Part {
  readonly field: string;
  readonly cost: number;
}

export class TotalCost {
  #total = 0;
  /** The rules that contribute notably. */
  readonly #parts: Part[] = [];

  /** Adds an expression. @returns an error when it is too expensive by itself */
  add(field: string, cost: number, what: string): FieldError[] {
    this.#total += cost;
    if (cost >= mostOfAll / 100) this.#parts.push({ field, cost });
    if (cost <= mostOfOne) return [];
    return [{ type: "Forbidden", field, detail: tooExpensive(what, cost, mostOfOne) }];
  }

  /** Returns the errors of the total. @param field the path of the whole schema */
  errors(field: string): FieldError[] {
    if (this.#total <= mostOfAll) return [];
    const detail = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
    const parts = this.#parts.toSorted((one, other) => other.cost - one.cost).slice(0, 4);
    const what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
    return [
      ...parts.map((part) => ({ type: "Forbidden" as const, field: part.field, detail })),
      { type: "Forbidden", field, detail: tooExpensive(what, this.#total, mostOfAll) },
    ];
  }
}

function tooExpensive(what: string, cost: number, limit: number): string {
  const factor = cost / limit;
  const ratio = factor > 100 ? "more than 100x" : `${factor.toFixed(factor < 1.5 ? 6 : 1)}x`;
  const bounds = "maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared";
  return `${what} exceeds budget by factor of ${ratio} (try simplifying the rule, or adding ${bounds})`;
}
