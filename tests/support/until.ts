/** Waits in a test until something is so. */
import { setTimeout as sleep } from "node:timers/promises";

export interface UntilOptions {
  /** What is waited for, for the error. @default the text of the condition */
  readonly what?: string | (() => string);
  /** The most milliseconds. @default 60_000, which a machine that is busy with other things needs at times */
  readonly within?: number;
  /** Milliseconds between two looks. @default 20, and 1 for a condition without options, which is taken to cost nothing */
  readonly every?: number;
}

/**
 * Waits until a look gives something other than `undefined` and `false`.
 *
 * @returns what it gave.
 * @throws Error that says what did not come true.
 */
export async function until<T>(
  look: () => Promise<T | undefined | false> | T | undefined | false,
  options?: UntilOptions,
): Promise<T> {
  const { what = look.toString(), within = 60_000, every = options === undefined ? 1 : 20 } = options ?? {};
  const deadline = performance.now() + within;
  for (;;) {
    const answer = await look();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > deadline) {
      throw new Error(`Not within ${within} ms: ${typeof what === "string" ? what : what()}`);
    }
    await sleep(every);
  }
}
