/** The macros, which look like methods and loop over a list or map. */
import type { CelNode } from "./node.ts";

/** The numbers of arguments that each macro may have. */
const counts: Readonly<Record<string, readonly number[]>> = {
  all: [2, 3],
  exists: [2, 3],
  exists_one: [2, 3],
  existsOne: [2, 3],
  map: [2, 3],
  filter: [2],
  optMap: [2],
  optFlatMap: [2],
  transformList: [3, 4],
  transformMap: [3, 4],
  transformMapEntry: [3, 4],
  sortBy: [2],
};

export function isMacro(name: string, count: number): boolean {
  return Object.hasOwn(counts, name) && (counts[name]?.includes(count) ?? false);
}

export interface LoopShape {
  readonly variables: readonly CelNode[];
  readonly bodies: readonly CelNode[];
  /** Whether all bodies but the last are conditions. */
  readonly filters: boolean;
}

export function loopShape(name: string, args: readonly CelNode[]): LoopShape {
  const isPair = name.startsWith("transform") || (name !== "map" && args.length === 3);
  const count = isPair ? 2 : 1;
  return {
    variables: args.slice(0, count),
    bodies: args.slice(count),
    filters: name === "map" || name.startsWith("transform"),
  };
}
