/** Loads modules from disk at run time, each into a graph of its own that can be discarded. */
import { realpathSync } from "node:fs";
import { type Clock, systemClock } from "./clock.ts";
import { knowModule } from "./error-owner.ts";
import { loopMarks, markText } from "./loop-marks.ts";
import { removeProcessListeners } from "./process-listeners.ts";

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
}

/** The module's top-level code did not end in time. */
class LoadTimeout extends Error {
  override readonly name = "LoadTimeout" as const;
}

/**
 * The packages that modules may import from inside the binary: the namespace of each, or a function that loads it at
 * its first import.
 */
export type OfferedPackages = Readonly<Record<string, object | (() => Promise<object>)>>;

/** Lets modules import packages of the binary, under exactly these names, before any `node_modules`. */
export function offerModules(packages: OfferedPackages): void {
  Bun.plugin({
    name: "binnacle",
    setup(build) {
      for (const [name, offer] of Object.entries(packages)) {
        const loaded = (exports: object) => ({
          exports: exports as Record<string, unknown>,
          loader: "object" as const,
        });
        build.module(name, typeof offer === "function" ? async () => loaded(await offer()) : () => loaded(offer));
      }
    },
  });
}

/** Returns all packages with their namespaces. */
export async function allLoaded(packages: OfferedPackages): Promise<Readonly<Record<string, object>>> {
  const loading = Object.entries(packages).map(async ([name, offer]) => {
    return [name, typeof offer === "function" ? await offer() : offer] as const;
  });
  return Object.fromEntries(await Promise.all(loading));
}

/**
 * Loads a file and what it imports, fresh from disk.
 *
 * @throws what the module's top-level code threw, the errors of the bundler and resolver, LoadTimeout.
 */
export async function loadGraph(file: string, options: LoadGraphOptions): Promise<LoadedGraph> {
  const { name = file, onError, timeout = 10_000, clock = systemClock } = options;
  const graph = new Bun.ModuleGraph({ onError: (error) => onError(error) });
  // ConfigMap mounts replace a link, so the real path names one version. A file inside this executable has no other path.
  const path = isInside(file) ? file : realpathSync(file);
  const mark = loopMarks.take(markText({ module: name }));
  const loading = loopMarks.take(markText({ module: name, loading: true }));
  const known = knowModule(graph, { files: options.files ?? [path], onError, mark });
  let isDisposed = false;
  const dispose = (): void => {
    if (isDisposed) return;
    isDisposed = true;
    known[Symbol.dispose]();
    graph.dispose();
    removeProcessListeners(graph);
    loopMarks.release(mark);
  };
  const importing = graph.import<Record<string, unknown>>(path);
  const { promise: late, reject } = Promise.withResolvers<never>();
  using _timer = clock.setTimeout(
    () => reject(new LoadTimeout(`its top-level code did not end within ${timeout / 1000} s`)),
    timeout,
  );
  try {
    const exports = await Promise.race([importing, late]);
    const run = <T>(fn: () => T): T => {
      const before = loopMarks.enterModule(mark);
      try {
        return graph.run(fn);
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

/** Returns whether a file is inside this executable. */
function isInside(file: string): boolean {
  return /^(\/\$bunfs|[A-Z]:[/\\]~BUN)[/\\]/.test(file);
}

/** Returns the relative imports of a source, and the packages that it names. */
export function importsOf(source: string): readonly string[] {
  return new Bun.Transpiler({ loader: "tsx" }).scanImports(source).map(({ path }) => path);
}

/** Returns the file to which an import in `file` refers; `undefined` when there is none. */
export function resolveImport(specifier: string, file: string): string | undefined {
  try {
    return Bun.resolveSync(specifier, file.slice(0, file.lastIndexOf("/")));
  } catch {
    return undefined;
  }
}
