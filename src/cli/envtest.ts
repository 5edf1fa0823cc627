/** `binnacle envtest` */
import { createHash } from "node:crypto";
import { join, resolve } from "node:path";
import { kubernetesVersion } from "binnacle-apiserver";
import { cacheFolder } from "../platform/unpack.ts";
import { type Command, command } from "./command.ts";
import { writeAssets } from "./envtest/assets.ts";
import { UsageError } from "./usage-error.ts";

export const envtestCommand: Command = command({
  options: [
    {
      name: "folder",
      type: "string",
      positional: true,
      describe: "Folder to write [default: a folder in the cache, of this executable's own]",
    },
    {
      name: "print",
      letter: "p",
      type: "string",
      choices: ["overview", "path", "env"],
      default: "overview",
      describe:
        "What to print: overview, path (the folder alone) or env (a line for the shell that exports KUBEBUILDER_ASSETS)",
    },
  ],
  run({ folder, print }, { embedded, env, out, err }) {
    if (folder === "") throw new UsageError("The folder's name is empty");
    const executable = { path: process.execPath, source: embedded.source };
    const own = createHash("sha256")
      .update(embedded.source ?? process.execPath)
      .digest("hex")
      .slice(0, 12);
    const path = resolve(folder ?? join(cacheFolder(env), `envtest-${own}`));
    const { kubectl } = writeAssets(path, { executable, searchPath: env["PATH"] ?? "" });
    const noKubectl = "No kubectl was found on PATH, so the folder has none. Only tests that call kubectl need it";
    if (print === "path") out(path);
    else if (print === "env") out(`export KUBEBUILDER_ASSETS='${path.replaceAll("'", `'"'"'`)}'\n`);
    else
      out(
        `Version: ${kubernetesVersion.slice(1)}, by binnacle ${embedded.version}\nPath: ${path}\nkubectl: ${kubectl ?? "none"}\n`,
      );
    if (kubectl === undefined) err(`${noKubectl}\n`);
    return Promise.resolve(0);
  },
});
