/** Errors in answers of a registry. */
import { printable } from "../../observe/printable.ts";

/** A problem of a registry that the user can solve: only its message is printed. */
export class RegistryError extends Error {
  override readonly name = "UserError" as const;
  /** The HTTP status; `undefined` without a response. */
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

/** The maximum number of characters of a response that are shown. */
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

/** Returns the beginning of a text from a registry, safe for a terminal. */
export function oneLine(text: string): string {
  const line = printable(text.trim().slice(0, MOST_SHOWN + 1));
  return line.length > MOST_SHOWN ? `${line.slice(0, MOST_SHOWN)}…` : line;
}
