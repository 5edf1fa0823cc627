/** The two formats of a log line. */
import { loggable, shortened } from "./loggable.ts";
import { printable } from "./printable.ts";

export interface Line {
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly level: "debug" | "info" | "warn" | "error";
  /** A text, but modules in plain JavaScript may pass anything. */
  readonly message: unknown;
  readonly fields: object | undefined;
  /** Removes secrets from each text. */
  readonly clean?: ((text: string) => string) | undefined;
}

/**
 * Formats `{ "ts", "level", "msg", …fields }` and a line break; a field with one of those three names gets a trailing
 * `_`.
 *
 * Control characters are escaped as in JSON, so the values are exact.
 */
export function jsonLine(line: Line): string {
  const out: Record<string, unknown> = {
    ts: new Date(line.time).toISOString(),
    level: line.level,
    msg: messageOf(line),
  };
  if (line.fields !== undefined) {
    const fields = loggable(line.fields, line.clean) as Record<string, unknown>;
    for (const name in fields) out[name in out && RESERVED.has(name) ? `${name}_` : name] = fields[name];
  }
  return `${printable(JSON.stringify(out))}\n`;
}

/** A line as values: plain, bounded, and without secrets. */
export interface LineValues {
  readonly time: number;
  readonly level: Line["level"];
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export function lineValues(line: Line): LineValues {
  const { time, level, fields = {}, clean } = line;
  return {
    time,
    level,
    message: String(messageOf(line)),
    fields: loggable(fields, clean) as Record<string, unknown>,
  };
}

/** The maximum length of a line's message; the fields contain the rest. */
const MAX_MESSAGE = 4_096;
function messageOf({ message, clean }: Line): unknown {
  return shortened(typeof message === "string" && clean !== undefined ? clean(message) : message, MAX_MESSAGE);
}

const RESERVED: ReadonlySet<string> = new Set(["ts", "level", "msg"]);

const LABEL = { debug: "DEBUG", info: "INFO ", warn: "WARN ", error: "ERROR" } as const;
const PAINT = { debug: "\u001b[90m", info: "\u001b[32m", warn: "\u001b[33m", error: "\u001b[31m" } as const;
const DIM = "\u001b[2m";
const PLAIN = "\u001b[0m";

/**
 * Formats `time level message  name=value …`, with stacks of errors on lines of their own.
 *
 * Whatever the texts contain, it is one line, with indented lines below it for stacks, and a terminal obeys nothing in
 * it but our colours.
 */
export function prettyLine(line: Line, color: boolean): string {
  const time = localTime(line.time);
  const message = printable(String(messageOf(line)));
  let text = color
    ? `${DIM}${time}${PLAIN} ${PAINT[line.level]}${LABEL[line.level]}${PLAIN} ${message}`
    : `${time} ${LABEL[line.level]} ${message}`;
  let below = "";
  if (line.fields !== undefined) {
    const fields = loggable(line.fields, line.clean) as Record<string, unknown>;
    let gap = "  ";
    for (const name in fields) {
      const value = fields[name];
      if (value === undefined) continue;
      const label = prettyText(name);
      text += `${gap}${color ? `${DIM}${label}=${PLAIN}` : `${label}=`}${prettyValue(value)}`;
      gap = " ";
      below += stackOf(value);
    }
  }
  return `${text}\n${below}`;
}

function localTime(time: number): string {
  const date = new Date(time);
  const two = (part: number) => String(part).padStart(2, "0");
  const millis = String(date.getMilliseconds()).padStart(3, "0");
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${millis}`;
}

function prettyValue(value: unknown): string {
  if (typeof value === "string") return prettyText(value);
  return printable(JSON.stringify(isRenderedError(value) ? value.message : value));
}

/** Quotes a text where its end would not be visible. */
function prettyText(text: string): string {
  const line = printable(text);
  return line === text && /^[^\s"=]+$/.test(text) ? text : printable(JSON.stringify(text));
}

interface RenderedError {
  readonly name?: string;
  readonly message: string;
  readonly stack: string;
  readonly cause?: unknown;
}

function isRenderedError(value: unknown): value is RenderedError {
  if (typeof value !== "object" || value === null || !("stack" in value && "message" in value)) return false;
  return typeof value.stack === "string" && typeof value.message === "string";
}

function stackOf(value: unknown): string {
  if (!isRenderedError(value)) return "";
  const stack = placesOfInterest(value);
  const own = stack === "" ? "" : `    ${stack.split("\n").map(printable).join("\n    ")}\n`;
  return isRenderedError(value.cause) ? `${own}    caused by:\n${stackOf(value.cause)}` : own;
}

/** Matches a place in the binary: there, our own sources have relative paths, and those of modules absolute ones. */
const OWN_PLACE = /^\s+at [^(]*\((?:src\/[^)]*|unknown)\)$/;

/** Removes the frames that called the module. An API server's error keeps none, because its message says everything. */
export function placesOfInterest({ name, stack }: Pick<RenderedError, "name" | "stack">): string {
  const lines = stack.trimEnd().split("\n");
  while (OWN_PLACE.test(lines.at(-1)!)) lines.pop();
  if (lines.some((line) => /^\s+at /.test(line))) return lines.join("\n");
  return name === "ApiError" ? "" : stack;
}
