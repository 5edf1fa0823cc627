/**
 * Recognises the echo of an own write by its text, so that nothing is parsed twice.
 *
 * The server encodes an object once: the line of an event is the answer to the write, word for word, with the type
 * before it. Only whole texts that are equal count, so nothing else is ever taken for an echo.
 */
import type { AnyObject } from "../resource/handle.ts";

const ADDED = '{"type":"ADDED","object":';
const MODIFIED = '{"type":"MODIFIED","object":';
const VERSION = '"resourceVersion":"';
const BRACE = 125;
const NEWLINE = 10;
/** Characters of answers whose echo has not come, after which the oldest are forgotten: their echoes are parsed. */
const MOST = 1_000_000;

/** Whether a line of a watch tells that an object is now as an answer shows it. */
export function isEventOf(line: string, answer: string): boolean {
  const start = line.startsWith(MODIFIED) ? MODIFIED.length : line.startsWith(ADDED) ? ADDED.length : 0;
  if (start === 0) return false;
  // An answer ends with a line break.
  const text = answer.charCodeAt(answer.length - 1) === NEWLINE ? answer.slice(0, -1) : answer;
  return (
    line.length === start + text.length + 1 &&
    line.charCodeAt(line.length - 1) === BRACE &&
    line.startsWith(text, start)
  );
}

/** An answer that went into the store, under its key. */
export interface KnownAnswer {
  readonly key: string;
  /** As it was taken in. */
  readonly object: AnyObject;
  readonly text: string;
}

/** Answers that went into the store, until their echo comes. */
export class AnswerTexts {
  /** By resource version. */
  readonly #answers = new Map<string, KnownAnswer>();
  #characters = 0;

  get size(): number {
    return this.#answers.size;
  }

  add(answer: KnownAnswer): void {
    const { resourceVersion } = answer.object.metadata;
    this.#forget(resourceVersion); // some servers count the versions of each object by itself
    this.#answers.set(resourceVersion, answer);
    this.#characters += answer.text.length;
    if (this.#characters <= MOST) return;
    for (const version of this.#answers.keys()) {
      this.#forget(version);
      if (this.#characters <= MOST) return;
    }
  }

  /** The answer that a line of the watch repeats; it is forgotten. */
  take(line: string): KnownAnswer | undefined {
    if (this.#answers.size === 0) return undefined;
    // Where the version seems to stand only says which answer to compare with.
    const at = line.indexOf(VERSION) + VERSION.length;
    const version = line.slice(at, line.indexOf('"', at));
    const answer = this.#answers.get(version);
    if (answer === undefined) return undefined;
    this.#forget(version);
    return isEventOf(line, answer.text) ? answer : undefined;
  }

  /** The stream has come to a version: the echoes of these answers will not come any more. */
  passed(isPassed: (version: string) => boolean): void {
    for (const version of this.#answers.keys()) if (isPassed(version)) this.#forget(version);
  }

  clear(): void {
    this.#answers.clear();
    this.#characters = 0;
  }

  #forget(version: string): void {
    const answer = this.#answers.get(version);
    if (answer === undefined) return;
    this.#characters -= answer.text.length;
    this.#answers.delete(version);
  }
}
