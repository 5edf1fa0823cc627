/**
 * Makes the package of npm that users install: JavaScript for Node, Bun and Deno, declarations and nothing to install beside it.
 *
 *     bun packages/apiserver/scripts/build.ts [--output DIR]
 *
 * It writes the folder of the package (`dist/binnacle-apiserver`) and prints what `npm pack` makes of it.
 */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { brotliCompressSync, constants, zstdDecompressSync } from "node:zlib";
import type { BunPlugin } from "bun";

const folder = join(import.meta.dirname, "..");
const root = join(folder, "../..");
const source = join(folder, "src");
const runtimes = ["node", "bun", "deno"] as const;
/** Packages whose code is in this one, as files of CommonJS, because all runtimes can load these synchronously. */
const libraries: Readonly<Record<string, string>> = { "@marcbachmann/cel-js": "cel", re2js: "re2", yaml: "yaml" };

export interface PackageOptions {
  /** Of the package. */
  readonly version: string;
}

/** Writes the package into a folder, which is emptied first. @throws Error with what the bundler or the compiler says */
export async function buildPackage(output: string, { version }: PackageOptions): Promise<void> {
  rmSync(output, { recursive: true, force: true });
  mkdirSync(join(output, "library"), { recursive: true });
  await bundle({ entrypoints: [join(source, "public.ts")], naming: { entry: "index.js" } }, join(output, "js"));
  for (const runtime of runtimes) {
    const parts = readdirSync(join(source, "platform", runtime)).map((part) => partOf(runtime, part));
    await bundle({ entrypoints: [...new Set(parts)] }, join(output, "js", "platform", runtime));
  }
  for (const [name, file] of Object.entries(libraries))
    await bundleLibrary(name, join(output, "library", `${file}.cjs`));
  declarations(join(output, "types"));
  writeFileSync(join(output, "package.json"), `${JSON.stringify(manifest(version), undefined, 2)}\n`);
  cpSync(join(folder, "README.md"), join(output, "README.md"));
  cpSync(join(root, "LICENSE"), join(output, "LICENSE"));
  writeFileSync(join(output, "THIRD-PARTY-NOTICES.txt"), notices());
}

/**
 * The OpenAPI documents are packed by Brotli in the package, which each runtime can unpack, and packages are loaded as they are on
 * Bun: the part of one runtime stands for all then.
 */
function partOf(runtime: (typeof runtimes)[number], part: string): string {
  const others: Readonly<Record<string, string>> = { "decompress.ts": "node", "lazy-packages.ts": "bun" };
  return join(source, "platform", others[part] ?? runtime, part);
}

type Bundle = Pick<Bun.BuildConfig, "entrypoints" | "naming">;

async function bundle(options: Bundle, outdir: string): Promise<void> {
  const { naming } = options;
  const { success, logs } = await Bun.build({
    ...options,
    outdir,
    naming: { chunk: "[hash].js", ...(typeof naming === "object" ? naming : { entry: "[name].js" }) },
    target: "node",
    format: "esm",
    splitting: true,
    // Names stay, so that stack traces can be read.
    minify: { whitespace: true, syntax: true },
    external: ["#platform/*", "#library/*", "bun:*"],
    plugins: [repacked, apart],
  });
  if (!success) throw new Error(`Cannot bundle ${options.entrypoints.join(", ")}: ${logs.join("\n")}`);
}

