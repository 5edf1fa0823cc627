/** Completes the word at the cursor of a shell. */
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { readKubeconfig } from "../kube/config/kubeconfig-file.ts";
import type { Host } from "./command.ts";
import { commands } from "./commands.ts";
import type { Shell } from "./completion.ts";
import type { Option } from "../settings/option.ts";
import { configOption } from "./option.ts";

export interface Candidate {
  readonly word: string;
  /** A description that shells show beside the word if they can. */
  readonly describe: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the candidates for the last of the words.
 *
 * There are none where a path is expected, because shells complete paths better themselves.
 *
 * @param words the line up to the cursor, beginning with the program's name. bash splits words at `=` signs.
 */
export async function complete(words: readonly string[], env: Environment): Promise<readonly Candidate[]> {
  const before = words.slice(1, -1);
  const current = words.at(-1) ?? "";
  const at = before.findIndex((word) => commands.some(({ name }) => name === word));
  const entry = commands.find(({ name }) => name === before[at]);
  if (entry === undefined) {
    return starting(
      current,
      commands.map(({ name, describe }) => ({ word: name, describe })),
    );
  }
  const { options } = await entry.load();
  const typed = before.slice(at + 1);
  const flags = [...options, configOption].filter(({ positional }) => positional !== true);
  const line: Line = { flags, typed, env };
  const joined = /^--([^=]+)=(.*)$/.exec(current);
  if (joined !== null) {
    const [, name = "", value = ""] = joined;
    const values = await valuesOf(flagCalled(`--${name}`, flags), line);
    return starting(value, values).map(({ word, describe }) => ({ word: `--${name}=${word}`, describe }));
  }
  const isSign = current === "=";
  const last = typed.at(-1);
  const awaiting = flagCalled(last === "=" ? typed.at(-2) : last, flags);
  if (awaiting !== undefined && awaiting.type !== "boolean") {
    return starting(isSign ? "" : current, await valuesOf(awaiting, line));
  }
  if (current.startsWith("-")) return starting(current, unusedFlags(line));
  const next = nextPositional(options, line);
  if (next === undefined) return current === "" ? unusedFlags(line) : [];
  return starting(current, await valuesOf(next, line));
}

/** The incomplete command line. */
interface Line {
  readonly flags: readonly Option[];
  /** The words between the command and the cursor. */
  readonly typed: readonly string[];
  readonly env: Environment;
}

function starting(prefix: string, candidates: readonly Candidate[]): readonly Candidate[] {
  return candidates.filter(({ word }) => word.startsWith(prefix));
}

function flagCalled(word: string | undefined, flags: readonly Option[]): Option | undefined {
  return flags.find(({ name }) => word === `--${name}`);
}

function unusedFlags({ flags, typed: given }: Line): readonly Candidate[] {
  return flags
    .filter(({ name, type }) => type === "list" || !given.some((word) => word.split("=")[0] === `--${name}`))
    .map(({ name, describe }) => ({ word: `--${name}`, describe }));
}

/** Returns the next positional argument; `undefined` when none is left. */
function nextPositional(options: readonly Option[], { flags, typed: given }: Line): Option | undefined {
  let count = 0;
  for (let index = 0; index < given.length; index++) {
    const word = given[index]!;
    const flag = flagCalled(word, flags);
    if (flag === undefined) count += word.startsWith("-") ? 0 : 1;
    else if (flag.type !== "boolean") index += given[index + 1] === "=" ? 2 : 1;
  }
  const positionals = options.filter(({ positional }) => positional === true);
  const last = positionals.at(-1);
  return positionals[count] ?? (last?.type === "list" ? last : undefined);
}

async function valuesOf(option: Option | undefined, line: Line): Promise<readonly Candidate[]> {
  if (option?.name === "context") return contexts(line);
  return (option?.choices ?? []).map((word) => ({ word, describe: "" }));
}

/** Returns the contexts of the kubeconfig that the command would use. */
async function contexts({ typed: given, env }: Line): Promise<readonly Candidate[]> {
  const flag = given.lastIndexOf("--kubeconfig");
  const named = flag < 0 ? undefined : given.slice(flag + 1).find((word) => word !== "=");
  const files = named === undefined ? (env["KUBECONFIG"]?.split(delimiter) ?? []) : [named];
  const existing = files.filter((file) => file !== "");
  try {
    const home = join(env["HOME"] ?? homedir(), ".kube", "config");
    const kubeconfig = await readKubeconfig(existing.length > 0 ? existing : [home], { skipMissing: true });
    return [...kubeconfig.contexts].map(([word, { entry }]) => ({ word, describe: entry.cluster ?? "" }));
  } catch {
    return []; // the command itself reports what is wrong with it
  }
}

/** Prints a line for each candidate, in the form that the shell's script reads. */
export async function answerShell([shell, ...words]: readonly string[], { env, out }: Host): Promise<number> {
  const print = forms[shell as Shell] ?? forms.bash;
  const candidates = await complete(words, env);
  out(candidates.map(({ word, describe }) => `${print(word, describe)}\n`).join(""));
  return 0;
}

const forms: Readonly<Record<Shell, (word: string, describe: string) => string>> = {
  bash: (word) => word,
  zsh: (word, describe) => `${word.replaceAll(":", String.raw`\:`)}${describe === "" ? "" : `:${describe}`}`,
  fish: (word, describe) => `${word}\t${describe}`,
};
