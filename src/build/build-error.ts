/** Something about a build that the user can put right: its message alone is printed. */
export class BuildError extends Error {
  override readonly name = "UserError" as const;
}
