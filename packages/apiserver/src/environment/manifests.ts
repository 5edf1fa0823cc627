/** Objects that are given to a server before it is used: as they are, or in files. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { KubeObject } from "../kube-object.ts";
import { decodeYamlDocuments } from "../request/yaml.ts";
import { matchingFiles } from "./matching-files.ts";

/** An object, with no more than `apiVersion`, `kind` and `metadata` known of it. */
export interface ManifestObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata?: { readonly name?: string; readonly namespace?: string };
}

/**
 * A file, a folder, whose YAML and JSON files are read, a pattern such as `config/**\/*.yaml`, or an object. A URL names a file
 * or a folder, as in `new URL("./crds", import.meta.url)`. A file may hold several documents, and lists.
 */
export type Manifest = string | URL | ManifestObject;

export type Manifests = Manifest | readonly Manifest[];

/** An object and where it comes from, for messages. */
export interface NamedObject {
  readonly object: KubeObject;
  /** Such as `Deployment 'web' of deploy.yaml`. */
  readonly name: string;
}

/** Returns the objects in their order. @throws Error that names the file which cannot be read, and why. */
export function readManifests(manifests: Manifests): readonly NamedObject[] {
  const all = Array.isArray(manifests) ? (manifests as readonly Manifest[]) : [manifests as Manifest];
  return all.flatMap((one) => {
    if (typeof one !== "string" && !(one instanceof URL)) return objectsIn(one, "");
    const path = one instanceof URL ? fileURLToPath(one) : one;
    return matchingFiles(path).flatMap((file) => fileObjects(file));
  });
}

function fileObjects(file: string): readonly NamedObject[] {
  try {
    return decodeYamlDocuments(readFileSync(file, "utf8")).flatMap((value) => objectsIn(value, ` of ${file}`));
  } catch (error) {
    throw new Error(`Cannot read ${file}: ${(error as Error).message}`, { cause: error });
  }
}

/** A document may be empty, one object, or a list of them. */
function objectsIn(value: unknown, from: string): readonly NamedObject[] {
  if (value === null) return [];
  const { apiVersion, kind, metadata, items } = value as Partial<KubeObject> & { readonly items?: readonly unknown[] };
  if (typeof apiVersion !== "string" || typeof kind !== "string") {
    throw new Error(`an object has no apiVersion or no kind: ${JSON.stringify(value).slice(0, 80)}`);
  }
  if (Array.isArray(items) && kind.endsWith("List")) return items.flatMap((item) => objectsIn(item, from));
  return [{ object: value as KubeObject, name: `${kind} '${metadata?.name ?? ""}'${from}` }];
}
