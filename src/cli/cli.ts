/** The command line: finds the command, reads its options, and turns errors into one line and an exit status. */
import { readFile } from "node:fs/promises";
import type { Argv } from "yargs";
import { parseYaml } from "#runtime/yaml";
import { isConfigError, whyUnreadable } from "../kube/config/config-error.ts";
import { nearest } from "../module/nearest.ts";
import { printableLines } from "../observe/printable.ts";
import { withoutLogins } from "../observe/without-login.ts";
import { messageOf } from "../platform/error-message.ts";
import { ACT_AS } from "./envtest/asset-name.ts";
import { COMPLETE, type Command, type Host } from "./command.ts";
import { type CommandEntry, commandIndex, commands } from "./commands.ts";
import { commandsOf, optionsOf, withCommand } from "./operator.ts";
import type { Option } from "../settings/option.ts";
import { type ConfigFile, configOption, environmentName, resolveOptions } from "./option.ts";
import { needsValue, parseFlags, parsing } from "./parse-flags.ts";
import { plainFlags } from "./plain-flags.ts";
import { UsageError } from "./usage-error.ts";

/**
 * Runs a command line.
 *
 * @param args the arguments without the program's name.
 * @returns the exit status: 0, 1 for a failure, 2 for a wrong command line.
 */
export async function cli(args: readonly string[], host: Host): Promise<number> {
  try {
    return await dispatch(withCommand(args, host.embedded.operator), host);
  } catch (error) {
    return report(error, host);
  }
}

/**
 * Errors whose message is printed alone: mistakes of the user, refusals of API servers, unreachable servers, and
 * permissions that the runtime lacks.
 */
const REPORTED: readonly string[] = ["UserError", "ApiError", "UnreachableError", "NotCapable"];

function report(error: unknown, host: Host): number {
  if (error instanceof UsageError || (error instanceof Error && error.name === "YError")) {
    host.err(`${programName(host)}: ${shown(error.message)}\n`);
    return 2;
  }
  const known =
    error instanceof Error && (REPORTED.includes(error.name) || isConfigError(error) || isSystemError(error));
  const text = error instanceof Error ? (known ? error.message : (error.stack ?? error.message)) : String(error);
  host.err(`${programName(host)}: ${shown(text)}\n`);
  return 1;
}

/**
 * Removes from a message what a server or a file may have put into it: control characters, which a terminal would obey,
 * and passwords in addresses.
 */
function shown(message: string): string {
  return printableLines(withoutLogins(message));
}

function programName({ embedded }: Host): string {
  return embedded.operator?.name ?? "binnacle";
}

function isSystemError(error: Error): boolean {
  return "syscall" in error;
}

async function dispatch(args: readonly string[], host: Host): Promise<number> {
  if (args[0] === ACT_AS) return (await import("./envtest/act-as.ts")).actAs(args.slice(1), host);
  if (args[0] === COMPLETE) return (await import("./complete.ts")).answerShell(args.slice(1), host);
  const offered = commandsOf(host.embedded.operator);
  const names = offered.map(({ name }) => name);
  const at = commandIndex(args);
  const first = args[at];
  const entry = offered.find(({ name }) => name === first);
  if (entry !== undefined && !args.includes("--help")) {
    const command = await entry.load();
    const argv = await flagsOf(args.toSpliced(at, 1), command);
    return command.run(await values(entry, { command, argv, host }), host);
  }
  if (first !== undefined && !names.includes(first)) {
    const suggestion = nearest(first, names);
    throw new UsageError(
      `Unknown command '${first}'${suggestion === undefined ? `; \`${programName(host)} --help\` lists the commands` : `, did you mean '${suggestion}'?`}`,
    );
  }
  await help(args, host);
  return 0;
}

async function parser(args: readonly string[], program: string): Promise<Argv> {
  const { default: yargs } = await import("yargs");
  return yargs(args)
    .scriptName(program)
    .parserConfiguration(parsing)
    .exitProcess(false)
    .version(false)
    .fail((message, error) => {
      throw (
        error ??
        new UsageError(
          message || `Say what to do, such as \`${program} run\`; \`${program} --help\` lists the commands`,
        )
      );
    });
}

