/** Errors in answers of a registry. */
import { printable } from "../../observe/printable.ts";

/** The user can put it right: its message alone is printed. */
export class RegistryError extends Error {
  override readonly name = "UserError" as const;
  /** The status of HTTP; `undefined` where there was no answer. */
  readonly status: number | undefined;

  constructor(
    message: string,
    { status, cause }: { readonly status?: number | undefined; readonly cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.status = status;
  }
}

interface ErrorBody {
  readonly errors?: readonly { readonly code?: unknown; readonly message?: unknown }[];
}

/** The most that is shown of an answer. */
const MOST_SHOWN = 200;

/** Returns the registry's own explanation, in one line. */
export function reasonIn(text: string): string {
  try {
    const { errors = [] } = JSON.parse(text) as ErrorBody;
    const reasons = errors.map(({ code, message }) =>
      [code, message].filter((part) => typeof part === "string" && part !== "").join(": "),
    );
    if (reasons.length > 0) return oneLine(reasons.join("; "));
  } catch {
    // a proxy's page, or nothing
  }
  return text.trimStart().startsWith("<") ? "" : oneLine(text);
}

/** The beginning of a text that a registry decides, as a terminal may be shown it. */
export function oneLine(text: string): string {
  const line = printable(text.trim().slice(0, MOST_SHOWN + 1));
  return line.length > MOST_SHOWN ? `${line.slice(0, MOST_SHOWN)}…` : line;
}
