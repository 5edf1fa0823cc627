/** A valid object with one field wrong, for every field it has: what a server refuses and in which words. */
import { isChosen } from "../fields/sampling.ts";
import type { Subject } from "./subject.ts";

export async function mutations(subject: Subject, share: number): Promise<void> {
  const { session, collection } = subject;
  const kinds = [subject.sample.minimal, ...(subject.sample.full ? [subject.sample.full] : [])];
  const done = new Set<string>();
  for (const fields of kinds) {
    for (const path of pathsOf(fields)) {
      const before = at(fields, path);
      for (const [label, value] of wrongFor(before)) {
        const name = `create with ${path.join(".")} ${label}`;
        if (done.has(name)) continue;
        done.add(name);
        if (!isChosen(session.name, name, share)) continue;
        const body = subject.object({}, changed(fields, path, value));
        await session.send(name, "POST", `${collection}?dryRun=All`, { body });
      }
    }
  }
}

type Path = readonly (string | number)[];

function pathsOf(value: unknown, path: Path = []): Path[] {
  const here = path.length === 0 ? [] : [path];
  if (Array.isArray(value)) return [...here, ...value.flatMap((item, index) => pathsOf(item, [...path, index]))];
  if (typeof value !== "object" || value === null) return here;
  return [...here, ...Object.entries(value).flatMap(([name, field]) => pathsOf(field, [...path, name]))];
}

function wrongFor(value: unknown): [string, unknown][] {
  const absent: [string, unknown] = ["absent", undefined];
  if (typeof value === "string") return [absent, ["empty", ""], ["bad", "Not Valid!"], ["a number", 7]];
  if (typeof value === "number") return [absent, ["negative", -1], ["huge", 1e9], ["a text", "x"]];
  if (typeof value === "boolean") return [absent, ["a text", "x"]];
  if (Array.isArray(value)) return [absent, ["empty", []], ["doubled", [...value, ...value]], ["a text", "x"]];
  return [absent, ["empty", {}], ["a text", "x"]];
}

function at(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((found, step) => (found as Record<string | number, unknown>)[step], value);
}

function changed(fields: Readonly<Record<string, unknown>>, path: Path, value: unknown): Record<string, unknown> {
  const copy = structuredClone(fields) as Record<string, unknown>;
  const parent = at(copy, path.slice(0, -1)) as Record<string | number, unknown>;
  const last = path.at(-1) as string | number;
  if (value !== undefined) parent[last] = value;
  else if (Array.isArray(parent)) parent.splice(last as number, 1);
  else delete parent[last];
  return copy;
}
