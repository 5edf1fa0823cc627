/** A handler that checks its calls: each object is reported as new first and only once, and never as a stub. */
import type { InformerHandler } from "../../src/cache/informer-handler.ts";
import { isStub } from "../../src/cache/object-transformer.ts";
import type { AnyObject } from "../../src/resource/handle.ts";
import { keyString } from "../../src/resource/meta.ts";

/**
 * Follows the objects that a handler knows of.
 *
 * **Guarantees.** Violations of the rules of {@link InformerHandler} are kept in `problems`, because an informer does
 * not let a handler throw.
 */
export class HandlerWitness implements InformerHandler {
  readonly problems: string[] = [];
  /** The objects that were reported and not reported as deleted, by key. */
  readonly known: Map<string, AnyObject> = new Map();
  /** How often each object was reported as new, by UID. */
  readonly added: Map<string, number> = new Map();

  onAdd(object: AnyObject): void {
    this.#check("add", object);
    const key = keyString(object.metadata);
    const known = this.known.get(key);
    if (known !== undefined) this.problems.push(`add of ${text(object)} while ${text(known)} is known`);
    this.known.set(key, object);
    this.added.set(object.metadata.uid, (this.added.get(object.metadata.uid) ?? 0) + 1);
  }

  onUpdate(object: AnyObject, old: AnyObject): void {
    this.#check("update", object);
    this.#check("update from", old);
    this.#knows("update", object);
    this.#knows("update from", old);
    this.known.set(keyString(object.metadata), object);
  }

  onDelete(object: AnyObject): void {
    this.#check("delete", object);
    this.#knows("delete", object);
    this.known.delete(keyString(object.metadata));
  }

  #check(what: string, object: AnyObject): void {
    if (isStub(object)) this.problems.push(`${what} of a stub: ${text(object)}`);
  }

  #knows(what: string, object: AnyObject): void {
    const known = this.known.get(keyString(object.metadata));
    if (known?.metadata.uid !== object.metadata.uid)
      this.problems.push(`${what} of ${text(object)}, which is not known`);
  }
}

function text(object: AnyObject): string {
  const { uid, resourceVersion } = object.metadata;
  return `${keyString(object.metadata)} (${uid}) at ${resourceVersion}`;
}
