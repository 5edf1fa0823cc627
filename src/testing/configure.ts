/** Sets the configuration of a module under test. */
import type { z } from "zod";
import { type Config, stateOf } from "../module/config/config.ts";

/**
 * Sets the values of a configuration, until the result is disposed of. A test reads no environment and no files:
 * without this, a field has its default, and reading one without a default throws.
 *
 * @param settings the result of `config`, as the module exports it.
 * @throws TypeError naming each value that the schema refuses.
 * @example
 * using _ = configure(settings, { apiToken: "for the test" });
 */
export function configure<S extends z.ZodObject>(settings: Config<S>, values: z.input<S>): Disposable {
  const state = stateOf(settings);
  const parsed = state.declared.schema.safeParse(values);
  if (!parsed.success) {
    const faults = parsed.error.issues.map(({ path, message }) => [...path, message].join(": "));
    throw new TypeError(`Cannot configure: ${faults.join("; ")}`);
  }
  const before = state.override;
  state.override = parsed.data;
  return { [Symbol.dispose]: () => void (state.override = before) };
}
