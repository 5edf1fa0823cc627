/** The options for asking the registry of npm. */

export interface TaggedVersionOptions {
  /** The tag, such as `latest`. */
  readonly tag: string;
  readonly signal: AbortSignal;
  readonly env: Readonly<Record<string, string | undefined>>;
}
