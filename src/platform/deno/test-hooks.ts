/** Hooks of the test runner of Deno. */
import { afterEach as register } from "node:test";

/** Calls back after each test. */
export function afterEach(callback: () => void): void {
  register(callback);
}
