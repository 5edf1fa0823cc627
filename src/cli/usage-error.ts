/** Errors that end a command with one line instead of a stack. */

/** A wrong command line: exit status 2. */
export class UsageError extends Error {
  override readonly name = "UsageError" as const;
}

/** Something the user can put right: its message alone is printed, exit status 1. */
export class UserError extends Error {
  override readonly name = "UserError" as const;
}
