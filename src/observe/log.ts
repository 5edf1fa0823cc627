/**
 * Writes structured log lines to standard error.
 *
 * It uses no library: LogTape's one global configuration would be shared with the modules, it takes fifteen times as
 * long for a line below the level and four times as long for a written one, and Secrets must be found in the fields
 * anyway.
 */
import { isTerminal } from "./terminal.ts";
import { withoutSecrets } from "./known-secrets.ts";
import { jsonLine, prettyLine, type Line } from "./log-line.ts";
import { writeToStandardError } from "./standard-streams.ts";

export type LogLevel = "debug" | "info" | "warn" | "error";

/** Writes lines; a call below the level does nothing. */
export interface Log {
  debug(message: string, fields?: object): void;
  info(message: string, fields?: object): void;
  warn(message: string, fields?: object): void;
  error(message: string, fields?: object): void;
  /**
   * Returns a log whose lines have these fields too, and that follows the level of this one.
   *
   * @param clean the function for each text of its lines. @default leaves out the secret values that the whole process
   * knows
   */
  with(fields: object, clean?: (text: string) => string): Log;
  /** Whether a line of this level would be written, for callers whose fields are costly to compute. */
  enabled(level: LogLevel): boolean;
}

/** The log of the process. Its level can change while it runs, and its children follow. */
export interface RootLog extends Log {
  level: LogLevel;
}

export interface LogOptions {
  readonly level: LogLevel;
  /** `json`: one object per line, `{ ts, level, msg, …fields }`; `pretty`: for people. */
  readonly format: "json" | "pretty";
  /** Takes each line, including its line break. @default standard error */
  readonly write?: ((line: string) => void) | undefined;
  /** The clock of timestamps. @default the machine's */
  readonly clock?: { now(): number } | undefined;
  /**
   * Whether `pretty` uses colours.
   *
   * @default whether standard error is a terminal and `NO_COLOR` is not set, when `write` is omitted
   */
  readonly color?: boolean | undefined;
}

const RANK: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

/**
 * Makes the log of the process.
 *
 * Values of Secrets, and the secret ones of the modules' configuration, are never written; errors are written with
 * message, stack and cause.
 */
export function createLog(options: LogOptions): RootLog {
  const { write = writeToStandardError, clock = Date } = options;
  const color = options.color ?? (options.write === undefined && colorOnStandardError());
  const render = options.format === "json" ? jsonLine : (line: Line) => prettyLine(line, color);
  return new LineLog(
    {
      rank: RANK[options.level],
      emit: (line) => write(render(line)),
      now: () => clock.now(),
    },
    undefined,
  );
}

/** The output of a log, which its children share. */
interface Output {
  rank: number;
  emit(line: Line): void;
  now(): number;
}

class LineLog implements RootLog {
  readonly #output: Output;
  readonly #parent: LineLog | undefined;
  readonly #fields: object | undefined;
  readonly #clean: Line["clean"];

  constructor(output: Output, parent: LineLog | undefined, fields?: object, clean?: Line["clean"]) {
    this.#output = output;
    this.#parent = parent;
    this.#fields = fields;
    this.#clean = clean ?? (parent === undefined ? undefined : parent.#clean);
  }

  get level(): LogLevel {
    return (Object.keys(RANK) as LogLevel[])[this.#output.rank]!;
  }

  set level(level: LogLevel) {
    this.#output.rank = RANK[level];
  }

  enabled(level: LogLevel): boolean {
    return RANK[level] >= this.#output.rank;
  }

  with(fields: object, clean?: Line["clean"]): Log {
    return new LineLog(this.#output, this, fields, clean);
  }

  debug(message: string, fields?: object): void {
    if (this.#output.rank <= 0) this.#write("debug", message, fields);
  }

  info(message: string, fields?: object): void {
    if (this.#output.rank <= 1) this.#write("info", message, fields);
  }

  warn(message: string, fields?: object): void {
    if (this.#output.rank <= 2) this.#write("warn", message, fields);
  }

  error(message: string, fields?: object): void {
    this.#write("error", message, fields);
  }

  #write(level: LogLevel, message: string, fields: object | undefined): void {
    this.#output.emit({
      time: this.#output.now(),
      level,
      message,
      fields: this.#merged(fields),
      clean: this.#clean ?? withoutSecrets,
    });
  }

  /** Children are created for each run and mostly write nothing, so their fields are merged only here. */
  #merged(fields: object | undefined): object | undefined {
    const own =
      this.#fields === undefined || fields === undefined ? (fields ?? this.#fields) : { ...this.#fields, ...fields };
    return this.#parent === undefined ? own : this.#parent.#merged(own);
  }
}

function colorOnStandardError(): boolean {
  return isTerminal(2) && !process.env["NO_COLOR"];
}
