/**
 * Estimates how many values a JSON text holds before it is parsed: a text of empty objects becomes 30 times as large.
 */
import { MOST_VALUES } from "../limits.ts";

/** A value takes at least two characters, such as `0,`. */
const LEAST_CHARACTERS = 2;
const WINDOWS = 64;
const WINDOW_CHARACTERS = 512;

const COMMA = 0x2c;
const LIST = 0x5b;
const OBJECT = 0x7b;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * @returns whether there are more values than any legitimate response has.
 *
 * Short texts cannot hold that many. For longer ones a few random samples give an estimate, and only a text that may
 * have too many is counted exactly, because commas in strings do not count.
 */
export function hasTooManyValues(json: Uint8Array | string): boolean {
  if (json.length < MOST_VALUES * LEAST_CHARACTERS) return false;
  const bytes = typeof json === "string" ? Buffer.from(json) : json;
  return estimate(bytes) > MOST_VALUES / 2 && countValues(bytes) > MOST_VALUES;
}

function estimate(bytes: Uint8Array): number {
  let count = 0;
  for (let window = 0; window < WINDOWS; window++) {
    const start = Math.floor(Math.random() * (bytes.length - WINDOW_CHARACTERS));
    for (let at = start; at < start + WINDOW_CHARACTERS; at++) {
      const byte = bytes[at];
      if (byte === COMMA || byte === LIST || byte === OBJECT) count++;
    }
  }
  return (count / (WINDOWS * WINDOW_CHARACTERS)) * bytes.length;
}

/** Counts values up to the limit, by the commas between them and the beginnings of containers. */
function countValues(bytes: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < bytes.length && count <= MOST_VALUES; at++) {
    const byte = bytes[at];
    if (byte === COMMA || byte === LIST || byte === OBJECT) count++;
    else if (byte === QUOTE) at = endOfString(bytes, at);
  }
  return count;
}

function endOfString(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}
