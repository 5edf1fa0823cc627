/** Asks the registry of npm that Deno is set up for by a variable. It has no command that would ask another one. */
import type { TaggedVersionOptions } from "../registry.ts";

/** The version of a package that has a tag. @throws Error where the registry does not tell. */
export async function taggedVersion(name: string, { tag, signal, env }: TaggedVersionOptions): Promise<string> {
  const registry = env["NPM_CONFIG_REGISTRY"] ?? env["npm_config_registry"] ?? "";
  if (registry === "") throw new Error("NPM_CONFIG_REGISTRY does not say where it is");
  const response = await fetch(`${registry.replace(/(?<!\/)\/+$/, "")}/${name}/${tag}`, { signal });
  if (!response.ok) throw new Error(`it answers ${response.status}`);
  const manifest: unknown = await response.json();
  if (typeof manifest === "object" && manifest !== null && "version" in manifest) return String(manifest.version);
  throw new Error("its answer has no version");
}
