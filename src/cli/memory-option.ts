/** The limit of the process's memory, for settings of the runtime that must be made before its first line. */
import { quantity } from "../resource/quantity.ts";
import { environmentName } from "./option.ts";

const NAME = "memory-limit";
const FLAG = `--${NAME}`;

/**
 * Returns the limit on the command line or in the environment, before anything is parsed. A value that is no quantity is
 * refused later, and one in a configuration file does not change these settings.
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
