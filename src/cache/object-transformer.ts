/** What becomes of an object on its way into an informer: transformed, reduced to what is needed, measured, frozen. */
import type { Log } from "../observe/log.ts";
import type { AnyObject } from "../resource/handle.ts";
import { deepFreeze } from "./freeze.ts";
import type { KeptPaths } from "./kept-paths.ts";
import { isStub, Projection, toStub, type Needs } from "./projection.ts";
import { SizeEstimate } from "./size-estimate.ts";

export interface IntakeOptions {
  readonly transform: ((object: AnyObject) => AnyObject) | undefined;
  readonly keep: KeptPaths | undefined;
  readonly freeze: boolean;
  readonly log: Pick<Log, "error">;
  /** Of the informer, in the log. */
  readonly informer: string;
}

const WHOLE: readonly Needs[] = [{ bodies: "all", managers: [] }];
/** Of a stub, about. */
const STUB_BYTES = 200;

export class Intake {
  readonly #options: IntakeOptions;
  readonly #size = new SizeEstimate();
  #projection = new Projection(WHOLE);
  /** Objects that are kept as they came, because the transform threw. */
  transformFailures = 0;

  constructor(options: IntakeOptions) {
    this.#options = options;
  }

  /** Which objects are wanted whole, told from their metadata; `undefined` when all are, as for a transform. */
  get wants(): ((object: AnyObject) => boolean) | undefined {
    const { keep, transform } = this.#options;
    return keep === undefined && transform === undefined ? this.#projection.wants : undefined;
  }

  /** @returns whether what was dropped before is needed now. */
  setNeeds(users: Iterable<Needs>): boolean {
    const earlier = this.#projection;
    this.#projection = new Projection(users);
    return this.#projection.widens(earlier);
  }

  /** @param shared others hold the object too, so it is left as it is. */
  take(given: AnyObject, shared: boolean): AnyObject {
    const { keep, transform, freeze } = this.#options;
    const object = transform === undefined ? given : this.#transformed(given, transform);
    let taken: AnyObject;
    if (keep !== undefined) taken = keep.take(object);
    else taken = shared ? this.#projection.takeCopy(object) : this.#projection.take(object);
    this.#size.take(taken);
    return freeze ? deepFreeze(taken) : taken;
  }

  /** Parts the objects of a page into stubs of what nobody needs and the others, which are to be taken. */
  split(objects: readonly AnyObject[]): {
    readonly stubs: readonly AnyObject[];
    readonly others: readonly AnyObject[];
  } {
    const { wants } = this;
    if (wants === undefined || this.#options.freeze) return { stubs: [], others: objects };
    return splitBy(objects, wants);
  }

  /** Of these objects as JSON, estimated from some that were taken. */
  bytesOf(objects: { readonly size: number; values(): Iterable<AnyObject> }): number {
    let stubs = 0;
    for (const object of objects.values()) if (isStub(object)) stubs++;
    return Math.round((objects.size - stubs) * this.#size.average + stubs * STUB_BYTES);
  }

  #transformed(given: AnyObject, transform: (object: AnyObject) => AnyObject): AnyObject {
    try {
      return transform(given);
    } catch (error) {
      // A store without the object would lie, and listing again would not help.
      if (this.transformFailures++ === 0) {
        const { log, informer } = this.#options;
        const { name, namespace } = given.metadata;
        log.error("A transform failed: objects are kept as they came", { informer, namespace, name, error });
      }
      return given;
    }
  }
}

/** Short: at the start it runs for every object of the cluster, and most are nobody's. */
function splitBy(objects: readonly AnyObject[], wants: (object: AnyObject) => boolean): ReturnType<Intake["split"]> {
  const stubs: AnyObject[] = [];
  const others: AnyObject[] = [];
  for (const object of objects) {
    if (wants(object)) others.push(object);
    else stubs.push(toStub(object));
  }
  return { stubs, others };
}
