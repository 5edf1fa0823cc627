/** The log of a run that is recorded: the record gets the lines that the log writes. */
import type { RunRecord } from "../history/run-record.ts";
import type { LogLine } from "../history/run-answer.ts";
import type { Logger } from "./context.ts";

interface RecordedLogOptions {
  readonly log: { enabled(level: LogLine["level"]): boolean };
  readonly record: RunRecord;
  /** Takes out of texts what the run itself knows to be secret. */
  readonly clean: (text: string) => string;
}

export class RecordedLog implements Logger {
  readonly #own: Logger;
  readonly #options: RecordedLogOptions;

  constructor(own: Logger, options: RecordedLogOptions) {
    this.#own = own;
    this.#options = options;
  }

  debug(message: string, fields?: object): void {
    this.#write("debug", message, fields);
  }

  info(message: string, fields?: object): void {
    this.#write("info", message, fields);
  }

  warn(message: string, fields?: object): void {
    this.#write("warn", message, fields);
  }

  error(message: string, fields?: object): void {
    this.#write("error", message, fields);
  }

  #write(level: LogLine["level"], message: string, fields: object | undefined): void {
    const { log, record, clean } = this.#options;
    if (!log.enabled(level)) return;
    this.#own[level](message, fields);
    record.line(level, message, { fields, clean });
  }
}
