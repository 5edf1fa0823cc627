/** Messages of the command line about the configuration of modules. */
import { type ConfigOrigin, knownConfigs, readSources } from "../loader/module-config.ts";
import type { Loaded } from "../loader/load.ts";
import { unusedKeys } from "../module/config/all.ts";
import type { ModuleConfig } from "../module/config/config.ts";
import { type ConfigField, shownType } from "../module/config/fields.ts";
import type { ConfigSources } from "../module/config/sources.ts";
import { printable } from "../observe/printable.ts";
import type { Log } from "../observe/log.ts";
import { messageOf } from "../platform/error-message.ts";
import { UsageError } from "./usage-error.ts";

/** Reads the files and folders of `--module-config`. @throws UsageError */
export async function sourcesOf(origin: ConfigOrigin): Promise<ConfigSources> {
  try {
    return await readSources(origin);
  } catch (error) {
    throw new UsageError(messageOf(error), { cause: error });
  }
}

/** One message for all faults. */
export function faultsMessage(faults: readonly string[]): string {
  const [first] = faults;
  if (faults.length === 1) return `The configuration of the modules has a fault: ${first}`;
  return `The configuration of the modules has ${faults.length} faults:\n${faults.map((one) => `  ${one}`).join("\n")}`;
}

/** Warns of keys that no module takes. They are not faults, because other programs may use a mounted Secret too. */
export function tellUnusedKeys(loaded: readonly Loaded[], sources: ConfigSources, log: Log): void {
  const files = unusedKeys(sources, knownConfigs(loaded));
  if (files.length > 0) log.warn("No module takes the values of some files of --module-config", { files });
}

/** Returns a line for each field: its name, its type and default, and where its value comes from. */
export function describeConfig({
  fields,
  provisions,
}: ModuleConfig): readonly (readonly [name: string, text: string])[] {
  return fields.map((field) => [
    field.key,
    [...traits(field), from(field, provisions.get(field.key)?.from)].join("; "),
  ]);
}

/** Returns the type of a field and its default, or that a value is required. */
export function describeField(field: ConfigField): string {
  const { description } = field.json;
  return [
    ...traits(field),
    ...(description === undefined ? [] : [printable(description.replaceAll(/\s+/g, " "))]),
  ].join("; ");
}

function* traits({ json, isSecret, isRequired }: ConfigField): Generator<string> {
  yield isSecret ? `${shownType(json)}, secret` : shownType(json);
  if (json.default !== undefined && !isSecret) yield `default ${JSON.stringify(json.default)}`;
  else if (json.default !== undefined) yield "has a default";
  else yield isRequired ? "required" : "optional";
}

function from({ variable, json }: ConfigField, source: string | undefined): string {
  if (source === variable) return `from ${variable}`;
  if (source !== undefined) return `from ${source} (or ${variable})`;
  return `${json.default === undefined ? "not set" : "from its default"} (${variable})`;
}
