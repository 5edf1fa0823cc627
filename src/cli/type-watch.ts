/** Reports type errors of modules and their tests while `dev` runs: at its start, and whenever files change. */
import { closureOf } from "../loader/closure.ts";
import { scanFolders } from "../loader/scan.ts";
import { readTypeErrors, type TypeError, typeErrors } from "../loader/type-check.ts";
import type { Log } from "../observe/log.ts";
import { findTests } from "./find-tests.ts";

/** The most errors that are printed; more would hide the rest of the log. */
const MOST_ERRORS = 10;

export interface TypeWatchOptions {
  /** The folder with the types of the SDK, where the type checker needs them. */
  readonly sdk: string | undefined;
  readonly log: Log;
}

export class TypeWatch implements AsyncDisposable {
  readonly #folders: readonly string[];
  readonly #options: TypeWatchOptions;
  readonly #leaving = new AbortController();
  #work: Promise<void> = Promise.resolve();
  #isWaiting = false;
  /** The state of the files at the last check. */
  #checked = "";
  #hadErrors = false;

  constructor(folders: readonly string[], options: TypeWatchOptions) {
    this.#folders = folders;
    this.#options = options;
  }

  /** Checks the files if they changed; calls during a check are combined into one. */
  look(): void {
    if (this.#isWaiting || this.#leaving.signal.aborted) return;
    this.#isWaiting = true;
    this.#work = this.#work
      .then(() => {
        this.#isWaiting = false;
        return this.#check();
      })
      .catch((error: unknown) => {
        if (!this.#leaving.signal.aborted) this.#options.log.warn("Cannot check the types", { error });
      });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#leaving.abort(new Error("The process is stopping"));
    await this.#work;
  }

  async #check(): Promise<void> {
    const { sdk } = this.#options;
    const { signal } = this.#leaving;
    if (signal.aborted) return;
    const files = [...scanFolders(this.#folders).map(({ file }) => file), ...this.#folders.flatMap(findTests)];
    const state = files.map((file) => `${file} ${closureOf(file).hash}`).join("\n");
    if (state === this.#checked) return;
    this.#checked = state;
    const text = files.length === 0 ? "" : await typeErrors(files, { sdk, signal });
    signal.throwIfAborted();
    this.#tell(readTypeErrors(text));
  }

  #tell(errors: readonly TypeError[]): void {
    const { log } = this.#options;
    for (const { file, reason } of errors.slice(0, MOST_ERRORS)) {
      log.error("Type error", { ...(file !== undefined && { file }), reason });
    }
    const more = errors.length - MOST_ERRORS;
    if (more > 0) log.error(`${more} more type errors: \`binnacle check\` shows them`);
    if (errors.length === 0 && this.#hadErrors) log.info("No type errors");
    this.#hadErrors = errors.length > 0;
  }
}
