/** Errors that end a command with one line instead of a stack. */

/** A wrong command line: exit status 2. */
export class UsageError extends Error {
  override readonly name = "UsageError" as const;
}

/** A problem that the user can solve: only its message is printed, and the exit status is 1. */
export class UserError extends Error {
  override readonly name = "UserError" as const;
}