/** The runtime that has no Zstandard is the one that decides. */
const repacked: BunPlugin = {
  name: "documents packed by Brotli",
  setup(build) {
    build.onLoad({ filter: /[\\/]tables[\\/]documents\.txt$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      const end = text.indexOf("\n") + 1;
      const plain = zstdDecompressSync(Buffer.from(text.slice(end), "base64"));
      const { BROTLI_PARAM_LGWIN, BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = constants;
      const params = { [BROTLI_PARAM_QUALITY]: 10, [BROTLI_PARAM_LGWIN]: 24, [BROTLI_PARAM_SIZE_HINT]: plain.length };
      return {
        contents: text.slice(0, end) + brotliCompressSync(plain, { params }).toString("base64"),
        loader: "text",
      };
    });
  },
};

/** Code of libraries is in files of its own, which are loaded when one is needed. */
const apart: BunPlugin = {
  name: "libraries apart",
  setup(build) {
    build.onResolve({ filter: /./ }, ({ path }) =>
      Object.hasOwn(libraries, path) ? { path: `#library/${libraries[path]}`, external: true } : undefined,
    );
  },
};

async function bundleLibrary(name: string, outfile: string): Promise<void> {
  const { success, logs, outputs } = await Bun.build({
    entrypoints: [Bun.resolveSync(name, folder)],
    target: "node",
    format: "cjs",
    minify: { whitespace: true, syntax: true },
  });
  if (!success) throw new Error(`Cannot bundle ${name}: ${logs.join("\n")}`);
  writeFileSync(outfile, await outputs[0]!.text());
}

/** Writes the declarations that the entry reaches. The compiler knows what Node 20 has here, and no more. */
function declarations(outDir: string): void {
  const aside = mkdtempSync(join(root, "dist", "types-"));
  try {
    const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
    const args = ["-p", join(folder, "tsconfig.package.json"), "--outDir", aside];
    const { status, stdout } = spawnSync(process.execPath, [compiler, ...args], { cwd: root, encoding: "utf8" });
    if (status !== 0) throw new Error(`Cannot write declarations:\n${stdout}`);
    for (const file of reached(join(aside, "src"), "public.d.ts")) {
      const target = join(outDir, file === "public.d.ts" ? "index.d.ts" : file);
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, readFileSync(join(aside, "src", file), "utf8").replaceAll(relativeImport, '"$1.js"'));
    }
  } finally {
    rmSync(aside, { recursive: true });
  }
}

const relativeImport = /"(\.\.?\/[^"]+)\.ts"/g;

function reached(folder: string, entry: string): ReadonlySet<string> {
  const files = new Set([entry]);
  for (const file of files) {
    for (const [, path] of readFileSync(join(folder, file), "utf8").matchAll(relativeImport)) {
      files.add(relative(folder, join(folder, dirname(file), `${path}.d.ts`)));
    }
  }
  return files;
}

function manifest(version: string): object {
  const { name, description, license, type } = read(join(folder, "package.json"));
  const { repository } = read(join(root, "package.json"));
  const parts = Object.fromEntries(runtimes.map((runtime) => [runtime, `./js/platform/${runtime}/*.js`]));
  return {
    name,
    version,
    description,
    keywords: ["kubernetes", "kube-apiserver", "envtest", "testing", "operator", "controller"],
    license,
    ...(repository !== undefined && { repository }),
    type,
    sideEffects: false,
    engines: { node: ">=20.11" },
    exports: {
      ".": { types: "./types/index.d.ts", default: "./js/index.js" },
      "./package.json": "./package.json",
    },
    imports: {
      "#platform/*": { bun: parts["bun"], deno: parts["deno"], default: parts["node"] },
      "#library/*": "./library/*.cjs",
    },
    files: ["js", "library", "types", "THIRD-PARTY-NOTICES.txt"],
  };
}

/** The licenses of the code of others that the package holds. */
function notices(): string {
  const texts = Object.keys(libraries).map((name) => {
    const at = dirname(packageFile(name));
    const { version, license } = read(packageFile(name)) as Readonly<Record<string, string>>;
    return `${name} ${version} (${license})\n\n${readFileSync(join(at, "LICENSE"), "utf8").trim()}\n`;
  });
  return `This package holds code of these packages of npm.\n\n${texts.join(`\n${"-".repeat(80)}\n\n`)}`;
}

function packageFile(name: string): string {
  const file = [folder, root]
    .map((at) => join(at, "node_modules", name, "package.json"))
    .find((one) => existsSync(one));
  if (file === undefined) throw new Error(`Cannot find the package ${name}: run npm ci`);
  return file;
}

function read(file: string): Readonly<Record<string, unknown>> {
  return JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { output: { type: "string" } } });
  const output = resolve(values.output ?? join(root, "dist", "binnacle-apiserver"));
  const { version } = read(join(root, "package.json")) as { readonly version: string };
  mkdirSync(join(root, "dist"), { recursive: true });
  await buildPackage(output, { version });
  const packed = spawnSync("npm", ["pack", "--json", "--pack-destination", dirname(output)], {
    cwd: output,
    encoding: "utf8",
  });
  const [report] = JSON.parse(packed.stdout) as [
    { filename: string; size: number; unpackedSize: number; entryCount: number },
  ];
  const kib = (bytes: number): string => `${Math.round(bytes / 1024)} KiB`;
  const { filename, size, unpackedSize, entryCount } = report;
  console.log(
    `${relative("", join(dirname(output), filename))}: ${kib(size)}, ${kib(unpackedSize)} in ${entryCount} files`,
  );
}
