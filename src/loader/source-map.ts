/** Reads the source map at the end of a bundled file. */
import { dirname, join } from "node:path";

export interface SourceMap {
  readonly sources: readonly string[];
  readonly sourcesContent?: unknown;
}

export interface FoundSourceMap {
  readonly map: SourceMap;
  /** Where the comment with the map begins. */
  readonly start: number;
}

const MARK = "\n//# sourceMappingURL=data:application/json;";

/** Returns the source map. @returns `undefined` for a file without a readable one. */
export function sourceMapIn(code: string): FoundSourceMap | undefined {
  const start = code.lastIndexOf(MARK);
  if (start < 0) return undefined;
  const encoded = /^(?:charset=utf-8;)?base64,([A-Za-z0-9+/=]+)\s*$/.exec(code.slice(start + MARK.length));
  if (encoded === null) return undefined;
  try {
    const map: unknown = JSON.parse(Buffer.from(encoded[1]!, "base64").toString("utf8"));
    if (typeof map !== "object" || map === null || !("sources" in map) || !Array.isArray(map.sources)) return undefined;
    return { map: { ...map, sources: map.sources.map(String) }, start };
  } catch {
    return undefined;
  }
}

/** Returns the paths that stack traces name instead of a bundled file. */
export function originsOf(file: string, code: string): readonly string[] {
  if (!code.startsWith("// @bun")) return [];
  return sourceMapIn(code)?.map.sources.map((source) => join(dirname(file), source)) ?? [];
}
