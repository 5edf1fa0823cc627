/**
 * The options of commands: flags, environment, configuration file and defaults in one table.
 *
 * The precedence is: flags, then `BINNACLE_*` variables, then the file of `--config`, then defaults. In the file, the
 * section with the name of the command takes precedence over options for all commands.
 */
import { type Duration, parseDuration } from "../resource/duration.ts";
import { quantity } from "../resource/quantity.ts";
import { nearest } from "../module/nearest.ts";
import type { Option, OptionType, TypeOf } from "../settings/option.ts";
import { UsageError } from "./usage-error.ts";

/** An option that every command has. */
export const configOption: Option = {
  name: "config",
  type: "string",
  describe: "YAML file with options, by their flags' names",
};

type Values = Readonly<Record<string, unknown>>;

/** A configuration file: options by name, and sections for single commands. */
export interface ConfigFile {
  /** The file's name, for messages. */
  readonly file: string;
  readonly values: Values;
  /** The command that runs. */
  readonly command: string;
  /** Names that are valid for other commands: their options, and the commands themselves. */
  readonly elsewhere: readonly string[];
}

export interface OptionSources {
  /** The parsed flags by name. */
  readonly flags: Values;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly config?: ConfigFile | undefined;
}

/** Returns the variable of an option: `BINNACLE_GRACE_PERIOD` for `--grace-period`. */
export function environmentName(option: string): string {
  return `BINNACLE_${option.toUpperCase().replaceAll("-", "_")}`;
}

/**
 * Determines the value of each option.
 *
 * @throws UsageError that names the option, where it was given, and its value.
 */
export function resolveOptions(options: readonly Option[], sources: OptionSources): Record<string, unknown> {
  const { config } = sources;
  const own = config === undefined ? undefined : ownSection(config);
  if (config !== undefined) {
    const known = options.map(({ name }) => name);
    refuseUnknown(Object.keys(own ?? {}), { known, prefix: `${config.command}.`, file: config.file });
    const others = Object.keys(config.values).filter(
      (name) => name !== config.command && !config.elsewhere.includes(name),
    );
    refuseUnknown(others, { known, prefix: "", file: config.file });
  }
  const values: Record<string, unknown> = {};
  for (const option of options) {
    const variable = environmentName(option.name);
    const candidates: readonly (readonly [value: unknown, from: string])[] = [
      [sources.flags[option.name], option.positional === true ? option.name : `--${option.name}`],
      [sources.env[variable] || undefined, variable],
      [own?.[option.name], `'${config?.command}.${option.name}' in ${config?.file}`],
      [shared(config, option.name), `'${option.name}' in ${config?.file}`],
      [option.default, `--${option.name}`],
    ];
    const first = candidates.find(([value]) => value !== undefined);
    if (first !== undefined) values[option.name] = read(option, first[0], first[1]);
  }
  return values;
}

/** Returns the file's value for all commands. A command's section is not the value of an option with the same name. */
function shared(config: ConfigFile | undefined, name: string): unknown {
  const value = config?.values[name];
  const isSection = typeof value === "object" && !Array.isArray(value) && config?.elsewhere.includes(name) === true;
  return isSection ? undefined : value;
}

/** Returns the file's section for the command that runs; `undefined` when there is none. */
function ownSection({ values, command, file }: ConfigFile): Values | undefined {
  const section = values[command] ?? undefined;
  if (section === undefined) return undefined;
  if (typeof section === "object" && !Array.isArray(section)) return section as Values;
  throw new UsageError(`'${command}' in ${file}: expected options by name, such as \`log-level: debug\``);
}

function refuseUnknown(
  names: readonly string[],
  { known, prefix, file }: { readonly known: readonly string[]; readonly prefix: string; readonly file: string },
): void {
  for (const name of names) {
    if (known.includes(name)) continue;
    const suggestion = nearest(name, known);
    const advice = suggestion === undefined ? "" : `, did you mean '${prefix}${suggestion}'?`;
    throw new UsageError(`Unknown option '${prefix}${name}' in ${file}${advice}`);
  }
}

function read(option: Option, value: unknown, from: string): TypeOf[OptionType] {
  switch (option.type) {
    case "list": {
      const list = Array.isArray(value) ? value.map(String) : String(value).split(",");
      if (list.some((entry) => entry === "")) throw new UsageError(`${from} has an empty value`);
      return list;
    }
    case "boolean":
      if (value === true || value === "true" || value === "1") return true;
      if (value === false || value === "false" || value === "0") return false;
      throw new UsageError(`${from} is '${String(value)}': expected true or false`);
    case "number": {
      const number = typeof value === "number" ? value : value === "" ? NaN : Number(single(value, from));
      if (!Number.isInteger(number) || number < 1) {
        throw new UsageError(`${from} is '${String(value)}': expected a whole number of at least 1`);
      }
      return number;
    }
    case "duration":
      return duration(value, from);
    case "bytes":
      return bytes(single(value, from), from);
    default:
      return text(single(value, from) || (option.bare ?? ""), { choices: option.choices, from });
  }
}

function text(value: string, { choices, from }: { choices: readonly string[] | undefined; from: string }): string {
  if (value === "") throw new UsageError(`${from} needs a value`);
  if (choices !== undefined && !choices.includes(value)) {
    throw new UsageError(`${from} is '${value}': expected ${choices.join(", ")}`);
  }
  return value;
}

function single(value: unknown, from: string): string {
  if (Array.isArray(value)) throw new UsageError(`${from} is given more than once`);
  if (typeof value === "object") throw new UsageError(`${from}: expected a single value`);
  if (typeof value === "boolean") throw new UsageError(`${from} is '${value}': expected a text`);
  return String(value);
}

/** Returns whole bytes; a quantity such as `0.7Gi` is rounded down. */
function bytes(value: string, from: string): number {
  if (value === "") throw new UsageError(`${from} needs a value`);
  const number = Math.floor(quantity(value) ?? 0);
  if (number > 0 || value === "0") return number;
  throw new UsageError(`${from} is '${value}': expected a quantity such as 256Mi, or 0 for no limit`);
}

function duration(value: unknown, from: string): number {
  const text = typeof value === "number" ? value : single(value, from);
  try {
    const ms = parseDuration((text === "0" ? 0 : text) as Duration, from);
    if (ms >= 0) return ms;
  } catch {
    // The error below names the place it came from
  }
  throw new UsageError(`${from} is '${String(value)}': expected a duration such as 500ms, 30s or 1m30s`);
}
