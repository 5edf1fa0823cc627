/** Hooks of the tests that import "bun:test". */
export { afterEachTest as afterEach } from "./bun-test.ts";
