/** Turns an error of loading a module into one message that names the place and the remedy. */
import { existsSync, lstatSync, realpathSync } from "node:fs";
import { basename, dirname, normalize, parse, relative } from "node:path";
import { suggestion } from "../module/nearest.ts";

export interface ExplainContext {
  /** The module's file as the user named it. */
  readonly file: string;
  /** The sources of its files by real path, its own first. */
  readonly sources: ReadonlyMap<string, string>;
  /** The paths that stack traces name instead of bundled files. @default none */
  readonly origins?: readonly string[];
  /** The exact names that resolve from inside the binary, with their exports. */
  readonly offered: Readonly<Record<string, object>>;
}

interface Position {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly lineText: string;
}

/** Returns a message of one or more lines, without a stack. */
export function explain(error: unknown, context: ExplainContext): string {
  if (error instanceof AggregateError) {
    return [...new Set(error.errors.map((one) => explain(one, context)))].join("\n");
  }
  if (!(error instanceof Error) && !isBuildMessage(error)) return `it threw ${String(error)}`;
  const { message } = error;
  if ("code" in error && error.code === "ENOENT" && isDeadLink(context.file))
    return `${context.file} is a link that leads nowhere: mend or remove it`;
  if (isBuildMessage(error) && error.position) return syntaxError(message, error.position, context);
  if (isResolveMessage(error)) return missing(error, context);
  const missingName = /^Export named '([^']+)' not found in module '(.+)'\.?$/.exec(message);
  if (missingName !== null) return missingExport(missingName[1]!, missingName[2]!, context);
  const withoutDefault =
    /^Missing 'default' export in module '(.+)'\.?$/.exec(message) ??
    /^module '(.+)' does not have an export named 'default'\./.exec(message);
  if (withoutDefault !== null) return missingExport("default", withoutDefault[1]!, context);
  const reexport = /^export '([^']+)' not found in '(.+)'\.?$/.exec(message);
  if (reexport !== null) return missingReexport(reexport[1]!, reexport[2]!, context);
  const at = originOf(error as Error, context);
  const text = READ_ONLY.test(message)
    ? `${message.replace(/\.$/, "")}${SHARED}`
    : (addonProblem(message, context) ?? message);
  return at === undefined ? text : `${at}: ${text}`;
}

/** The engine's messages for changes of frozen objects. */
const READ_ONLY =
  /^(Attempted to assign to readonly property|Attempting to (define property on object that is not extensible|change .* (unconfigurable|readonly) property)|Unable to delete property)/;
const SHARED = " (built-in objects cannot be changed: all modules share them)";

/** Explains the messages of the operating system's loader, and of the runtime, about a native addon. */
function addonProblem(message: string, context: ExplainContext): string | undefined {
  const failed = /^(\/.+\.node): (.+)$/s.exec(message);
  const what = failed === null ? "a native addon" : `the native addon '${normalize(displayPath(failed[1]!, context))}'`;
  if (failed === null && !message.startsWith("To load Node-API modules")) return undefined;
  const why = failed === null ? "an `import` loads none, only `require` does" : failed[2]!;
  return `Cannot load ${what}: ${why}; an addon is made for one machine: install it for this one, or use a package without an addon, which can also be built into an image`;
}

function isDeadLink(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true && !existsSync(file);
}

function isBuildMessage(error: unknown): error is { readonly message: string; readonly position: Position | null } {
  return typeof error === "object" && error !== null && "position" in error && "message" in error;
}

function isResolveMessage(
  error: unknown,
): error is { readonly specifier: string; readonly referrer: string; readonly message: string } {
  return typeof error === "object" && error !== null && "specifier" in error && "referrer" in error;
}

/** Shows a real path as the user knows it: relative to the module's folder, by the name that the user typed. */
export function displayPath(path: string, { file, sources }: Pick<ExplainContext, "file" | "sources">): string {
  const [own] = sources.keys();
  if (own === undefined || path === own) return file;
  if (path.startsWith("/dev/")) return path;
  const inside = relative(dirname(own), path);
  const folder = dirname(file);
  return folder === "." ? inside : `${folder}/${inside}`;
}

