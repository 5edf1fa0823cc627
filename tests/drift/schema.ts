/** How server-side apply takes each field of a kind, as the server's OpenAPI says it. */
import { isMap, type Json, type JsonMap } from "./json.ts";

export type Shape =
  /** A value that is taken as a whole: a scalar, an atomic list or an atomic map. */
  | { readonly type: "whole" }
  /** A map whose entries are taken one by one. */
  | { readonly type: "map"; readonly fields: ReadonlyMap<string, Shape>; readonly rest: Shape | undefined }
  /** A list whose items are told apart by some of their fields. */
  | {
      readonly type: "keyed";
      readonly keys: readonly ListKey[];
      readonly item: Shape;
      readonly mergeKey: string | undefined;
    }
  /** A list of scalars without order. */
  | { readonly type: "set" }
  /** Fields without a schema: maps entry by entry, lists as a whole. */
  | { readonly type: "unknown" };

export interface ListKey {
  readonly name: string;
  readonly default: Json | undefined;
}

export const WHOLE: Shape = { type: "whole" };
export const UNKNOWN: Shape = { type: "unknown" };

/** The shape of what a field or an entry holds. */
export function shapeUnder(shape: Shape, name: string): Shape {
  if (shape.type === "unknown") return UNKNOWN;
  return shape.type === "map" ? (shape.fields.get(name) ?? shape.rest ?? UNKNOWN) : WHOLE;
}

/** The shapes of the kinds in one document of `/openapi/v3`. */
export class Schemas {
  readonly #schemas: JsonMap;
  readonly #shapes = new Map<string, Shape>();

  constructor(document: JsonMap) {
    this.#schemas = (document["components"] as JsonMap)["schemas"] as JsonMap;
  }

  /** The shape of a kind's objects; `undefined` when the document does not have the kind. */
  find(group: string, version: string, kind: string): Shape | undefined {
    for (const [name, schema] of Object.entries(this.#schemas)) {
      const kinds = (schema as JsonMap)["x-kubernetes-group-version-kind"];
      const isIt = (one: Json): boolean =>
        isMap(one) && one["kind"] === kind && one["version"] === version && one["group"] === group;
      if (Array.isArray(kinds) && kinds.some(isIt)) return this.#named(name);
    }
    return undefined;
  }

  #named(name: string): Shape {
    const known = this.#shapes.get(name);
    if (known !== undefined) return known;
    const fields = new Map<string, Shape>();
    const shape = this.#of(this.#schemas[name] as JsonMap, fields);
    this.#shapes.set(name, shape);
    // Its own fields may refer to it again, so they are filled once its name is known.
    this.#fill(this.#schemas[name] as JsonMap, fields);
    return shape;
  }

  #of(given: JsonMap, fields?: Map<string, Shape>): Shape {
    const reference = referenceOf(given);
    if (reference !== undefined) {
      const own = given["x-kubernetes-map-type"];
      return own === "atomic" ? WHOLE : this.#named(reference);
    }
    if (given["type"] === "array") return this.#list(given);
    if (given["x-kubernetes-map-type"] === "atomic") return WHOLE;
    const keepsUnknown = given["x-kubernetes-preserve-unknown-fields"] === true;
    if (isMap(given["properties"]) || isMap(given["additionalProperties"])) {
      const rest = given["additionalProperties"];
      const own = fields ?? new Map<string, Shape>();
      if (fields === undefined) this.#fill(given, own);
      return { type: "map", fields: own, rest: isMap(rest) ? this.#of(rest) : keepsUnknown ? UNKNOWN : undefined };
    }
    return keepsUnknown || given["type"] === "object" ? UNKNOWN : WHOLE;
  }

  #fill(given: JsonMap, fields: Map<string, Shape>): void {
    const properties = isMap(given["properties"]) ? given["properties"] : {};
    for (const [name, schema] of Object.entries(properties)) fields.set(name, this.#of(schema as JsonMap));
  }

  #list(given: JsonMap): Shape {
    const type = given["x-kubernetes-list-type"];
    if (type === "set") return { type: "set" };
    if (type !== "map") return WHOLE;
    const items = given["items"] as JsonMap;
    const names = given["x-kubernetes-list-map-keys"] as string[];
    const mergeKey = given["x-kubernetes-patch-merge-key"];
    const keys = names.map((name) => ({ name, default: this.#defaultOf(items, name) }));
    return {
      type: "keyed",
      keys,
      item: this.#of(items),
      mergeKey: typeof mergeKey === "string" ? mergeKey : undefined,
    };
  }

  #defaultOf(items: JsonMap, name: string): Json | undefined {
    const reference = referenceOf(items);
    const schema = reference === undefined ? items : (this.#schemas[reference] as JsonMap);
    return ((schema["properties"] as JsonMap | undefined)?.[name] as JsonMap | undefined)?.["default"];
  }
}

function referenceOf(schema: JsonMap): string | undefined {
  const [only] = Array.isArray(schema["allOf"]) ? schema["allOf"] : [schema];
  const reference = isMap(only) ? only["$ref"] : undefined;
  return typeof reference === "string" ? reference.slice(reference.lastIndexOf("/") + 1) : undefined;
}
