/** The limit of the process's memory, from the command line. */
import { environmentName } from "./option.ts";
import { quantity } from "./quantity.ts";
import { UsageError } from "./usage-error.ts";

const NAME = "memory-limit";
const FLAG = `--${NAME}`;

/**
 * @returns bytes, 0 for no limit; `undefined` when the option has no value. @throws UsageError when it is not a
 * quantity.
 */
export function memoryOf(values: { readonly "memory-limit": string | undefined }): number | undefined {
  const text = values[NAME];
  if (text === undefined) return undefined;
  const bytes = text === "0" ? 0 : quantity(text);
  if (bytes === undefined) {
    throw new UsageError(`${FLAG} is '${text}': expected a quantity such as 256Mi, or 0 for no limit`);
  }
  return bytes;
}

/**
 * Returns the option's value before the command line is parsed, for settings of the runtime that come before its first
 * line. An invalid quantity is refused later, and a value in a configuration file does not change these settings.
 */
export function memoryGiven(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): number | undefined {
  const at = args.findLastIndex((argument) => argument === FLAG || argument.startsWith(`${FLAG}=`));
  const flag = args[at] === FLAG ? args[at + 1] : args[at]?.slice(FLAG.length + 1);
  const text = flag ?? env[environmentName(NAME)];
  if (text === undefined || text === "") return undefined;
  return text === "0" ? 0 : quantity(text);
}
