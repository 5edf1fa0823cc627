/** Makes bounded copies of values, so that what is kept of them takes no more memory than was counted. */
import { ownField, setField } from "../resource/any-key.ts";
import { isFields } from "../resource/json.ts";
import { SENSITIVE, type StructuralSchema } from "../resource/schema/structural.ts";

/** The most characters of a value, as text. */
const MOST_CHARACTERS = 256;
const MOST_PARTS = 64;
const DEEPEST = 8;
const ELLIPSIS = "…";
const REDACTED = "[redacted]";

/** Takes secrets out of a text. */
export type Clean = (text: string) => string;

/** Returns the beginning of a text. What is cut off does not stay in memory with it, as it would with a slice. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  return Buffer.from(text.slice(0, most - 1) + ELLIPSIS, "utf8").toString("utf8");
}

/** A copy, and what it does not say of the value. */
export interface Copy {
  readonly value: unknown;
  /** Whether the value is longer than the copy. */
  readonly isCut: boolean;
  /** Whether the texts of the copy differ from those of the value. */
  readonly isCleaned: boolean;
}

export interface CopyOptions {
  readonly clean: Clean;
  /** Marks the sensitive parts of the value. @default no part is */
  readonly schema?: StructuralSchema | undefined;
  /** Whether the whole value is sensitive. @default false */
  readonly isSecret?: boolean | undefined;
}

/** Copies a value of JSON. A long text, map or list becomes the beginning of its text. */
export function boundedCopy(value: unknown, { clean, schema, isSecret = false }: CopyOptions): Copy {
  if (typeof value === "string" && !isSecret && schema?.format !== SENSITIVE) {
    const text = clean(value);
    return { value: cutText(text, MOST_CHARACTERS), isCut: text.length > MOST_CHARACTERS, isCleaned: text !== value };
  }
  const copying = new Copying(clean);
  const copy = copying.copy(value, isSecret ? MARKED : schema, 0);
  const { isCleaned, isCut } = copying;
  if (typeof copy !== "object" || copy === null) return { value: copy, isCut, isCleaned };
  const text = JSON.stringify(copy);
  if (!isCut && text.length <= MOST_CHARACTERS) return { value: copy, isCut, isCleaned };
  return { value: cutText(text, MOST_CHARACTERS), isCut: true, isCleaned };
}

const MARKED: StructuralSchema = { format: SENSITIVE };

/** The schema of a field; `undefined` when it has none. */
export function fieldSchema(
  { properties, additionalProperties }: StructuralSchema,
  name: string,
): StructuralSchema | undefined {
  return (properties && ownField(properties, name)) ?? additionalProperties;
}

class Copying {
  isCut = false;
  isCleaned = false;
  readonly #clean: Clean;
  #parts = 0;

  constructor(clean: Clean) {
    this.#clean = clean;
  }

  copy(value: unknown, schema: StructuralSchema | undefined, depth: number): unknown {
    if (schema?.format === SENSITIVE) {
      this.isCleaned = true;
      return REDACTED;
    }
    if (typeof value === "string") return this.#text(value);
    if (typeof value !== "object" || value === null) return value;
    if (depth === DEEPEST) {
      this.isCut = true;
      return ELLIPSIS;
    }
    if (Array.isArray(value)) {
      const items: unknown[] = [];
      for (const item of value as readonly unknown[]) {
        if (!this.#takePart()) break;
        items.push(this.copy(item, schema?.items, depth + 1));
      }
      return items;
    }
    const fields = {};
    if (!isFields(value)) return fields;
    for (const name in value) {
      if (value[name] === undefined) continue;
      if (!this.#takePart()) break;
      setField(fields, this.#text(name), this.copy(value[name], schema && fieldSchema(schema, name), depth + 1));
    }
    return fields;
  }

  #text(text: string): string {
    const clean = this.#clean(text);
    if (clean !== text) this.isCleaned = true;
    if (clean.length > MOST_CHARACTERS) this.isCut = true;
    return cutText(clean, MOST_CHARACTERS);
  }

  /** Counts a part. @returns false when there are too many. */
  #takePart(): boolean {
    if (++this.#parts <= MOST_PARTS) return true;
    this.isCut = true;
    return false;
  }
}

/** Estimates the bytes that a value of JSON takes in memory. */
export function bytesOf(value: unknown): number {
  if (typeof value === "string") return 16 + (/[\u0100-\uffff]/.test(value) ? 2 * value.length : value.length);
  if (typeof value !== "object" || value === null) return 0;
  let bytes = 32;
  if (Array.isArray(value)) for (const item of value as readonly unknown[]) bytes += 8 + bytesOf(item);
  else for (const name in value) bytes += 8 + bytesOf((value as Readonly<Record<string, unknown>>)[name]);
  return bytes;
}
