/** The two shapes of a log line. */
import { loggable } from "./loggable.ts";

export interface Line {
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
  readonly fields: object | undefined;
}

/** `{ "ts", "level", "msg", …fields }` and a line break; a field of those three names gets a trailing `_`. */
export function jsonLine(line: Line): string {
  const out: Record<string, unknown> = { ts: new Date(line.time).toISOString(), level: line.level, msg: line.message };
  if (line.fields !== undefined) {
    const fields = loggable(line.fields) as Record<string, unknown>;
    for (const name in fields) out[name in out && RESERVED.has(name) ? `${name}_` : name] = fields[name];
  }
  return `${JSON.stringify(out)}\n`;
}

const RESERVED: ReadonlySet<string> = new Set(["ts", "level", "msg"]);

const LABEL = { debug: "DEBUG", info: "INFO ", warn: "WARN ", error: "ERROR" } as const;
const PAINT = { debug: "\u001b[90m", info: "\u001b[32m", warn: "\u001b[33m", error: "\u001b[31m" } as const;
const DIM = "\u001b[2m";
const PLAIN = "\u001b[0m";

/** `time level message  name=value …`, stacks of errors on lines of their own. */
export function prettyLine(line: Line, color: boolean): string {
  const time = localTime(line.time);
  let text = color
    ? `${DIM}${time}${PLAIN} ${PAINT[line.level]}${LABEL[line.level]}${PLAIN} ${line.message}`
    : `${time} ${LABEL[line.level]} ${line.message}`;
  let below = "";
  if (line.fields !== undefined) {
    const fields = loggable(line.fields) as Record<string, unknown>;
    let gap = "  ";
    for (const name in fields) {
      const value = fields[name];
      if (value === undefined) continue;
      text += `${gap}${color ? `${DIM}${name}=${PLAIN}` : `${name}=`}${prettyValue(value)}`;
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
  if (typeof value === "string") return /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
  if (isRenderedError(value)) return JSON.stringify(value.message);
  return JSON.stringify(value);
}

interface RenderedError {
  readonly name?: string;
  readonly message: string;
  readonly stack: string;
  readonly cause?: unknown;
}

function isRenderedError(value: unknown): value is RenderedError {
  return typeof value === "object" && value !== null && "stack" in value && "message" in value;
}

function stackOf(value: unknown): string {
  if (!isRenderedError(value)) return "";
  const stack = placesOfInterest(value);
  const own = stack === "" ? "" : `    ${stack.replaceAll("\n", "\n    ")}\n`;
  return isRenderedError(value.cause) ? `${own}    caused by:\n${stackOf(value.cause)}` : own;
}

/** A place in the binary: there, its own sources have relative paths, and those of modules absolute ones. */
const OWN_PLACE = /\n\s+at [^\n]*\((?:src\/[^\n)]*|unknown)\)/;
const CALLED_FROM = new RegExp(`(?:${OWN_PLACE.source})+\\s*$`);

/** Without what called the module. Of an answer of the API server nothing is left: its message says all. */
function placesOfInterest({ name, stack }: RenderedError): string {
  const places = stack.replace(CALLED_FROM, "");
  if (/\n\s+at /.test(places)) return places;
  return name === "ApiError" ? "" : stack;
}
