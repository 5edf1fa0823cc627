/** Rewrites errors of loading a module in the words that the loader knows. */
import { moduleFile, withPaths } from "./module-address.ts";
import { isOffered, takeFailure } from "./module-hooks.ts";
import { lineOf, SourceError } from "./module-source.ts";
import { isByPath, resolvePath } from "./resolve-file.ts";

const MISSING_EXPORT =
  /^The requested module '([^']+)' does not provide an export named '([^']+)'(?: at (binnacle-module:\S+?):(\d+):(\d+))?$/;
const MISPLACED = /^(.+) at (binnacle-module:\S+?):(\d+):(\d+)$/;

/** Returns the error that describes why a version of a module cannot be loaded. */
export function explained(error: unknown, id: string): unknown {
  const failure = takeFailure(id);
  if (!(error instanceof Error)) return error;
  if (failure !== undefined && error.message.includes(failure.message)) return failure;
  const missing = MISSING_EXPORT.exec(error.message);
  if (missing !== null) {
    const [, from = "", name = "", place = "", line] = missing;
    const importer = moduleFile(place)?.path;
    if (importer !== undefined && lineOf(importer, Number(line)).startsWith("export"))
      return new SyntaxError(`export '${name}' not found in '${from}'`);
    const source = sourceOf(from, importer);
    return new SyntaxError(
      name === "default"
        ? `Missing 'default' export in module '${source}'`
        : `Export named '${name}' not found in module '${source}'`,
    );
  }
  const misplaced = error instanceof SyntaxError ? MISPLACED.exec(error.message) : null;
  if (misplaced !== null) {
    const [, message = "", place = "", line, column] = misplaced;
    const file = moduleFile(place)?.path ?? place;
    return new SourceError(message, { file, line: Number(line), column: Number(column) });
  }
  if (error.message.includes("binnacle-module:")) error.message = withPaths(error.message);
  return error;
}

/** Returns the file that is imported, or the name of the package. */
function sourceOf(specifier: string, importer: string | undefined): string {
  if (isOffered(specifier) || importer === undefined || !isByPath(specifier)) return specifier;
  return resolvePath(specifier, importer) ?? specifier;
}
