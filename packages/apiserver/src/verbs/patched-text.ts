/** Formats a patched object as the server does in errors: sorted where the patch changed it, in its own order elsewhere. */
import type { Fields } from "../hooks.ts";
import { isFloat, writeJson } from "../numbers.ts";
import { NumberText } from "../schema/number-text.ts";

interface Visited {
  readonly [name: string]: Visited;
}

export function patchedText(type: string, object: object, patch: unknown): string {
  const visited = type === "application/json-patch+json" ? byOperations(patch) : byMerge(patch);
  return written(object, visited);
}

function written(value: unknown, visited: Visited | undefined): string {
  if (typeof value !== "object" || value === null || value instanceof NumberText || isFloat(value))
    return escaped(writeJson(value));
  if (Array.isArray(value)) return `[${value.map((item, index) => written(item, visited?.[index])).join(",")}]`;
  const fields = value as Fields;
  const names = visited === undefined ? Object.keys(fields) : Object.keys(fields).toSorted();
  return `{${names.map((name) => `${escaped(JSON.stringify(name))}:${written(fields[name], visited?.[name])}`).join(",")}}`;
}

function byMerge(patch: unknown): Visited {
  const visited: Record<string, Visited> = {};
  for (const [name, value] of Object.entries(patch ?? {})) {
    if (typeof value === "object" && value !== null && !Array.isArray(value)) visited[name] = byMerge(value);
  }
  return visited;
}

/** Returns every container on the path of an operation. */
function byOperations(patch: unknown): Visited {
  const visited: Record<string, Visited> = {};
  for (const { path, from } of patch as { path?: string; from?: string }[]) {
    for (const pointer of [path, from]) {
      if (typeof pointer !== "string") continue;
      let at = visited as Record<string, Record<string, Visited>>;
      for (const step of pointer.split("/").slice(1, -1)) {
        at = at[step.replaceAll("~1", "/").replaceAll("~0", "~")] ??= {};
      }
    }
  }
  return visited;
}

function escaped(json: string): string {
  return json.replace(/[<>&\u2028\u2029]/g, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