function syntaxError(message: string, position: Position, context: ExplainContext): string {
  const { file, line, column, lineText } = position;
  const path = displayPath(file, context);
  // A link may lead to a distant file that is not code, and the parser's message would quote it.
  if (!isNear(file, context.file)) {
    return `${path}: it is not TypeScript, and is not shown, because it is in another place`;
  }
  return `${path}:${line}:${column}: ${message}\n    ${lineText.trim()}`;
}

/** Whether a file is, with all links resolved, in the folder of a module, in one below it, or in one beside it. */
function isNear(file: string, module: string): boolean {
  const folder = realpathSync(dirname(module));
  const around = dirname(folder) === parse(folder).root ? folder : dirname(folder);
  const real = existsSync(file) ? realpathSync(file) : file;
  return !relative(around, real).startsWith("..");
}

/** Finds the place of a text in the module's sources, as `file:line:column`. */
function locate(text: RegExp, context: Pick<ExplainContext, "file" | "sources">): string | undefined {
  for (const [path, source] of context.sources) {
    const index = source.search(text);
    if (index < 0) continue;
    const before = source.slice(0, index).split("\n");
    return `${displayPath(path, context)}:${before.length}:${before.at(-1)!.length + 1}`;
  }
  return undefined;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&");
}

/** Finds the place of an import, as `file:line:column`. */
export function placeOf(specifier: string, context: Pick<ExplainContext, "file" | "sources">): string {
  return locate(new RegExp(`["']${escaped(specifier)}["']`), context) ?? context.file;
}

function missing({ specifier }: { readonly specifier: string }, context: ExplainContext): string {
  const at = placeOf(specifier, context);
  if (specifier.startsWith(".") || specifier.startsWith("/")) return `${at}: Cannot find the file '${specifier}'`;
  const names = Object.keys(context.offered);
  const [scope = "", ...rest] = specifier.split("/");
  const ofBinary = names.filter((name) => name === scope || name.startsWith(`${scope}/`));
  if (ofBinary.length > 0) {
    return `${at}: Cannot find '${specifier}': the binary offers ${ofBinary.map((name) => `'${name}'`).join(", ")}`;
  }
  const parcel = specifier.startsWith("@") ? `${scope}/${rest[0] ?? ""}` : scope;
  const advice = suggestion(specifier, names);
  return `${at}: Cannot find the package '${specifier}'${advice === "" ? `: install it beside the controllers, \`npm install ${parcel}\`` : advice}`;
}

function missingExport(name: string, from: string, context: ExplainContext): string {
  const [stem = ""] = basename(from).split(".");
  const imported =
    name === "default"
      ? `(?<=\\bimport\\s+)[\\w$]+(?=\\s*(?:,[^;]*)?\\bfrom\\s*["'][^"']*${escaped(stem)})`
      : `\\b${escaped(name)}\\b[^;]{0,1000}["'][^"'\\n]{0,1000}["']`;
  const at = locate(new RegExp(imported), context) ?? context.file;
  const source = context.offered[from];
  const similar = source === undefined ? "" : suggestion(name, Object.keys(source));
  const place = from.startsWith("/") ? displayPath(from, context) : from;
  const advice = similar || (source === undefined ? "" : "; if it is a type, import it with `import type`");
  return `${at}: Cannot import '${name}': '${place}' does not export it${advice}`;
}

function missingReexport(name: string, specifier: string, context: ExplainContext): string {
  const passedOn = new RegExp(`\\b${escaped(name)}\\b[^;]{0,1000}["']${escaped(specifier)}["']`);
  return `${locate(passedOn, context) ?? context.file}: Cannot export '${name}': '${specifier}' does not export it`;
}

/** Returns the innermost stack frame in the module's own files. */
function originOf(error: Error, context: ExplainContext): string | undefined {
  for (const frame of (error.stack ?? "").split("\n")) {
    const match = /(?:\(|\bat (?:async )?)((?:[A-Za-z]:)?[^():]+):(\d+):(\d+)\)?\s*$/.exec(frame);
    if (match === null) continue;
    const [, path = "", line, column] = match;
    if (context.sources.has(path)) return `${displayPath(path, context)}:${line}:${column}`;
    if (context.origins?.includes(path) === true) return `${path}:${line}:${column}`;
  }
  return undefined;
}
