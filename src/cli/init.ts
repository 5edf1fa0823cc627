/** `binnacle init` */
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { type Command, command } from "./command.ts";
import { writeNew } from "./new-files.ts";
import { sdkFolder, writeSdkTypes } from "./sdk-folder.ts";
import { makeStateFolder } from "./state-folder.ts";
import { filesFor } from "./templates.ts";
import { UsageError, UserError } from "./usage-error.ts";

const STATE = ".binnacle";

/** All files except the modules. The declarations belong to the binary, so they are not committed with the sources. */
const project = {
  "tsconfig.json": `${JSON.stringify({ extends: `./${STATE}/sdk/tsconfig.json`, include: ["controllers"] }, undefined, 2)}\n`,
  ".gitignore": `${STATE}/\ndist/\nnode_modules/\n`,
  ".vscode/settings.json": `${JSON.stringify({ "files.exclude": { [`**/${STATE}`]: true } }, undefined, 2)}\n`,
};

export const initCommand: Command = command({
  options: [
    { name: "folder", type: "string", positional: true, describe: "Folder to create; `.` for the working directory" },
    { name: "name", type: "string", default: "Greeting", describe: "Kind of the first controller" },
    { name: "group", type: "string", default: "demo.example.com", describe: "API group of that kind" },
  ],
  async run({ folder, name, group }, host) {
    if (folder === undefined)
      throw new UsageError("Cannot create a folder without a name: use `binnacle init my-operator`");
    if (!/^[A-Z][A-Za-z0-9]{0,62}$/.test(name)) {
      throw new UsageError(`Cannot use '${name}' for --name: expected the name of a kind, such as Greeting`);
    }
    if (existsSync(join(folder, "controllers"))) {
      throw new UserError(
        `Cannot create '${folder}': it has controllers already. \`binnacle new\` adds one, \`binnacle types --sdk\` writes the types`,
      );
    }
    const modules = Object.entries(filesFor("controller", { name, group, builtin: undefined }));
    const files = Object.fromEntries(modules.map(([file, text]) => [`controllers/${file}`, text]));
    // Existing files, such as a .gitignore or a tsconfig.json, stay as they are.
    const sdk = await sdkFolder(host);
    const missing = Object.entries(project).filter(([file]) => {
      return !existsSync(join(folder, file)) && (sdk !== undefined || file !== "tsconfig.json"); // which leads to the SDK
    });
    const created = writeNew(folder, { ...files, ...Object.fromEntries(missing) });
    if (sdk !== undefined) {
      const state = join(folder, STATE);
      makeStateFolder(state);
      writeSdkTypes(state, sdk);
    }
    for (const path of created) host.out(`${path}\n`);
    const inside = relative(process.cwd(), folder);
    const sample = modules.find(([file]) => file.endsWith(".yaml"))![0];
    host.out(`
Next:
${inside === "" ? "" : `  cd ${inside}\n`}  binnacle dev                                   # runs it on a cluster of its own; save a file and it is reloaded
  export KUBECONFIG=$PWD/${STATE}/kubeconfig       # in a second terminal
  kubectl apply -f controllers/${sample}
  binnacle test                                  # its test, with nothing but the binary
  binnacle check                                 # types, watches and permissions
`);
    return 0;
  },
});
