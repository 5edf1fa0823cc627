/** Lists the imports of a source. */
import { parse } from "es-module-lexer/js";

/**
 * Matches imports as they are written, for sources with JSX, whose text the lexer cannot read. No clause goes beyond
 * the next import.
 */
const WRITTEN =
  /(?:^|[;\s}])(?:import|export)\b(?!\s+type\s)\s*(?:[\w$*{](?:(?!\b(?:import|export)\b)[^"'`;])*?\sfrom\s*|[{*](?:(?!\b(?:import|export)\b)[^"'`;])*?\}?(?<!\s)\s*from\s*)?["']([^"'\n]+)["']|\bimport\s*\(\s*["']([^"'\n]+)["']/g;
const REQUIRED = /\brequire\s*\(\s*["']([^"'\n]+)["']\s*\)/g;

/** Returns the paths and packages that a source imports by a literal name, except for types alone. */
export function importsOf(source: string): readonly string[] {
  const required = source.includes("require") ? [...source.matchAll(REQUIRED)].map(([, name]) => name!) : [];
  return [...new Set([...imported(source), ...required])];
}

function imported(source: string): readonly string[] {
  try {
    const [imports] = parse(source);
    return imports.flatMap((one) => {
      const isForTypes = "typeOnly" in one ? one.typeOnly : one.probablyTypeOnly;
      return isForTypes || typeof one.specifier !== "string" ? [] : [one.specifier];
    });
  } catch {
    return [...source.matchAll(WRITTEN)].map(([, from, late]) => (from ?? late)!);
  }
}
