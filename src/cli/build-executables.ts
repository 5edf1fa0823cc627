/** `binnacle build` without `--image` */
import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { buildExecutable, mebibytes, pruneUnused, type Target } from "../build/index.ts";
import { allLoaded } from "../platform/module-host.ts";
import type { BuildContext } from "./build-image.ts";
import type { BuildValues } from "./build-options.ts";
import { modulesToBuild, orderOf, programOf, runtimeCache, targetsOf } from "./build-targets.ts";
import { projectName } from "./operator-name.ts";
import { UsageError } from "./usage-error.ts";

/** @returns the exit status. @throws UsageError, UserError */
export async function buildExecutables(
  values: BuildValues,
  { host, progress, signal, onWritten }: BuildContext,
): Promise<number> {
  const targets = targetsOf(values.target);
  const name = nameOf(values);
  if (values.output !== undefined && targets.length > 1) {
    throw new UsageError(
      "--output is one file, and --target names several: leave it out, or build one after the other",
    );
  }
  const modules = await modulesToBuild(values, host);
  const [program, order] = [await programOf(host), await orderOf(host)];
  const offered = await allLoaded(await host.embedded.offered());
  const lines: string[] = [];
  for (const target of targets) {
    const output = values.output ?? join("dist", fileName(name, { target, isOnly: targets.length === 1 }));
    progress.begin(`Building ${output} for ${target.name}`);
    await buildExecutable({
      target,
      program,
      order,
      version: host.embedded.version,
      operator: { name, modules },
      offered,
      output: resolve(output),
      cache: runtimeCache(host),
      signal,
    });
    onWritten(output);
    const { size } = await stat(output);
    lines.push(`${output}: ${mebibytes(size)} MiB for ${target.name}\n`);
  }
  await pruneUnused(runtimeCache(host));
  progress[Symbol.dispose]();
  host.out(lines.join(""));
  return 0;
}

/**
 * Returns the executable's name: the value of `--name`, else the name of the project, from its package.json or its
 * folder.
 */
function nameOf({ name, controllers }: BuildValues): string {
  if (name !== undefined) {
    if (/^[\w.-]+$/.test(name) && !name.startsWith(".") && !name.startsWith("-")) return name;
    throw new UsageError(`--name is '${name}': expected letters, digits, '-', '_' and '.'`);
  }
  return (projectName(controllers[0] ?? ".") ?? "").replaceAll(/[^\w.-]+/g, "-").replace(/^[-.]+/, "") || "operator";
}

function fileName(name: string, { target, isOnly }: { readonly target: Target; readonly isOnly: boolean }): string {
  return `${name}${isOnly ? "" : `-${target.name}`}${target.os === "windows" ? ".exe" : ""}`;
}
