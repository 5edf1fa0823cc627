/** The command line: finds the command, reads its options, and turns errors into one line and an exit status. */
import { readFile } from "node:fs/promises";
import yargs, { type Argv } from "yargs";
import { isConfigError, whyUnreadable } from "../kube/config-error.ts";
import { nearest } from "../module/nearest.ts";
import { parseYaml } from "../platform/yaml.ts";
import type { Command, Host } from "./command.ts";
import { type CommandEntry, commands } from "./commands.ts";
import { environmentName, type Option, resolveOptions } from "./option.ts";
import { UsageError } from "./usage-error.ts";

/** Given with every command. */
const configOption: Option = {
  name: "config",
  type: "string",
  describe: "YAML file with options, by their flags' names",
};

/**
 * Runs a command line.
 *
 * @param args without the program's name.
 * @returns the exit status: 0, 1 for a failure, 2 for a wrong command line.
 */
export async function cli(args: readonly string[], host: Host): Promise<number> {
  try {
    return await dispatch(args, host);
  } catch (error) {
    return report(error, host);
  }
}

function report(error: unknown, host: Host): number {
  if (error instanceof UsageError || (error instanceof Error && error.name === "YError")) {
    host.err(`binnacle: ${error.message.replace(/^Not enough arguments following: (.*)$/, "--$1 needs a value")}\n`);
    return 2;
  }
  const known = error instanceof Error && (error.name === "UserError" || isConfigError(error) || isSystemError(error));
  const text = error instanceof Error ? (known ? error.message : (error.stack ?? error.message)) : String(error);
  host.err(`binnacle: ${text}\n`);
  return 1;
}

function isSystemError(error: Error): boolean {
  return "syscall" in error;
}

interface Chosen {
  readonly entry: CommandEntry;
  readonly argv: Readonly<Record<string, unknown>>;
}

async function dispatch(args: readonly string[], host: Host): Promise<number> {
  const chosen: Chosen[] = [];
  const parser = yargs(args as string[])
    .scriptName("binnacle")
    .usage("Runs Kubernetes controllers written as plain TypeScript files.\n\nbinnacle <command> [options]")
    .parserConfiguration({
      "camel-case-expansion": false,
      "dot-notation": false,
      "parse-numbers": false,
      "parse-positional-numbers": false,
      "greedy-arrays": false,
    })
    .exitProcess(false)
    .version(false)
    .help()
    .completion("completion", "Print a completion script for bash or zsh")
    .demandCommand(1, "")
    .fail((message, error) => {
      throw (
        error ??
        new UsageError(message || "Say what to do, such as `binnacle run`; `binnacle --help` lists the commands")
      );
    });
  const names = [...commands.map(({ name }) => name), "completion"];
  const first = args[0]?.startsWith("-") ? args.find((argument) => names.includes(argument)) : args[0];
  if (first !== undefined && !names.includes(first) && !args.includes("--get-yargs-completions")) {
    const meant = nearest(first, names);
    throw new UsageError(
      `Unknown command '${first}'${meant === undefined ? "; `binnacle --help` lists the commands" : `, did you mean '${meant}'?`}`,
    );
  }
  // Loaded before parsing: yargs renders the whole help text, 15 ms of a start, when anything it calls returns a promise.
  const completing = args.includes("--get-yargs-completions");
  const loaded = new Map<CommandEntry, Command>();
  for (const entry of commands) if (completing || entry.name === first) loaded.set(entry, await entry.load());
  for (const entry of commands) {
    parser.command(
      entry.usage === undefined ? entry.name : `${entry.name} ${entry.usage}`,
      entry.describe,
      (builder: Argv) => {
        const command = loaded.get(entry);
        return command === undefined ? builder : declare(builder, command);
      },
      (argv) => {
        chosen.push({ entry, argv });
      },
    );
  }
  await parser.parse();
  const [only] = chosen;
  if (only === undefined) return 0; // yargs printed help or completions
  const { entry, argv } = only;
  const command = loaded.get(entry) ?? (await entry.load());
  return command.run(await values(entry, { command, argv, host }), host);
}

function declare(builder: Argv, { options }: Command): Argv {
  for (const option of [...options, configOption]) {
    const { name, describe } = option;
    const shared = {
      describe: option.default === undefined ? describe : `${describe} [default: ${String(option.default)}]`,
      type: option.type === "boolean" ? ("boolean" as const) : ("string" as const),
    };
    if (option.positional === true) builder.positional(name, { ...shared, type: "string" });
    else
      builder.option(name, {
        ...shared,
        ...(option.type === "list" && { array: true, nargs: 1 }),
        requiresArg: option.type !== "boolean",
      });
  }
  return builder;
}

async function values(
  entry: CommandEntry,
  { command, argv, host }: { command: Command; argv: Readonly<Record<string, unknown>>; host: Host },
): Promise<never> {
  const options = [...command.options, configOption];
  const known = [...options.map(({ name }) => name), "help"];
  for (const flag of Object.keys(argv)) {
    if (known.includes(flag) || flag === "_" || flag === "$0") continue;
    const meant = nearest(flag, known);
    const advice =
      meant === undefined ? `; \`binnacle ${entry.name} --help\` lists the flags` : `, did you mean --${meant}?`;
    throw new UsageError(`Unknown flag ${flag.length === 1 ? "-" : "--"}${flag}${advice}`);
  }
  const extra = (argv["_"] as readonly unknown[])[1];
  if (extra !== undefined) throw new UsageError(`Unexpected argument '${String(extra)}' after '${entry.name}'`);
  const file = argv["config"] ?? host.env[environmentName("config")];
  const config = typeof file === "string" ? { file, values: await readConfig(file) } : undefined;
  return resolveOptions(command.options, { flags: argv, env: host.env, config }) as never;
}

async function readConfig(file: string): Promise<Readonly<Record<string, unknown>>> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    throw new UsageError(`Cannot read --config '${file}': ${whyUnreadable(error)}`);
  }
  let parsed: unknown;
  try {
    parsed = await parseYaml(text);
  } catch (error) {
    throw new UsageError(
      `Cannot read --config '${file}': it is not YAML: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  if (parsed === null || parsed === undefined) return {};
  if (typeof parsed !== "object" || Array.isArray(parsed)) {
    throw new UsageError(`Cannot read --config '${file}': expected options by name, such as \`log-level: debug\``);
  }
  return parsed as Readonly<Record<string, unknown>>;
}
