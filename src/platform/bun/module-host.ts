/** Loads modules from disk at run time, each into a graph of its own that can be discarded. */
import { realpathSync } from "node:fs";
import { type LoadedGraph, type LoadGraphOptions, loadParts, type OfferedPackages } from "../module-host.ts";

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

/**
 * Loads a file and what it imports, fresh from disk.
 *
 * @throws the error of the module's top-level code, the errors of the bundler and resolver, LoadTimeout.
 */
export async function loadGraph(file: string, options: LoadGraphOptions): Promise<LoadedGraph> {
  const graph = new Bun.ModuleGraph({ onError: (error) => options.onError(error) });
  // ConfigMap mounts replace a link, so the real path names one version. A file inside this executable has no other
  // path.
  const path = isInside(file) ? file : realpathSync(file);
  return loadParts(file, options, {
    graph,
    path,
    load: () => graph.import<Record<string, unknown>>(path),
    run: (fn) => graph.run(fn),
    close: () => graph.dispose(),
  });
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
