/** Modules that are loaded from disk at run time, each so that it can be discarded. */
import { type Clock, systemClock } from "./clock.ts";
import { knowModule } from "./error-owner.ts";
import { loopMarks, markText } from "./loop-marks.ts";
import { removeProcessListeners } from "./process-listeners.ts";

export interface LoadedGraph {
  readonly exports: Readonly<Record<string, unknown>>;
  /**
   * Calls user code: resources that it opens belong to the module, and errors that it does not catch reach `onError`.
   */
  readonly run: <T>(fn: () => T) => T;
  /** Closes timers, servers and requests of the module's code; promises that wait for them never settle. */
  readonly dispose: () => void;
}

export interface LoadGraphOptions {
  /** The name of the module, for reports of who blocks the event loop. @default the file */
  readonly name?: string | undefined;
  /** Called with an error that the module's code threw outside of a call, or rejected without a handler. */
  readonly onError: (error: unknown) => void;
  /** The real paths of the module's files, its own file first. @default its own file */
  readonly files?: readonly string[] | undefined;
  /** The timeout in milliseconds. @default 10_000 */
  readonly timeout?: number | undefined;
  /** @default systemClock */
  readonly clock?: Clock | undefined;
  /** Called before any of the module's code runs, with the object that `currentModule` returns for it. */
  readonly onCreated?: ((module: object) => void) | undefined;
  /**
   * Called when the module's code has run up to its first `await`, before code of another module runs. Only a runtime in
   * which modules share built-in objects calls it.
   */
  readonly onEvaluated?: (() => void) | undefined;
}

/** The module's top-level code did not end in time. */
class LoadTimeout extends Error {
  override readonly name = "LoadTimeout" as const;

  /** @param timeout milliseconds. */
  constructor(timeout: number) {
    super(`its top-level code did not end within ${timeout / 1000} s`);
  }
}

/** The part of loading that each runtime does in its own way. */
interface GraphParts {
  /** Stands for the module while its code runs. */
  readonly graph: object;
  /** The real path of the file. */
  readonly path: string;
  readonly load: () => Promise<Record<string, unknown>>;
  /** Calls user code. */
  readonly run: <T>(fn: () => T) => T;
  /** Ends what the module has opened. */
  readonly close: () => void;
}

/** Loads a module from its parts. @throws what its top-level code threw, LoadTimeout. */
export async function loadParts(file: string, options: LoadGraphOptions, parts: GraphParts): Promise<LoadedGraph> {
  const { name = file, onError, timeout = 10_000, clock = systemClock, files = [parts.path] } = options;
  const { graph } = parts;
  options.onCreated?.(graph);
  const mark = loopMarks.take(markText({ module: name }));
  const loading = loopMarks.take(markText({ module: name, loading: true }));
  const registration = knowModule(graph, { files, onError, mark });
  let isDisposed = false;
  const dispose = (): void => {
    if (isDisposed) return;
    isDisposed = true;
    registration[Symbol.dispose]();
    parts.close();
    removeProcessListeners(graph);
    loopMarks.release(mark);
  };
  const { promise: late, reject } = Promise.withResolvers<never>();
  using _timer = clock.setTimeout(() => reject(new LoadTimeout(timeout)), timeout);
  const importing = parts.load();
  try {
    const exports = await Promise.race([importing, late]);
    const run = <T>(fn: () => T): T => {
      const before = loopMarks.enterModule(mark);
      try {
        return parts.run(fn);
      } finally {
        loopMarks.leaveModule(before);
      }
    };
    return { exports, run, dispose };
  } catch (error) {
    importing.catch(() => {});
    dispose();
    throw error;
  } finally {
    loopMarks.release(loading);
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
