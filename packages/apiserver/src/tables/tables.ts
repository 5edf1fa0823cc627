/** The built-in kinds: rows, schemas and documents of the real server, which are unpacked at their first use. */
import { decompress } from "#platform/decompress";
import type { GroupVersionKind, KindRow } from "../hooks.ts";
import type { Schema } from "../schema/schema.ts";
import documentsText from "./documents.txt" with { type: "text" };
import kindsText from "./kinds.txt" with { type: "text" };
import { type LoadedTypes, loadTypes } from "./table-schema.ts";
import type { TypeTable } from "./table-type.ts";
import typesText from "./types.txt" with { type: "text" };

let rows: readonly KindRow[] | undefined;
let types: LoadedTypes | undefined;
let documents: Documents | undefined;

/** Returns every served group, version and kind in the order of discovery: the core group first, preferred versions first. */
export function builtInRows(): readonly KindRow[] {
  rows ??= JSON.parse(kindsText) as KindRow[];
  return rows;
}

/**
 * Returns the schema of a built-in kind; options and kinds that only a subresource serves, such as Scale, count too.
 */
export function builtInSchema({ group, version, kind }: GroupVersionKind): Schema | undefined {
  types ??= loadTypes(JSON.parse(typesText) as TypeTable);
  return types.schemaOf(`${group}/${version}/${kind}`);
}

/** Returns the names of the OpenAPI v3 documents, such as `apis/apps/v1`, sorted. */
export function openApiV3Paths(): readonly string[] {
  return [...index().names()].filter((name) => name.startsWith("v3/")).map((name) => name.slice(3));
}

/** Returns the document of `api/v1`, `apis/apps/v1` and so on, as JSON. */
export function openApiV3(path: string): Uint8Array | undefined {
  return index().get(`v3/${path}`);
}

/** Returns the hash of an OpenAPI v3 document in the index. */
export function openApiV3Hash(path: string): string | undefined {
  return index().hash(`v3/${path}`);
}

/** Returns OpenAPI v2 as JSON. */
export function openApiV2(): Uint8Array {
  return index().get("v2.json")!;
}

/** Returns OpenAPI v2 as `application/com.github.proto-openapi.spec.v2@v1.0+protobuf`, the only form that kubectl accepts. */
export function openApiV2Protobuf(): Uint8Array {
  return index().get("v2.pb")!;
}

function index(): Documents {
  documents ??= new Documents(documentsText);
  return documents;
}

interface Place {
  readonly start: number;
  readonly length: number;
  readonly hash: string;
}

/** All OpenAPI documents, packed together. Unpacked they take 9 MB, which are not kept. */
class Documents {
  readonly #places = new Map<string, Place>();
  readonly #packed: string;
  /** The documents that were requested. */
  readonly #known = new Map<string, Uint8Array>();
  #all = new WeakRef<Uint8Array>(new Uint8Array());

  constructor(text: string) {
    const end = text.indexOf("\n");
    let start = 0;
    for (const [name, length, hash] of JSON.parse(text.slice(0, end)) as [string, number, string][]) {
      this.#places.set(name, { start, length, hash });
      start += length;
    }
    this.#packed = text.slice(end + 1);
  }

  names(): Iterable<string> {
    return this.#places.keys();
  }

  hash(name: string): string | undefined {
    return this.#places.get(name)?.hash;
  }

  get(name: string): Uint8Array | undefined {
    const place = this.#places.get(name);
    if (!place) return undefined;
    let known = this.#known.get(name);
    if (!known) {
      known = this.#unpacked().slice(place.start, place.start + place.length);
      this.#known.set(name, known);
    }
    return known;
  }

  #unpacked(): Uint8Array {
    const before = this.#all.deref();
    if (before?.length) return before;
    const all = decompress(Buffer.from(this.#packed, "base64"));
    this.#all = new WeakRef(all);
    return all;
  }
}
