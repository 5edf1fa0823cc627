/** One stored object. */
import type { KubeObject, ObjectMetadata } from "../hooks.ts";
import { parseJson, writeJson } from "../numbers.ts";

/** An object at one version, shared by every reader. It never changes. */
export class Stored {
  /** The key: `namespace/name`, or `name` where the kind has no namespaces. */
  readonly key: string;
  readonly version: number;
  #object: KubeObject | undefined;
  #json: string | undefined;

  constructor(key: string, version: number, content: { readonly object?: KubeObject; readonly json?: string }) {
    this.key = key;
    this.version = version;
    this.#object = content.object;
    this.#json = content.json;
  }

  get object(): KubeObject {
    return (this.#object ??= parseJson(this.#json ?? "null") as KubeObject);
  }

  /** The JSON, which is made once: responses, list items and all watchers share it. */
  get json(): string {
    return (this.#json ??= writeJson(this.#object));
  }
}

export type EventType = "ADDED" | "MODIFIED" | "DELETED";

/** One change of one object. */
export class StoreEvent {
  readonly type: EventType;
  /** The object after the change; for a deletion its last state, with the version of the deletion. */
  readonly stored: Stored;
  /** The state before; absent for an added object. */
  readonly previous: Stored | undefined;
  /** The time of the change in milliseconds. */
  readonly at: number;

  constructor(type: EventType, stored: Stored, { previous, at }: { previous: Stored | undefined; at: number }) {
    this.type = type;
    this.stored = stored;
    this.previous = previous;
    this.at = at;
  }

  get version(): number {
    return this.stored.version;
  }
}

/** Puts kind and version first and metadata in the order of its type, as every object is stored. The object and its metadata are copied. */
export function ordered(object: KubeObject): KubeObject {
  const { kind, apiVersion, metadata, ...rest } = object;
  const { name, generateName, namespace, selfLink, uid, resourceVersion, generation, ...others } = metadata;
  const own: ObjectMetadata = {};
  if (name !== undefined) own.name = name;
  if (generateName !== undefined) own.generateName = generateName;
  if (namespace !== undefined) own.namespace = namespace;
  if (selfLink !== undefined) own["selfLink"] = selfLink;
  if (uid !== undefined) own.uid = uid;
  if (resourceVersion !== undefined) own.resourceVersion = resourceVersion;
  if (generation !== undefined) own.generation = generation;
  return { kind, apiVersion, metadata: Object.assign(own, others), ...rest };
}
