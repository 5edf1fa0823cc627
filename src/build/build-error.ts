/** A problem of a build that the user can solve: only its message is printed. */
export class BuildError extends Error {
  override readonly name = "UserError" as const;
}

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full; make room, or name another place",
  EDQUOT: "the quota of the disk is used up; make room, or name another place",
  EACCES: "you may not write there",
  EPERM: "you may not write there",
  EROFS: "the file system is read-only",
  ENOTDIR: "a folder on the way to it is a file",
  EEXIST: "a folder on the way to it is a file",
  EISDIR: "it is a folder; name a file",
  EFBIG: "files there may not be so large",
};

/**
 * Calls a function that writes a file or into a folder.
 *
 * @throws BuildError in place of an error of the file system; other errors unchanged.
 */
export async function writing<T>(place: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === undefined) throw error;
    throw new BuildError(`Cannot write '${place}': ${reason}`, { cause: error });
  }
}

/** The bundler's errors have no codes, but their texts name them. */
function reasonOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error instanceof BuildError) return error.cause === undefined ? undefined : reasonOf(error.cause);
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (Object.hasOwn(reasons, code)) return reasons[code];
  const texts = error instanceof AggregateError ? error.errors.map(String) : [error.message];
  const named = Object.keys(reasons).find((one) => texts.some((text) => text.includes(one)));
  return named === undefined ? undefined : reasons[named];
}
