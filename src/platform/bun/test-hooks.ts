/** Hooks of the test runner of Bun. */
import { afterEach as register } from "bun:test";

/** Calls back after each test. */
export function afterEach(callback: () => void): void {
  register(callback);
}
