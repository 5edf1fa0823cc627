/** Modules that are loaded from disk at run time, each so that it can be discarded. */
import type { Clock } from "./clock.ts";

export interface LoadedGraph {
  readonly exports: Readonly<Record<string, unknown>>;
  /** Calls user code: what it opens belongs to the module, and errors that it does not catch reach `onError`. */
  readonly run: <T>(fn: () => T) => T;
  /** Closes timers, servers and requests of the module's code; promises that wait for them never settle. */
  readonly dispose: () => void;
}

export interface LoadGraphOptions {
  /** The name of the module, for reports of who blocks the event loop. @default the file */
  readonly name?: string | undefined;
  /** Called with what the module's code threw outside of a call, or rejected without a handler. */
  readonly onError: (error: unknown) => void;
  /** The real paths of the module's files, its own first. @default its own */
  readonly files?: readonly string[] | undefined;
  /** The timeout in milliseconds. @default 10_000 */
  readonly timeout?: number | undefined;
  /** @default systemClock */
  readonly clock?: Clock | undefined;
  /** Called, before any of its code runs, with what `currentModule` returns while the module's code does. */
  readonly onCreated?: ((module: object) => void) | undefined;
}

/** The module's top-level code did not end in time. */
export class LoadTimeout extends Error {
  override readonly name = "LoadTimeout" as const;

  /** @param timeout milliseconds. */
  constructor(timeout: number) {
    super(`its top-level code did not end within ${timeout / 1000} s`);
  }
}

/**
 * The packages that modules may import from inside the binary: the namespace of each, or a function that loads it at
 * its first import.
 */
export type OfferedPackages = Readonly<Record<string, object | (() => Promise<object>)>>;

/** Returns all packages with their namespaces. */
export async function allLoaded(packages: OfferedPackages): Promise<Readonly<Record<string, object>>> {
  const loading = Object.entries(packages).map(async ([name, offer]) => {
    return [name, typeof offer === "function" ? await offer() : offer] as const;
  });
  return Object.fromEntries(await Promise.all(loading));
}