/** Parses the flags. Loading the parser takes a tenth of a start, and most command lines do not need it. */
async function flagsOf(args: readonly string[], command: Command): Promise<Readonly<Record<string, unknown>>> {
  return plainFlags(args, [...command.options, configOption]) ?? (await parseFlags(args, command));
}

/** Prints help, or the error that a command is missing. */
async function help(args: readonly string[], host: Host): Promise<void> {
  const program = programName(host);
  const { operator } = host.embedded;
  const everything = (await parser(args, program))
    .usage(`Runs Kubernetes controllers written as plain TypeScript files.\n\n${program} <command> [options]`)
    .help()
    .demandCommand(1, "");
  for (const { name, usage, describe, load } of commandsOf(operator)) {
    const command = await load();
    everything.command(usage === undefined ? name : `${name} ${usage}`, describe, (builder) =>
      declare(builder, optionsOf(command, operator)),
    );
  }
  // With a callback, the parser does not print the text itself.
  let text = "";
  await everything.parse([...args], (_error: unknown, _argv: unknown, printed: string) => void (text = printed));
  if (text !== "") host.out(`${text}\n`);
}

function declare(builder: Argv, options: readonly Option[]): Argv {
  for (const option of [...options, configOption]) {
    const { name, describe } = option;
    const shared = {
      describe: String(option.default ?? "") === "" ? describe : `${describe} [default: ${String(option.default)}]`,
      type: option.type === "boolean" ? ("boolean" as const) : ("string" as const),
    };
    if (option.positional === true) builder.positional(name, { ...shared, type: "string" });
    else
      builder.option(name, {
        ...shared,
        ...(option.type === "list" && { array: true, nargs: 1 }),
        ...(option.letter !== undefined && { alias: option.letter }),
        requiresArg: needsValue(option),
      });
  }
  return builder;
}

async function values(
  entry: CommandEntry,
  { command, argv, host }: { command: Command; argv: Readonly<Record<string, unknown>>; host: Host },
): Promise<never> {
  const options = [...command.options, configOption];
  const known = options.map(({ name }) => name);
  for (const flag of Object.keys(argv)) {
    if (known.includes(flag) || flag === "$0") continue;
    const suggestion = nearest(flag, known);
    const advice =
      suggestion === undefined
        ? `; \`${programName(host)} ${entry.name} --help\` lists the flags`
        : `, did you mean --${suggestion}?`;
    throw new UsageError(`Unknown flag ${flag.length === 1 ? "-" : "--"}${flag}${advice}`);
  }
  const file = argv["config"] ?? host.env[environmentName("config")];
  const config = typeof file === "string" ? await configFile(file, { command: entry.name, known }) : undefined;
  return resolveOptions(optionsOf(command, host.embedded.operator), { flags: argv, env: host.env, config }) as never;
}

/** Reads the configuration file. One file serves all commands, so options of other commands are accepted. */
async function configFile(
  file: string,
  { command, known }: { readonly command: string; readonly known: readonly string[] },
): Promise<ConfigFile> {
  const values = await readConfig(file);
  const names = commands.map(({ name }) => name);
  if (Object.keys(values).every((name) => known.includes(name) || names.includes(name)))
    return { file, values, command, elsewhere: names };
  const all = await Promise.all(commands.map(({ load }) => load()));
  const options = all.flatMap((one) => one.options.map(({ name }) => name));
  return { file, values, command, elsewhere: [...names, ...options] };
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
    throw new UsageError(`Cannot read --config '${file}': it is not YAML: ${messageOf(error)}`);
  }
  if (parsed === null || parsed === undefined) return {};
  if (typeof parsed !== "object" || Array.isArray(parsed)) {
    throw new UsageError(`Cannot read --config '${file}': expected options by name, such as \`log-level: debug\``);
  }
  return parsed as Readonly<Record<string, unknown>>;
}
