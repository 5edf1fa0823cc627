/** The options and results of a bundler, for modules with all their imports and for whole programs. */

export interface BundleOptions {
  /** A folder that contains all modules: paths in source maps are relative to it. */
  readonly root: string;
  /** Imports that are not bundled, by exact name. */
  readonly external: readonly string[];
}

export interface Bundle {
  /** The code, with a source map at its end. */
  readonly code: string;
  /** Other files that the code refers to, by name. */
  readonly assets: ReadonlyMap<string, Uint8Array>;
  /** Every file that was read, as an absolute path. */
  readonly inputs: readonly string[];
  /** Native addons among them, which are not in the code. */
  readonly addons: readonly string[];
}

export interface BundleModuleOptions extends BundleOptions {
  /** The future folder of the code, with a slash at its end: references to assets begin with it. */
  readonly destination: string;
}

export interface CompileOptions extends BundleOptions {
  /** The program's own files by name, of which one is `main.js`; they import each other by relative paths. */
  readonly program: ReadonlyMap<string, string>;
  /** The program's files that start by their path, such as the code of threads. */
  readonly threads: readonly string[];
  /** Files that become importable inside the executable. */
  readonly modules: readonly string[];
  /** Constants that are put in place of names. */
  readonly define: Readonly<Record<string, string>>;
  /**
   * The executable of the runtime to build for, and its platform, such as `linux-arm64-musl`. @default those of this
   * program
   */
  readonly runtime?: { readonly path: string; readonly target: string } | undefined;
  /** A file that says in which order bytecode is laid out. @default as the bundler likes */
  readonly bytecodeOrder?: string | undefined;
  /** The file of the executable. */
  readonly outfile: string;
}

/** The result of bundling a module with its packages. */
export interface BundledText {
  /** The files that were made, as their names and texts. */
  readonly outputs: readonly { readonly name: string; readonly isAsset: boolean; text(): Promise<string> }[];
  /** Every file that was read, as an absolute path. */
  readonly inputs: ReadonlySet<string>;
  /** Why nothing was made; `undefined` when something was. */
  readonly problem: string | undefined;
}
