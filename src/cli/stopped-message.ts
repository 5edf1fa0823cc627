/** What is left of a build that was stopped. */
export function stoppedMessage(outputs: readonly string[]): string {
  if (outputs.length === 0) return "Stopped, and nothing has been written";
  return `Stopped: ${outputs.join(", ")} ${outputs.length === 1 ? "has" : "have"} been written, and nothing else`;
}
