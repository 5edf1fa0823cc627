/** Turns the files that modules import into scripts of the runtime. */
import { readFileSync } from "node:fs";
import { createRequire, stripTypeScriptTypes } from "node:module";
import { pathToFileURL } from "node:url";

/** A file that cannot be parsed, with the place of the mistake. */
export class SourceError extends SyntaxError {
  override readonly name = "SyntaxError" as const;
  readonly position: {
    readonly file: string;
    readonly line: number;
    readonly column: number;
    readonly lineText: string;
  };

  constructor(message: string, { file, line, column }: { file: string; line: number; column: number }) {
    super(message);
    this.position = { file, line, column, lineText: lineOf(file, line) };
  }
}

/** Returns a line of a file, counted from 1. */
export function lineOf(file: string, line: number): string {
  try {
    return readFileSync(file, "utf8").split("\n")[line - 1] ?? "";
  } catch {
    return "";
  }
}

/** Turns JSX into a script, which only the runtime's own loader can. */
export type LoadJsx = (path: string) => string;

/**
 * The parser of YAML; loaded before the first import of such a file, because a module's files are read synchronously.
 */
let parseYaml: ((text: string) => unknown) | undefined;

/** Prepares for modules that import files of these names. */
export async function prepareFor(files: readonly string[]): Promise<void> {
  if (parseYaml === undefined && files.some((file) => /\.ya?ml$/.test(file))) parseYaml = (await import("yaml")).parse;
}

/**
 * Returns the script of a file.
 *
 * @param type the import attribute of that name.
 * @throws SourceError when the file cannot be parsed.
 */
export function scriptOf(path: string, { type, loadJsx }: { type: string | undefined; loadJsx: LoadJsx }): string {
  if (type === "text" || (type === undefined && path.endsWith(".txt"))) return valueScript(readFileSync(path, "utf8"));
  if (path.endsWith(".json")) return valueScript(JSON.parse(readFileSync(path, "utf8")));
  if (/\.ya?ml$/.test(path) && parseYaml !== undefined) return valueScript(parseYaml(readFileSync(path, "utf8")));
  if (/\.c[jt]s$/.test(path)) return commonScript(path);
  if (/\.[jt]sx$/.test(path)) return inPlace(path, loadJsx(path));
  const source = readFileSync(path, "utf8");
  return inPlace(path, /\.m?ts$/.test(path) ? withoutTypes(source, path) : source);
}

/** A script that exports a value, and the properties of an object under their names. */
function valueScript(value: unknown): string {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  const names = isObject ? Object.keys(value).filter((name) => isExportable(name)) : [];
  const properties = names.map((name) => `export const ${name} = value[${JSON.stringify(name)}];`);
  return `const value = ${JSON.stringify(value)};\nexport default value;\n${properties.join("\n")}`;
}

/** Returns a script that exports the exports of a CommonJS file, which it runs anew. */
function commonScript(path: string): string {
  const require = createRequire(path);
  delete require.cache[path];
  const exports: unknown = require(path);
  const isObject = (typeof exports === "object" || typeof exports === "function") && exports !== null;
  return objectScript(isObject ? exports : {}, exports);
}

/** Returns a script that exports the properties of an object of this process, and `main` as its default. */
export function objectScript(object: object, main?: unknown): string {
  const id = keep({ object, main });
  const names = Object.keys(object).filter((name) => isExportable(name));
  const properties = names.map((name) => `export const ${name} = object[${JSON.stringify(name)}];`);
  const hasDefault = main !== undefined || Object.hasOwn(object, "default");
  const fallback = hasDefault ? "export default main ?? object.default;" : "";
  return `const { object, main } = globalThis[Symbol.for("${KEPT}")](${id});\n${fallback}\n${properties.join("\n")}`;
}

const KEPT = "binnacle.modules.take";
const objects = new Map<number, { readonly object: object; readonly main: unknown }>();
let lastId = 0;

/** Scripts have access only to globals, so the script takes the object from there when it is evaluated. */
function keep(one: { readonly object: object; readonly main: unknown }): number {
  const take = (id: number) => {
    const existing = objects.get(id);
    objects.delete(id);
    return existing;
  };
  if (lastId === 0) Object.defineProperty(globalThis, Symbol.for(KEPT), { value: take });
  objects.set(++lastId, one);
  return lastId;
}

/** Whether a property can be exported under its name. */
function isExportable(name: string): boolean {
  return /^[A-Za-z_$][\w$]*$/.test(name) && !RESERVED.has(name);
}

const RESERVED = new Set(
  (
    "arguments await break case catch class const continue debugger default delete do else enum eval export extends false " +
    "finally for function if implements import in instanceof interface let main new null object package private protected " +
    "public return static super switch this throw true try typeof value var void while with yield"
  ).split(" "),
);

/** Replaces types by blanks, so that positions stay the same; syntax that is more than types is rewritten. */
function withoutTypes(source: string, path: string): string {
  try {
    return stripTypeScriptTypes(source);
  } catch {
    return rewritten(source, path);
  }
}

/** The declarations know only the runtime that rewrites nothing. */
type Rewrite = (source: string, options: { readonly mode: "transform"; readonly sourceMap: boolean }) => string;

function rewritten(source: string, path: string): string {
  let code: string;
  try {
    code = (stripTypeScriptTypes as unknown as Rewrite)(source, { mode: "transform", sourceMap: true });
  } catch (error) {
    throw unparsable(error, path);
  }
  // The map names a file of the runtime; stack traces must name the user's.
  return code.replace(/(\/\/# sourceMappingURL=data:application\/json;base64,)(\S+)\s*$/, (_, mark, encoded) => {
    const map = JSON.parse(Buffer.from(encoded as string, "base64").toString()) as object;
    const own = { ...map, sources: [pathToFileURL(path).href] };
    return mark + Buffer.from(JSON.stringify(own)).toString("base64");
  });
}

function unparsable(error: unknown, file: string): Error {
  const text = error instanceof Error ? error.message : String(error);
  const at = /:(\d+):(\d+)\s*$/.exec(text);
  const message = text.split("\n")[0]!.replace(/^(SyntaxError: |\[\w+\] )+/, "");
  return at === null
    ? new SyntaxError(`${file}: ${message}`)
    : new SourceError(message, { file, line: Number(at[1]), column: Number(at[2]) });
}

/** Lets a script that asks for its own place find that of its file. */
function inPlace(path: string, script: string): string {
  if (!script.includes("import.meta")) return script;
  const place = { url: pathToFileURL(path).href, filename: path, dirname: path.slice(0, path.lastIndexOf("/")) || "/" };
  const hashbang = /^#!.*\n/.exec(script)?.[0] ?? "";
  return `${hashbang}Object.assign(import.meta,${JSON.stringify(place)});${script.slice(hashbang.length)}`;
}
