/** Reads CustomResourceDefinitions from files and folders. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import type { Definition } from "./kind-versions.ts";
import { UserError } from "./usage-error.ts";

export interface FoundDefinition {
  readonly definition: Definition;
  /** The source, for messages. */
  readonly from: string;
}

/**
 * Returns every CustomResourceDefinition in a file, or in the YAML and JSON files below a folder; other objects are
 * ignored.
 *
 * @throws UserError when a named file cannot be parsed, or when there is no definition.
 */
export function definitionsIn(path: string): readonly FoundDefinition[] {
  const isFolder = statSync(path).isDirectory();
  const definitions = isFolder ? filesBelow(path).flatMap((file) => definitionsOf(file, { isNamed: false })) : [];
  if (!isFolder) definitions.push(...definitionsOf(path, { isNamed: true }));
  if (definitions.length === 0) throw new UserError(`Cannot find a CustomResourceDefinition in '${path}'`);
  return definitions;
}

function filesBelow(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === "node_modules" ? [] : filesBelow(path);
    return /\.(ya?ml|json)$/.test(entry.name) ? [path] : [];
  });
}

/** Reads a file. A file that was found in a folder may be a template instead of YAML; a named file must be YAML. */
function definitionsOf(file: string, { isNamed }: { readonly isNamed: boolean }): FoundDefinition[] {
  const text = readFileSync(file, "utf8");
  if (!text.includes("CustomResourceDefinition") && !isNamed) return [];
  const documents = parseAllDocuments(text, { merge: true, logLevel: "silent", uniqueKeys: false });
  const definitions: FoundDefinition[] = [];
  for (const document of "empty" in documents ? [] : documents) {
    const [problem] = document.errors;
    if (problem === undefined) {
      for (const object of objectsIn(document.toJS({ maxAliasCount: -1 }))) {
        if (isDefinition(object))
          definitions.push({ definition: object, from: `${object.metadata?.name ?? "?"} in ${file}` });
      }
    } else if (isNamed) throw new UserError(`Cannot read '${file}': ${problem.message.split("\n")[0]}`);
  }
  return definitions;
}

/** Returns the object itself, or the items of a List. */
function objectsIn(value: unknown): readonly unknown[] {
  const { kind, items } = Object(value) as { readonly kind?: unknown; readonly items?: unknown };
  return typeof kind === "string" && kind.endsWith("List") && Array.isArray(items) ? items : [value];
}

function isDefinition(value: unknown): value is Definition & { readonly metadata?: { readonly name?: string } } {
  const { kind, spec } = Object(value) as { readonly kind?: unknown; readonly spec?: unknown };
  return kind === "CustomResourceDefinition" && typeof spec === "object" && spec !== null;
}
