/** The bundler of the runtime: modules with all that they import as one file, and whole programs as executables. */
import { isBuiltin } from "node:module";
import { join, parse } from "node:path";

export interface BundleOptions {
  /** A folder that all modules are below: paths in source maps are relative to it. */
  readonly root: string;
  /** What stays an import, by exact name. */
  readonly external: readonly string[];
}

export interface Bundle {
  /** With a source map at its end. */
  readonly code: string;
  /** Files that the code refers to beside itself, by name. */
  readonly assets: ReadonlyMap<string, Uint8Array>;
  /** Every file that was read, as an absolute path. */
  readonly inputs: readonly string[];
  /** Native addons among them, which are not in the code. */
  readonly addons: readonly string[];
}

export interface BundleModuleOptions extends BundleOptions {
  /** The folder that the code will be in, with a slash at its end: what refers to assets begins with it. */
  readonly destination: string;
}

/** Makes a module and what it imports into one file. @throws what the bundler says, as importing the module would. */
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

export interface CompileOptions extends BundleOptions {
  /** The program's own files by name, of which one is `main.js`; they import each other by relative paths. */
  readonly program: ReadonlyMap<string, string>;
  /** Those of them that are begun by their place below the program, such as the code of threads. */
  readonly threads: readonly string[];
  /** Files that become importable inside the executable. */
  readonly modules: readonly string[];
  /** Constants that are put in place of names. */
  readonly define: Readonly<Record<string, string>>;
  /** The runtime to build for, and what it runs on, such as `linux-arm64-musl`. @default those of this program */
  readonly runtime?: { readonly path: string; readonly target: string } | undefined;
  /** The executable. */
  readonly outfile: string;
}

/** Makes an executable. @throws what the bundler says. */
export async function compileExecutable(options: CompileOptions): Promise<void> {
  const { program, threads, modules, define, root, external, runtime, outfile } = options;
  const ofProgram = [...program].map(([name, text]) => [join(root, PROGRAM, name), text] as const);
  // A file that is only given goes below the program by its whole path, whatever `root` is.
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
      ...(runtime !== undefined && {
        executablePath: runtime.path,
        target: `bun-${runtime.target}` as Bun.Build.CompileTarget,
      }),
    },
  });
}

/** The bundler would put the value that the variable has during the build in its place. */
const ASKED_AT_RUN_TIME: Readonly<Record<string, string>> = { "process.env.NODE_ENV": "process.env.NODE_ENV" };

/** Source maps name files relative to the working directory, whatever `root` is. */
function workingIn(folder: string): Disposable {
  const before = process.cwd();
  process.chdir(folder);
  return { [Symbol.dispose]: () => process.chdir(before) };
}

/** A folder that is not there: the program's files are given by name, so that nothing depends on where they are kept. */
const PROGRAM = ".binnacle-program";

interface Witness {
  readonly plugin: Bun.BunPlugin;
  readonly inputs: Set<string>;
  readonly addons: Set<string>;
}

/** Leaves what is offered as imports, and writes down what is read. */
function witness(external: readonly string[]): Witness {
  const inputs = new Set<string>();
  const addons = new Set<string>();
  const plugin: Bun.BunPlugin = {
    name: "witness",
    setup(build) {
      build.onResolve({ filter: /^[^./]/ }, ({ path }) => {
        return external.includes(path) || isBuiltin(path) || path.startsWith("bun:")
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
