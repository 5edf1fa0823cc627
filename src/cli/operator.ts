/**
 * The command line of an executable that `binnacle build` has made: by default it runs the operator, and other commands
 * help to operate it.
 */
import type { Command, Operator } from "./command.ts";
import { type CommandEntry, commandIndex, commands } from "./commands.ts";
import type { Option } from "../settings/option.ts";

/** The commands that such an executable offers; the others are for authors of modules. */
const offered: readonly string[] = [
  "run",
  "check",
  "manifests",
  "migrate",
  "uninstall",
  "why",
  "top",
  "keys",
  "retry",
  "pause",
  "resume",
  "log-level",
  "profile",
  "dashboard",
  "version",
];

/** The commands of this program. */
export function commandsOf(operator: Operator | undefined): readonly CommandEntry[] {
  return operator === undefined ? commands : commands.filter(({ name }) => offered.includes(name));
}

/** The command line with its command: an operator runs `run` if no command is named. */
export function withCommand(args: readonly string[], operator: Pick<Operator, "name"> | undefined): readonly string[] {
  if (operator === undefined || args.includes("--help")) return args;
  return args[0] === undefined || (args[0].startsWith("-") && commandIndex(args) < 0) ? ["run", ...args] : args;
}

/** The options of a command. An executable with modules looks for no folder unless one is named. */
export function optionsOf({ options }: Pick<Command, "options">, operator: Operator | undefined): readonly Option[] {
  if (operator?.modules === undefined) return options;
  return options.map((option) => {
    if (option.name !== "controllers") return option;
    return { ...option, default: [], describe: "Folder with modules in place of those inside; repeatable" };
  });
}
