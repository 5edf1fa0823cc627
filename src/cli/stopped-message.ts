/** What is left of a build that was stopped. */
export function stoppedMessage(written: readonly string[]): string {
  if (written.length === 0) return "Stopped, and nothing has been written";
  return `Stopped: ${written.join(", ")} ${written.length === 1 ? "has" : "have"} been written, and nothing else`;
}
