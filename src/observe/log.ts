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
  /** The modules whose lines have a level of their own. */
  readonly moduleLevels: ReadonlyMap<string, LogLevel>;
  /** Gives the lines of a module a level of their own; `undefined` makes them follow the log again. */
  setModuleLevel(module: string, level: LogLevel | undefined): void;
  /** Calls a function with each line that is written, in addition to writing it. */
  follow(onLine: (line: Line) => void): Disposable;
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

/** The ranks of the levels: a log writes the lines whose rank is not below its own. */
export const RANK: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

/** The levels, the least severe first. */
export const LOG_LEVELS: readonly LogLevel[] = Object.keys(RANK) as LogLevel[];

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
  return new LineLog(new Output(RANK[options.level], (line) => write(render(line)), clock), undefined);
}

/** The output of a log, which its children share. */
class Output {
  /** The lowest rank at which any line is written. */
  lowest: number;
  /** The ranks of the modules that have one of their own. */
  readonly modules = new Map<string, number>();
  readonly followers = new Set<(line: Line) => void>();
  readonly #write: (line: Line) => void;
  readonly #clock: { now(): number };
  #rank: number;

  constructor(rank: number, write: (line: Line) => void, clock: { now(): number }) {
    this.#rank = this.lowest = rank;
    this.#write = write;
    this.#clock = clock;
  }

  get rank(): number {
    return this.#rank;
  }

  set rank(rank: number) {
    this.#rank = rank;
    this.look();
  }

  /** Determines the lowest rank again, after one has changed. */
  look(): void {
    this.lowest = Math.min(this.#rank, ...this.modules.values());
  }

  emit(line: Omit<Line, "time">): void {
    const whole: Line = { time: this.#clock.now(), ...line };
    this.#write(whole);
    for (const follower of this.followers) follower(whole);
  }
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
    return levelOf(this.#output.rank);
  }

  set level(level: LogLevel) {
    this.#output.rank = RANK[level];
  }

  get moduleLevels(): ReadonlyMap<string, LogLevel> {
    return new Map(this.#output.modules.entries().map(([module, rank]) => [module, levelOf(rank)]));
  }

  setModuleLevel(module: string, level: LogLevel | undefined): void {
    if (level === undefined) this.#output.modules.delete(module);
    else this.#output.modules.set(module, RANK[level]);
    this.#output.look();
  }

  follow(onLine: (line: Line) => void): Disposable {
    const { followers } = this.#output;
    followers.add(onLine);
    return { [Symbol.dispose]: () => void followers.delete(onLine) };
  }

  enabled(level: LogLevel): boolean {
    return this.#isWritten(RANK[level]);
  }

  with(fields: object, clean?: Line["clean"]): Log {
    return new LineLog(this.#output, this, fields, clean);
  }

  debug(message: string, fields?: object): void {
    if (this.#isWritten(0)) this.#write("debug", message, fields);
  }

  info(message: string, fields?: object): void {
    if (this.#isWritten(1)) this.#write("info", message, fields);
  }

  warn(message: string, fields?: object): void {
    if (this.#isWritten(2)) this.#write("warn", message, fields);
  }

  error(message: string, fields?: object): void {
    this.#write("error", message, fields);
  }

  /** A line below every level, which most lines are, costs one comparison. */
  #isWritten(rank: number): boolean {
    const { lowest, modules } = this.#output;
    if (rank < lowest) return false;
    return modules.size === 0 || rank >= (this.#moduleRank() ?? this.#output.rank);
  }

  /** The rank of the module that the lines name, if it has one of its own. */
  #moduleRank(): number | undefined {
    const { module } = (this.#fields ?? {}) as { readonly module?: unknown };
    if (typeof module === "string") return this.#output.modules.get(module);
    return this.#parent === undefined ? undefined : this.#parent.#moduleRank();
  }

  #write(level: LogLevel, message: string, fields: object | undefined): void {
    this.#output.emit({ level, message, fields: this.#merged(fields), clean: this.#clean ?? withoutSecrets });
  }

  /** Children are created for each run and mostly write nothing, so their fields are merged only here. */
  #merged(fields: object | undefined): object | undefined {
    const own =
      this.#fields === undefined || fields === undefined ? (fields ?? this.#fields) : { ...this.#fields, ...fields };
    return this.#parent === undefined ? own : this.#parent.#merged(own);
  }
}

function levelOf(rank: number): LogLevel {
  return LOG_LEVELS[rank]!;
}

function colorOnStandardError(): boolean {
  return isTerminal(2) && !process.env["NO_COLOR"];
}
