/** A module and the packages that it imports, as one file. */
import { isBuiltin } from "node:module";
import { UserError } from "../usage-error.ts";

export interface BundleOptions {
  /** The file's name as the user knows it. */
  readonly shown: string;
  /** The imports that the binary offers; the bundle leaves them out. */
  readonly offered: readonly string[];
}

/**
 * Returns JavaScript that imports only packages of the binary and modules of the platform.
 *
 * @throws UserError naming what cannot be part of a text, such as a native addon.
 */
export async function bundleModule(file: string, { shown, offered }: BundleOptions): Promise<string> {
  const refuse = (why: string): never => {
    throw new UserError(
      `Cannot put '${shown}' into a ConfigMap: ${why}; build an image that holds its node_modules, and pass --image`,
    );
  };
  const inputs = new Set<string>();
  const built = await Bun.build({
    entrypoints: [file],
    target: "bun",
    format: "esm",
    external: [...offered],
    // The bundler would put in the value that the variable has on this machine.
    define: { "process.env.NODE_ENV": "process.env.NODE_ENV" },
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
    // Names are kept, because people read stack traces.
    minify: { whitespace: true, syntax: true },
    throw: false,
  });
  if (!built.success) {
    const [first] = built.logs;
    return refuse(`its packages cannot be bundled: ${first?.message ?? "the bundler gives no reason"}`);
  }
  const { isNative, packagesOfFiles } = await import("../../build/index.ts");
  // Some look for their addon with paths that a bundler does not follow.
  const native = packagesOfFiles(inputs).find(isNative);
  if (native !== undefined) return refuse(`it imports the package '${native.name}', a native addon`);
  const asset = built.outputs.find(({ kind }) => kind === "asset");
  if (asset !== undefined) {
    return refuse(`it needs the file ${asset.path.replace(/^\.?\//, "")} of a package, which is no JavaScript`);
  }
  const [entry] = built.outputs;
  if (entry === undefined || built.outputs.length > 1) return refuse("its packages do not become one file");
  return await entry.text();
}

/** Whether an import needs a package that the binary does not have. */
export function isPackage(specifier: string, offered: readonly string[]): boolean {
  return (
    !/^[./]/.test(specifier) &&
    !offered.includes(specifier) &&
    !isBuiltin(specifier) &&
    specifier !== "bun" &&
    !specifier.startsWith("bun:")
  );
}
