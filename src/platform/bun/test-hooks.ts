/** Hooks of the test runner of Bun. */
import { afterEach as register } from "bun:test";

/** Calls back after each test; the runner does not report whether it failed. */
export function afterEach(callback: (hasFailed: boolean | undefined) => void): void {
  register(() => callback(undefined));
}
