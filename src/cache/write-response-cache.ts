/**
 * Recognises the watch event of an own write by its text, so that it need not be parsed.
 *
 * The server encodes an object once: the line of the event is the response to the write, byte for byte, after the event's
 * type. Only complete, equal texts match, so nothing else can be mistaken for an echo.
 */
import type { AnyObject } from "../resource/handle.ts";

const ADDED = '{"type":"ADDED","object":';
const MODIFIED = '{"type":"MODIFIED","object":';
const VERSION = '"resourceVersion":"';
const BRACE = 125;
const NEWLINE = 10;
/** The most characters of remembered responses; beyond that the oldest are forgotten and their echoes parsed. */
const MOST = 1_000_000;

/** Whether a line of a watch is the event of a write with this response. */
export function isEchoOf(line: string, answer: string): boolean {
  const start = line.startsWith(MODIFIED) ? MODIFIED.length : line.startsWith(ADDED) ? ADDED.length : 0;
  if (start === 0) return false;
  // A response ends with a line break.
  const text = answer.charCodeAt(answer.length - 1) === NEWLINE ? answer.slice(0, -1) : answer;
  return (
    line.length === start + text.length + 1 &&
    line.charCodeAt(line.length - 1) === BRACE &&
    line.startsWith(text, start)
  );
}

/** The response to an own write, as it went into the store. */
export interface WriteResponse {
  readonly key: string;
  /** The object as it was stored. */
  readonly object: AnyObject;
  readonly text: string;
}

/** Remembers the responses to own writes until their echo arrives. */
export class WriteResponseCache {
  /** By resource version. */
  readonly #responses = new Map<string, WriteResponse>();
  #characters = 0;

  get size(): number {
    return this.#responses.size;
  }

  add(answer: WriteResponse): void {
    const { resourceVersion } = answer.object.metadata;
    this.#forget(resourceVersion); // some servers count resource versions for each object separately
    this.#responses.set(resourceVersion, answer);
    this.#characters += answer.text.length;
    if (this.#characters <= MOST) return;
    for (const version of this.#responses.keys()) {
      this.#forget(version);
      if (this.#characters <= MOST) return;
    }
  }

  /** The response that a line of the watch repeats; it is forgotten. */
  matchWriteEcho(line: string): WriteResponse | undefined {
    if (this.#responses.size === 0) return undefined;
    // What looks like the version only selects the response to compare the whole line with.
    const at = line.indexOf(VERSION) + VERSION.length;
    const version = line.slice(at, line.indexOf('"', at));
    const answer = this.#responses.get(version);
    if (answer === undefined) return undefined;
    this.#forget(version);
    return isEchoOf(line, answer.text) ? answer : undefined;
  }

  /** Forgets responses whose echoes will not arrive any more, because the watch has passed their version. */
  forgetUpTo(isPassed: (version: string) => boolean): void {
    for (const version of this.#responses.keys()) if (isPassed(version)) this.#forget(version);
  }

  clear(): void {
    this.#responses.clear();
    this.#characters = 0;
  }

  #forget(version: string): void {
    const answer = this.#responses.get(version);
    if (answer === undefined) return;
    this.#characters -= answer.text.length;
    this.#responses.delete(version);
  }
}
