/** The error with which an author rejects a request. */

export interface DeniedOptions {
  /**
   * The HTTP status code for the client, from 400 to 599. With 422 the response has the reason `Invalid`, and kubectl
   * prints one line for each entry of `fields`.
   *
   * @default 403
   */
  readonly code?: number;
  /** The reason in the response. @default `Forbidden`, `Invalid` or the code's usual one */
  readonly reason?: string;
  /** The problem of each field, such as `{ "spec.image": "must not be latest" }`. Each entry becomes a cause. */
  readonly fields?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/**
 * Refuses a webhook's request. The binary recognises it by its name, so that a module's own copy of the class works
 * too.
 *
 * @throws TypeError when the code does not mean a refusal.
 * @example
 * throw new Denied("the image has no tag", { code: 422, fields: { "spec.image": "must name a tag" } });
 */
export class Denied extends Error {
  override readonly name = "Denied" as const;
  readonly code: number;
  readonly reason: string | undefined;
  readonly fields: Readonly<Record<string, string>>;

  constructor(message: string, options: DeniedOptions = {}) {
    super(message, { cause: options.cause });
    const { code = 403, reason, fields = {} } = options;
    if (!Number.isInteger(code) || code < 400 || code > 599) {
      throw new TypeError(`Cannot deny with code ${String(code)}: use a whole number from 400 to 599`);
    }
    this.code = code;
    this.reason = reason;
    this.fields = fields;
  }
}

/** Whether a thrown value is a {@link Denied} of any copy of the SDK. */
export function isDenied(error: unknown): error is Denied {
  return error instanceof Error && error.name === "Denied" && typeof (error as Denied).code === "number";
}
