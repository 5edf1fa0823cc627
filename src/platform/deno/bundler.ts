/** Deno brings no bundler of its own. */
import type { Bundle, BundledText, BundleModuleOptions, CompileOptions } from "../bundler.ts";

/** Whether an import is of a module that the runtime itself has, beside those of Node: Deno has none. */
export function isRuntimeModule(_specifier: string): boolean {
  return false;
}

/** @throws Error always. */
export function bundleModule(_entry: string, _options: BundleModuleOptions): Promise<Bundle> {
  return Promise.reject(none());
}

/** @throws Error always. */
export function bundleText(_file: string, _external: readonly string[]): Promise<BundledText> {
  return Promise.reject(none());
}

/** @throws Error always. */
export function compileExecutable(_options: CompileOptions): Promise<void> {
  return Promise.reject(none());
}

function none(): Error {
  return new Error("Cannot bundle: binnacle runs on Deno here, which has no bundler; use the executable of binnacle");
}
