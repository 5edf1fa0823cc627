/** Collects garbage at once, where the runtime can be asked to. */

/** V8 offers this only with `--expose-gc`; without it, nothing happens, and the runtime collects when it sees fit. */
export function collectGarbage(): void {
  (globalThis as { readonly gc?: () => void }).gc?.();
}
