/** Collects garbage at once, if the runtime offers that. */

/** Collects garbage. V8 offers that only with `--expose-gc`; without it, this function does nothing. */
export function collectGarbage(): void {
  (globalThis as { readonly gc?: () => void }).gc?.();
}
