/** Takes note of responses: counts for metrics, and the server's warnings. */
import type { Clock } from "../../platform/clock.ts";
import { Warnings } from "./warnings.ts";

export interface AnswerLogOptions {
  readonly onWarning?: ((text: string) => void) | undefined;
  readonly onRequest?: ((method: string, code: string) => void) | undefined;
  readonly clock: Pick<Clock, "now">;
}

export class AnswerLog {
  readonly #onRequest: ((method: string, code: string) => void) | undefined;
  readonly #warnings: Warnings | undefined;
  readonly #answers = new Map<string, number>();

  constructor(options: AnswerLogOptions) {
    this.#onRequest = options.onRequest;
    this.#warnings = options.onWarning && new Warnings(options.onWarning, options.clock);
  }

  /** By `<method> <code>`; the code is `<error>` when there was no response. */
  get answers(): ReadonlyMap<string, number> {
    return this.#answers;
  }

  answered(method: string, code: number, warning: string | null | undefined): void {
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
