/** `binnacle new` */
import { type Command, command } from "./command.ts";
import { writeNew } from "./new-files.ts";
import { filesFor, kinds, spellings } from "./templates.ts";
import { UsageError } from "./usage-error.ts";

export const newCommand: Command = command({
  options: [
    { name: "what", type: "string", positional: true, choices: kinds, describe: "What to write" },
    { name: "name", type: "string", positional: true, describe: "Its name, such as Backup or image-policy" },
    { name: "output", type: "string", default: "controllers", describe: "Folder for the files" },
    { name: "group", type: "string", default: "demo.example.com", describe: "API group of a kind of your own" },
    {
      name: "for",
      type: "string",
      describe: "Kind of binnacle/resources that a controller or webhook is for, such as Deployment",
    },
    { name: "test", type: "boolean", default: true, describe: "Write a test too, unless --for is given" },
  ],
  async run({ what, name, output, group, for: builtin, test }, host) {
    if (what === undefined || name === undefined) {
      throw new UsageError(`Cannot write a module: say what, and its name, such as \`binnacle new controller Backup\``);
    }
    const { kebab } = spellings(name);
    if (!/^[a-z][a-z0-9-]{0,62}$/.test(kebab) || /[^\w-]/.test(name)) {
      throw new UsageError(`Cannot call a module '${name}': use letters and digits, such as Backup or image-policy`);
    }
    if (!/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(group) || !group.includes(".")) {
      throw new UsageError(`Cannot use '${group}' for --group: use a domain of yours, such as demo.example.com`);
    }
    if (builtin !== undefined) await checkBuiltin(builtin, what);
    const files = filesFor(what, { name, group, builtin });
    const templates = Object.entries(files).filter(([file]) => test || !file.endsWith(".test.ts"));
    for (const path of writeNew(output, Object.fromEntries(templates))) host.out(`${path}\n`);
    return 0;
  },
});

async function checkBuiltin(kind: string, what: string): Promise<void> {
  if (what !== "controller" && what !== "webhook") {
    throw new UsageError(`Cannot use --for with ${what}: it is for controllers and webhooks`);
  }
  const resources: Readonly<Record<string, unknown>> = await import("../resource/builtin/index.ts");
  if (kind in resources) return;
  const builtIn = Object.keys(resources).find((name) => name.toLowerCase() === kind.toLowerCase());
  throw new UsageError(
    `Cannot use '${kind}' for --for: binnacle/resources has no such kind${builtIn === undefined ? "" : `; did you mean ${builtIn}?`}`,
  );
}
