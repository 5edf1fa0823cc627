/** A field under validation: its path, its value, and the list that collects its errors. */
import { isInteger } from "../numbers.ts";
import { deepEquals } from "#platform/equality";
import { type FieldError, type FieldErrorType, notSupported } from "../field-error.ts";
import type { Fields, GroupVersionKind } from "../hooks.ts";
import type { Format } from "./formats.ts";

/** The values that all fields of one object share. */
interface Place {
  readonly errors: FieldError[];
  readonly row?: GroupVersionKind | undefined;
}

export class Field {
  readonly path: string;
  readonly value: unknown;
  readonly errors: FieldError[];
  /** The kind of the object, which determines the form of values in messages. */
  readonly row: GroupVersionKind | undefined;

  constructor(path: string, value: unknown, { errors, row }: Place) {
    this.path = path;
    this.value = value;
    this.errors = errors;
    this.row = row;
  }

  /** Returns a field of this one; an empty field when this one is not an object. */
  at(name: string): Field {
    return new Field(this.path === "" ? name : `${this.path}.${name}`, this.fields[name], this);
  }

  /** Returns the entry of a map. */
  key(name: string): Field {
    return new Field(`${this.path}[${name}]`, this.fields[name], this);
  }

  /** Returns the same field with another value. */
  with(value: unknown): Field {
    return new Field(this.path, value, this);
  }

  get fields(): Fields {
    return typeof this.value === "object" && this.value !== null && !Array.isArray(this.value)
      ? (this.value as Fields)
      : {};
  }

  get items(): Field[] {
    if (!Array.isArray(this.value)) return [];
    return this.value.map((item, index) => new Field(`${this.path}[${index}]`, item, this));
  }

  get keys(): string[] {
    return Object.keys(this.fields);
  }

  /** The value as text; `""` when it is not a text. */
  get text(): string {
    return typeof this.value === "string" ? this.value : "";
  }

  /** The value as number; 0 when it is not a number. */
  get number(): number {
    return isInteger(this.value) ? Number(this.value) : 0;
  }

  get present(): boolean {
    return this.value !== undefined && this.value !== null;
  }

  /** Whether the value is absent, `""`, 0, `[]` or `{}`. */
  get empty(): boolean {
    const { value } = this;
    if (value === undefined || value === null || value === "" || value === 0 || value === false) return true;
    return typeof value === "object" && Object.keys(value).length === 0;
  }

  add(type: FieldErrorType, detail: string, badValue?: unknown): void {
    // Rules compare with the number, and messages show each digit.
    const isSame = typeof this.value === "bigint" && badValue === Number(this.value);
    this.errors.push({ type, field: this.path, badValue: isSame ? this.value : badValue, detail });
  }

  invalid(detail: string, badValue: unknown = this.value ?? ""): void {
    this.add("Invalid", detail, badValue);
  }

  required(detail = ""): void {
    this.add("Required", detail);
  }

  forbidden(detail: string): void {
    this.add("Forbidden", detail);
  }

  duplicate(badValue: unknown = this.value): void {
    this.add("Duplicate", "", badValue);
  }

  notFound(badValue: unknown = this.value): void {
    this.add("NotFound", "", badValue);
  }

  tooLong(length: number): void {
    this.add("TooLong", `may not be more than ${length} bytes`, this.value);
  }

  /** Adds an error about a list with too many items. */
  tooMany(most: number): void {
    this.add("TooMany", `must have at most ${most} items`, this.items.length);
  }

  /** Requires a value. @returns whether the value exists */
  require(detail = ""): boolean {
    if (!this.empty) return true;
    this.required(detail);
    return false;
  }

  /** Requires one of the values; an absent value is an error too. */
  oneOf(valid: readonly string[], { sorted = true }: { readonly sorted?: boolean } = {}): boolean {
    if (valid.includes(this.text)) return true;
    this.errors.push(notSupported(this.path, this.text, { valid: sorted ? valid.toSorted() : valid }));
    return false;
  }

  /** Requires one of the values; the error for an absent value says that it is required. */
  requireOneOf(valid: readonly string[], detail = ""): boolean {
    return this.require(detail) && this.oneOf(valid);
  }

  matches(format: Format): boolean {
    const wrong = format(this.text);
    for (const detail of wrong) this.invalid(detail, this.text);
    return wrong.length === 0;
  }

  /** Requires a number that is not negative; it may be absent. */
  nonNegative(): void {
    if (this.number < 0) this.invalid("must be greater than or equal to 0", this.number);
  }

  positive(): void {
    if (this.number <= 0) this.invalid("must be greater than 0", this.number);
  }

  inRange(low: number, high: number): void {
    if (this.number < low || this.number > high)
      this.invalid(`must be between ${low} and ${high}, inclusive`, this.number);
  }

  /** Rejects any change. */
  immutable(before: unknown, detail = "field is immutable"): void {
    if (!deepEquals(withoutEmpty(this.value), withoutEmpty(before))) this.add("Invalid", detail, this.value ?? null);
  }
}

/** Removes empty lists and maps, which Go does not distinguish from absent ones. */
export function withoutEmpty(value: unknown): unknown {
  if (value === null || value === undefined) return undefined;
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(withoutEmpty);
  if (typeof value !== "object") return value;
  const entries = Object.entries(value).flatMap(([name, item]) => {
    const value = withoutEmpty(item);
    return value === undefined ? [] : [[name, value] as const];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
