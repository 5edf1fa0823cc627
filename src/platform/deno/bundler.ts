/** Replaces the bundler on Deno, which has none. */
import type { Bundle, BundledText, BundleModuleOptions, CompileOptions } from "../bundler.ts";

/** Whether an import names a module of the runtime, besides those of Node: Deno has none. */
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

/** Names the operation that Deno does not support; the command line prints the message alone. */
class NoBundler extends Error {
  override readonly name = "UserError" as const;
}

function none(): Error {
  return new NoBundler(
    "Cannot bundle modules: this binnacle runs on Deno, which has no bundler; take the executable of binnacle for this command",
  );
}
