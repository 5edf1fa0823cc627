/** Asks the registry of npm by Bun's package manager, which knows the user's registry, proxy and tokens. */
import { withoutRuntimeVariables } from "../runtime-variables.ts";
import type { TaggedVersionOptions } from "../registry.ts";
import { runTool } from "./self.ts";

/** Returns the version of a package with a tag. @throws Error with the message of the package manager. */
export async function taggedVersion(name: string, { tag, signal, env }: TaggedVersionOptions): Promise<string> {
  const variables = Object.entries(withoutRuntimeVariables(env)).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const { status, stdout, stderr } = await runTool(["pm", "view", name, `dist-tags.${tag}`, "--json"], {
    signal,
    env: Object.fromEntries(variables),
  });
  signal.throwIfAborted();
  const message = stderr.split("\n").find((line) => line.trim() !== "") ?? "the package manager says nothing";
  if (status !== 0) throw new Error(message.replace(/^error:\s*/, "").trim());
  return stdout.trim().replace(/^"(.*)"$/, "$1");
}
