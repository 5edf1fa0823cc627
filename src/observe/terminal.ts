import { fstatSync } from "node:fs";

/**
 * Whether a file descriptor is a terminal.
 *
 * `node:tty` loads 3 MiB of code for sockets and streams, so it is asked only about descriptors that can be a
 * terminal.
 */
export function isTerminal(descriptor: number): boolean {
  try {
    if (!fstatSync(descriptor).isCharacterDevice()) return false;
  } catch {
    return false; // the descriptor is closed
  }
  return process.getBuiltinModule("node:tty").isatty(descriptor);
}
