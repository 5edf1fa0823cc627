/** Hooks of the test runner of Bun. */
import { afterEach as register } from "bun:test";

/** Calls back after each test, of which the runner does not tell whether it failed. */
export function afterEach(callback: (hasFailed: boolean | undefined) => void): void {
  register(() => callback(undefined));
}
