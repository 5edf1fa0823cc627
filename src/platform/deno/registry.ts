/** Asks the registry of npm that a variable sets for Deno, which has no command for that. */
import type { TaggedVersionOptions } from "../registry.ts";

/** Returns the version of a package with a tag. @throws Error when the registry does not have it. */
export async function taggedVersion(name: string, { tag, signal, env }: TaggedVersionOptions): Promise<string> {
  const registry = env["NPM_CONFIG_REGISTRY"] ?? env["npm_config_registry"] ?? "";
  if (registry === "") throw new Error("NPM_CONFIG_REGISTRY does not say where it is");
  const response = await fetch(`${registry.replace(/(?<!\/)\/+$/, "")}/${name}/${tag}`, { signal });
  if (!response.ok) throw new Error(`it answers ${response.status}`);
  const manifest: unknown = await response.json();
  if (typeof manifest === "object" && manifest !== null && "version" in manifest) return String(manifest.version);
  throw new Error("its answer has no version");
}
