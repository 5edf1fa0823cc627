/** Source maps of bundled modules name files as if they were where the module is going to be. */
import { relative, resolve, sep } from "node:path";
import { sourceMapIn } from "../../loader/source-map.ts";

/**
 * Names the sources as they were beside the module: what has been bundled from files of a folder becomes `NAME/index.js` in
 * one like it. The sources' own text is left out, because stack traces need only their names.
 *
 * @param folder what the sources are relative to.
 */
export function moveSources(code: string, folder: string): string {
  const place = sourceMapIn(code);
  if (place === undefined) return code;
  const { sourcesContent: _, ...map } = place.map;
  const sources = map.sources.map((source) => `../${placeOf(resolve(folder, source), folder)}`);
  const text = Buffer.from(JSON.stringify({ ...map, sources })).toString("base64");
  return `${code.slice(0, place.start)}\n//# sourceMappingURL=data:application/json;base64,${text}\n`;
}

/** Below the folder where it is there, and a name without the rest of this machine where it is not. */
function placeOf(source: string, folder: string): string {
  const inside = relative(folder, source);
  if (!inside.startsWith("..")) return inside.replaceAll(sep, "/");
  const marker = `${sep}node_modules${sep}`;
  const at = source.lastIndexOf(marker);
  if (at >= 0) return `node_modules/${source.slice(at + marker.length).replaceAll(sep, "/")}`;
  return inside.replaceAll(sep, "/").replace(/^(\.\.\/)+/, "_outside/");
}
