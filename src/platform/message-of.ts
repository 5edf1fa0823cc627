/** Returns the message of whatever was thrown; a value that is no error becomes text. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
