/**
 * The bundler of the runtime: bundles modules with all their imports into one file, and compiles programs to
 * executables.
 */
import { isBuiltin } from "node:module";
import { join, parse } from "node:path";
import type { Bundle, BundledText, BundleModuleOptions, CompileOptions } from "../bundler.ts";

/** Whether an import names a module of the runtime, besides those of Node. */
export function isRuntimeModule(specifier: string): boolean {
  return specifier === "bun" || specifier.startsWith("bun:");
}

/** Bundles a module and its imports into one file. @throws the bundler's error, like an import of the module */
export async function bundleModule(
  entry: string,
  { root, external, destination }: BundleModuleOptions,
): Promise<Bundle> {
  using _folder = workingIn(root);
  const watch = witness(external);
  const { outputs } = await Bun.build({
    entrypoints: [entry],
    root,
    target: "bun",
    format: "esm",
    sourcemap: "inline",
    minify: { whitespace: true, syntax: true },
    naming: { entry: "index.js", asset: "[name]-[hash].[ext]" },
    publicPath: destination,
    define: { ...ASKED_AT_RUN_TIME },
    plugins: [watch.plugin],
  });
  const code = outputs.find(({ kind }) => kind === "entry-point");
  const assets = outputs.filter(({ kind }) => kind === "asset");
  return {
    code: (await code?.text()) ?? "",
    assets: new Map(
      await Promise.all(
        assets.map(
          async (asset) => [asset.path.replace(/^\.\//, ""), new Uint8Array(await asset.arrayBuffer())] as const,
        ),
      ),
    ),
    inputs: [...watch.inputs],
    addons: [...watch.addons],
  };
}

/** Bundles a module and the packages that it imports into one file without a source map, if one file suffices. */
export async function bundleText(file: string, external: readonly string[]): Promise<BundledText> {
  const inputs = new Set<string>();
  const built = await Bun.build({
    entrypoints: [file],
    target: "bun",
    format: "esm",
    external: [...external],
    define: { ...ASKED_AT_RUN_TIME },
    plugins: [
      {
        name: "inputs",
        setup(build) {
          build.onLoad({ filter: /.*/, namespace: "file" }, ({ path }) => {
            inputs.add(path);
            return undefined;
          });
        },
      },
    ],
    // Names are kept, because users read stack traces.
    minify: { whitespace: true, syntax: true },
    throw: false,
  });
  const outputs = built.outputs.map((output) => ({
    name: output.path,
    isAsset: output.kind === "asset",
    text: () => output.text(),
  }));
  const problem = built.success ? undefined : (built.logs[0]?.message ?? "the bundler gives no reason");
  return { outputs, inputs, problem };
}

/** Makes an executable. @throws the bundler's error */
export async function compileExecutable(options: CompileOptions): Promise<void> {
  const { program, threads, modules, define, root, external, runtime, bytecodeOrder, outfile } = options;
  const ofProgram = [...program].map(([name, text]) => [join(root, PROGRAM, name), text] as const);
  // A file that is only listed goes below the program by its whole path, whatever `root` is.
  const begun = threads.map((name) => {
    return [join(parse(root).root, name), `import ${JSON.stringify(join(root, PROGRAM, name))};`] as const;
  });
  using _folder = workingIn(root);
  await Bun.build({
    entrypoints: [join(root, PROGRAM, "main.js"), ...begun.map(([file]) => file), ...modules],
    root,
    files: Object.fromEntries([...ofProgram, ...begun]),
    target: "bun",
    format: "esm",
    splitting: true,
    bytecode: true,
    sourcemap: "linked",
    minify: { whitespace: true, syntax: true },
    define: { ...define, ...ASKED_AT_RUN_TIME },
    plugins: [witness(external).plugin],
    compile: {
      outfile,
      autoloadDotenv: false,
      autoloadBunfig: false,
      autoloadPackageJson: true,
      bytecodeOrder: bytecodeOrder ?? null,
      ...(runtime !== undefined && {
        executablePath: runtime.path,
        target: `bun-${runtime.target}` as Bun.Build.CompileTarget,
      }),
    },
  });
}

/** Variables to be read at run time; the bundler would replace them by their values during the build. */
const ASKED_AT_RUN_TIME: Readonly<Record<string, string>> = { "process.env.NODE_ENV": "process.env.NODE_ENV" };

/** Source maps name files relative to the working directory, whatever `root` is. */
function workingIn(folder: string): Disposable {
  const before = process.cwd();
  process.chdir(folder);
  return { [Symbol.dispose]: () => process.chdir(before) };
}

/** A folder that does not exist: the program's files are passed by name, so that nothing depends on their place. */
const PROGRAM = ".binnacle-program";

interface Witness {
  readonly plugin: Bun.BunPlugin;
  readonly inputs: Set<string>;
  readonly addons: Set<string>;
}

/** Leaves imports of offered packages as they are, and records the files that are read. */
function witness(external: readonly string[]): Witness {
  const inputs = new Set<string>();
  const addons = new Set<string>();
  const plugin: Bun.BunPlugin = {
    name: "witness",
    setup(build) {
      build.onResolve({ filter: /^[^./]/ }, ({ path }) => {
        return external.includes(path) || isBuiltin(path) || isRuntimeModule(path)
          ? { path, external: true }
          : undefined;
      });
      build.onLoad({ filter: /\.node$/ }, ({ path }) => {
        addons.add(path);
        return { contents: "", loader: "js" };
      });
      build.onLoad({ filter: /.*/, namespace: "file" }, ({ path }) => {
        inputs.add(path);
        return undefined;
      });
    },
  };
  return { plugin, inputs, addons };
}
