/** `binnacle types` */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { loadKubeconfig } from "../kube/config/kubeconfig.ts";
import { createTransport } from "../kube/transport/transport.ts";
import { type Command, command, type Host } from "./command.ts";
import { type ForeignKind, GENERATED, handleSource } from "./handle-source.ts";
import { definitionsIn } from "./kind-files.ts";
import { versionsOf } from "./kind-versions.ts";
import { kindsOfCluster } from "./kinds-of-cluster.ts";
import { sdkFolder, writeSdkTypes } from "./sdk-folder.ts";
import { contextOption, kubeconfigOption } from "./shared-options.ts";
import { makeStateFolder } from "./state-folder.ts";
import { UsageError, UserError } from "./usage-error.ts";

export const typesCommand: Command = command({
  options: [
    {
      name: "what",
      type: "list",
      positional: true,
      describe:
        "File or folder with CustomResourceDefinitions, or a kind of the cluster such as certificates.cert-manager.io",
    },
    { name: "output", type: "string", default: "types", describe: "Folder for the files, one for each kind" },
    {
      name: "all-versions",
      type: "boolean",
      default: false,
      describe: "Every served version of a kind, instead of the one that the server prefers",
    },
    {
      name: "sdk",
      type: "boolean",
      default: false,
      describe: "Write the declarations of binnacle itself to .binnacle/sdk, for tsc and editors",
    },
    kubeconfigOption,
    contextOption,
  ],
  async run({ what = [], output, sdk, kubeconfig, context, "all-versions": all }, host) {
    if (what.length === 0 && !sdk) {
      throw new UsageError("Cannot write types: name a file, a folder or a kind, or pass --sdk");
    }
    if (sdk) await writeDeclarations(host);
    const isPath = (one: string) => existsSync(one) || /[/\\]|\.(ya?ml|json)$/.test(one);
    const paths = what.filter(isPath);
    for (const path of paths) {
      if (!existsSync(path)) throw new UserError(`Cannot find '${path}'`);
    }
    const kinds = paths.flatMap(definitionsIn).map(({ definition, from }) => versionsOf(definition, from));
    const names = what.filter((one) => !isPath(one));
    if (names.length > 0) {
      await using transport = createTransport(await loadKubeconfig({ kubeconfig, context, env: host.env }));
      kinds.push(...(await kindsOfCluster(names, transport)));
    }
    for (const versions of kinds) {
      for (const [index, kind] of versions.entries()) {
        if (index > 0 && !all) break;
        host.out(`${write(kind, { output, isPreferred: index === 0 })}\n`);
      }
    }
    return 0;
  },
});

async function writeDeclarations(host: Host): Promise<void> {
  const sdk = await sdkFolder(host);
  if (sdk === undefined) throw new UserError("Cannot write declarations: this binnacle was built without them");
  makeStateFolder(".binnacle");
  host.out(`${writeSdkTypes(".binnacle", sdk)}\n`);
}

/** Writes the file of a kind. @returns its path. @throws UserError when it exists and binnacle did not write it. */
function write(kind: ForeignKind, { output, isPreferred }: { output: string; isPreferred: boolean }): string {
  const source = handleSource(kind); // checks the names, of which the path is made
  const name = kind.kind.toLowerCase();
  const file = join(output, kind.group, isPreferred ? `${name}.ts` : `${name}.${kind.version}.ts`);
  if (existsSync(file) && !readFileSync(file, "utf8").startsWith(GENERATED)) {
    throw new UserError(`Cannot write '${file}': it exists, and binnacle did not write it. Name another --output`);
  }
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, source);
  return file;
}
