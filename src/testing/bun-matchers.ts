/**
 * The types of the matchers for Bun's `expect`. The declarations that `binnacle check` and editors use include this
 * file, and nothing imports it, because JSR accepts no package whose modules reach an ambient one.
 */
import type { ExpectedCondition } from "./matchers.ts";

/** The matchers of `expect(object)` after `expect.extend(matchers)`. */
declare module "bun:test" {
  interface Matchers<T = unknown> {
    /** The condition exists and refers to the object's newest generation. @param expected @default status `True` */
    toHaveCondition(type: string, expected?: ExpectedCondition): void;
    /** The owner is the object's controller, by UID. */
    toBeControlledBy(owner: object): void;
    /**
     * Checks that the objects among `objects` that this one controls have these kinds and names, such as `["ConfigMap
     * first"]`.
     */
    toHaveChildren(objects: readonly object[], names: readonly string[]): void;
  }
}
