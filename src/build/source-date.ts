/** The time that everything built has, so that the same files make the same bytes. */
import { BuildError } from "./build-error.ts";

/**
 * Milliseconds since the epoch, as `$SOURCE_DATE_EPOCH` says in seconds; otherwise the epoch itself.
 *
 * @see https://reproducible-builds.org/specs/source-date-epoch/
 * @throws BuildError
 */
export function createdAt(env: Readonly<Record<string, string | undefined>>): number {
  const text = env["SOURCE_DATE_EPOCH"] ?? "";
  if (text === "") return 0;
  const seconds = Number(text);
  if (/^\d+$/.test(text) && seconds < 8 ** 11) return seconds * 1000;
  throw new BuildError(`SOURCE_DATE_EPOCH is '${text}': expected seconds since 1970`);
}
