/** Records responses: counts for metrics, and the server's warnings. */
import type { Clock } from "../../platform/clock.ts";
import { MOST_WARNING_CHARACTERS, MOST_WARNINGS } from "../limits.ts";

export interface AnswerLogOptions {
  readonly onWarning?: ((text: string) => void) | undefined;
  readonly onRequest?: ((method: string, code: string) => void) | undefined;
  readonly clock: Pick<Clock, "now">;
}

export class AnswerLog {
  readonly #onRequest: ((method: string, code: string) => void) | undefined;
  readonly #warnings: Warnings | undefined;
  readonly #answers = new Map<string, number>();
  /** Since the last {@link hasShownLife}: an answer of the server, and one that may be a proxy's in its place. */
  #answered = false;
  #isInDoubt = false;

  constructor(options: AnswerLogOptions) {
    this.#onRequest = options.onRequest;
    this.#warnings = options.onWarning && new Warnings(options.onWarning, options.clock);
  }

  /** The number of responses by `<method> <code>`; the code is `<error>` when there was none. */
  get answers(): ReadonlyMap<string, number> {
    return this.#answers;
  }

  /**
   * Whether the server has shown life since the last call, and no answer looked like a proxy's in its place.
   *
   * @param isConnected whether a connection shows that it is alive.
   */
  hasShownLife(isConnected: boolean): boolean {
    const shown = (this.#answered || isConnected) && !this.#isInDoubt;
    this.#answered = this.#isInDoubt = false;
    return shown;
  }

  answered(method: string, code: number, warning: string | null | undefined): void {
    if (code >= 502 && code <= 504) this.#isInDoubt = true;
    else this.#answered = true;
    this.#count(method, String(code));
    if (warning) this.#warnings?.see(warning);
  }

  failed(method: string): void {
    this.#count(method, "<error>");
  }

  #count(method: string, code: string): void {
    const key = `${method} ${code}`;
    this.#answers.set(key, (this.#answers.get(key) ?? 0) + 1);
    this.#onRequest?.(method, code);
  }
}

const MINUTE_MS = 60_000;

/**
 * Reports each text once.
 *
 * **Guarantees.** At most {@link MOST_WARNINGS} texts are reported in a minute, and as many are remembered: if a server
 * always sends new ones, the oldest may be reported again.
 *
 * @see https://kubernetes.io/blog/2020/09/03/warnings/
 */
class Warnings {
  readonly #tell: (text: string) => void;
  readonly #clock: Pick<Clock, "now">;
  readonly #texts = new Set<string>();
  #since: number;
  #lately = 0;

  constructor(tell: (text: string) => void, clock: Pick<Clock, "now">) {
    this.#tell = tell;
    this.#clock = clock;
    this.#since = clock.now();
  }

  /** @param header the value of a `Warning` header: one or more of `299 - "text"`. */
  see(header: string): void {
    for (const [, quoted = ""] of header.matchAll(/\b299 \S+ "((?:[^"\\]|\\.)*)"/g)) {
      const text = quoted.slice(0, MOST_WARNING_CHARACTERS).replace(/\\(.)/g, "$1");
      if (this.#texts.has(text)) continue;
      if (!this.#mayTell()) return;
      this.#remember(text);
      this.#tell(this.#lately < MOST_WARNINGS ? text : `${text} (more of the next minute are left out)`);
    }
  }

  #mayTell(): boolean {
    const now = this.#clock.now();
    if (now - this.#since >= MINUTE_MS || now < this.#since) {
      this.#since = now;
      this.#lately = 0;
    }
    if (this.#lately >= MOST_WARNINGS) return false;
    this.#lately++;
    return true;
  }

  #remember(text: string): void {
    if (this.#texts.size >= MOST_WARNINGS)
      for (const oldest of this.#texts.values().take(1)) this.#texts.delete(oldest);
    // The text is copied, because a part of the header would keep all of it in memory.
    this.#texts.add(Buffer.from(text).toString());
  }
}
