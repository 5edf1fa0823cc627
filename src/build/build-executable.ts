/** Builds an executable: this program, the runtime of a target, and modules. */
import { existsSync, realpathSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { basename, dirname, join, parse, relative, sep } from "node:path";
import { compileExecutable } from "#runtime/bundler";
import type { ModuleEntry } from "../loader/scan.ts";
import { messageOf } from "../platform/error-message.ts";
import { BuildError, writing } from "./build-error.ts";
import { runtimeFor } from "./executable/runtime.ts";
import { hostTarget, type Target } from "./executable/targets.ts";
import type { BuiltInModule, BuiltInOperator } from "../loader/built-in.ts";
import { bundleModules, controllersFolder, explained, moduleName } from "./modules/bundle-modules.ts";

export interface ExecutableBuild {
  readonly target: Target;
  /** This program's code by file name; one is `main.js`. */
  readonly program: ReadonlyMap<string, string>;
  /** A file that says in which order this program uses its bytecode. */
  readonly order?: string | undefined;
  readonly version: string;
  /** The operator that is built; `undefined` for this program alone. */
  readonly operator: { readonly name: string; readonly modules: readonly ModuleEntry[] | undefined } | undefined;
  /** The packages that the binary offers to modules, with their exports. */
  readonly offered: Readonly<Record<string, object>>;
  readonly output: string;
  /** The folder in which runtimes are cached. */
  readonly cache: string;
  readonly signal?: AbortSignal | undefined;
}

/** Writes the executable beside its place, and then puts it there. @throws BuildError */
export async function buildExecutable(options: ExecutableBuild): Promise<void> {
  await writing(options.output, () => write(options));
}

async function write(options: ExecutableBuild): Promise<void> {
  const { target, program, order, version, operator, offered, output, cache, signal } = options;
  const modules = operator?.modules ?? [];
  const inside = modules.length === 0 ? undefined : await insideOf(modules, offered);
  // The bundler derives names of chunks from absolute paths, so without modules the root is one that all machines have.
  const root = inside?.root ?? parse(process.cwd()).root;
  const runtime =
    target === hostTarget() ? undefined : { path: await runtimeFor(target, { cache, signal }), target: target.name };
  const name = operator?.name ?? "binnacle";
  const builtIn: BuiltInOperator | undefined =
    operator && (operator.modules === undefined ? { name } : { name, modules: inside?.modules ?? [] });
  await mkdir(dirname(output), { recursive: true });
  const aside = await mkdtemp(join(dirname(output), `.${basename(output)}-`));
  try {
    // The name of the file becomes a part of its content, so it does not depend on where the file goes.
    const outfile = join(aside, name);
    await compileExecutable({
      program,
      threads: [...program.keys()].filter((name) => name.endsWith("-thread.js")),
      modules: modules.map(({ file }) => realpathSync(file)),
      define: {
        BUILD_VERSION: JSON.stringify(version),
        ...(builtIn !== undefined && { BUILD_OPERATOR: JSON.stringify(builtIn) }),
      },
      root,
      external: Object.keys(offered),
      runtime,
      bytecodeOrder: order,
      outfile,
    }).catch((error: unknown) => {
      throw new BuildError(`Cannot build: ${whyNot(error, { modules, offered })}`, { cause: error });
    });
    signal?.throwIfAborted();
    const executable = [outfile, `${outfile}.exe`].find((file) => existsSync(file));
    if (executable === undefined) throw new BuildError(`Cannot build ${output}: the bundler has written nothing`);
    await chmod(executable, 0o755);
    await rename(executable, output);
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

function whyNot(
  error: unknown,
  {
    modules,
    offered,
  }: { readonly modules: readonly ModuleEntry[]; readonly offered: Readonly<Record<string, object>> },
): string {
  const [first] = modules;
  if (first !== undefined && error instanceof AggregateError) return explained(error, first, offered);
  return messageOf(error);
}

interface Inside {
  /** The folder that contains all modules. */
  readonly root: string;
  readonly modules: readonly BuiltInModule[];
}

/**
 * Determines the future place of the modules. Each is first bundled alone, which reveals its mistakes and its files.
 */
async function insideOf(entries: readonly ModuleEntry[], offered: Readonly<Record<string, object>>): Promise<Inside> {
  const bundled = await bundleModules(entries, { offered, destination: "/" });
  const folders = entries.map((one) => dirname(controllersFolder(one)));
  const root = commonFolder([...folders, ...entries.map(({ file }) => dirname(realpathSync(file)))]);
  const modules = entries.map((one, index): BuiltInModule => {
    const own = relative(root, realpathSync(one.file)).replaceAll(sep, "/");
    const others = bundled[index]!.inputs.map((file) => relative(root, file).replaceAll(sep, "/"));
    return {
      name: moduleName(one),
      path: own.replace(/\.[tj]s$/, ".js"),
      origins: [own, ...others.filter((file) => file !== own && !file.includes("node_modules/")).sort()],
    };
  });
  const paths = modules.map(({ path }) => path);
  const twice = modules.find(({ path }, index) => paths.indexOf(path) !== index);
  if (twice !== undefined) {
    throw new BuildError(
      `Cannot build: there are two modules '${twice.path.replace(/\.js$/, "")}', one .ts and one .js; rename one`,
    );
  }
  return { root, modules };
}

/** Returns the innermost folder that contains all of these. */
function commonFolder(folders: readonly string[]): string {
  const [first = [], ...rest] = folders.map((folder) => folder.split(sep));
  const parts = [...first];
  for (const other of rest) {
    let same = 0;
    while (same < parts.length && parts[same] === other[same]) same++;
    parts.length = same;
  }
  return parts.join(sep) || sep;
}
