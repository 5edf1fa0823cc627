/** A module and what it imports, as one file. */
import { isBuiltin } from "node:module";
import { bundleText, isRuntimeModule } from "#runtime/bundler";
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
  const { outputs, inputs, problem } = await bundleText(file, offered);
  if (problem !== undefined) return refuse(`it cannot become one file together with what it imports: ${problem}`);
  const { isNative, packagesOfFiles } = await import("../../build/index.ts");
  // Some look for their addon with paths that a bundler does not follow.
  const native = packagesOfFiles(inputs).find(isNative);
  if (native !== undefined) return refuse(`it imports the package '${native.name}', a native addon`);
  const asset = outputs.find(({ isAsset }) => isAsset);
  if (asset !== undefined) {
    return refuse(`it needs the file ${asset.name.replace(/^\.?\//, "")} of a package, which is no JavaScript`);
  }
  const [entry] = outputs;
  if (entry === undefined || outputs.length > 1)
    return refuse("it does not become one file together with what it imports");
  return await entry.text();
}

/** Whether an import needs a package that the binary does not have. */
export function isPackage(specifier: string, offered: readonly string[]): boolean {
  return (
    !/^[./]/.test(specifier) && !offered.includes(specifier) && !isBuiltin(specifier) && !isRuntimeModule(specifier)
  );
}
