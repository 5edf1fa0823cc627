import { fstatSync } from "node:fs";

/**
 * Whether a file descriptor leads to a terminal.
 *
 * `node:tty` loads what sockets and streams need, 3 MiB of it: it is only asked about what can be a terminal at all.
 */
export function isTerminal(descriptor: number): boolean {
  try {
    if (!fstatSync(descriptor).isCharacterDevice()) return false;
  } catch {
    return false; // it is closed
  }
  return process.getBuiltinModule("node:tty").isatty(descriptor);
}
