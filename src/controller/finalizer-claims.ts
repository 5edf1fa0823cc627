/**
 * Which finalizers the controllers of this process own, and a warning about those of the same domains that none does.
 *
 * Such a finalizer was left behind by an earlier name of a controller, or by one that is gone, and keeps its object
 * from ever being deleted.
 */
import type { InformerHandler } from "../cache/informer-handler.ts";
import type { SharedInformer } from "../cache/shared-informer.ts";
import type { Log } from "../observe/log.ts";
import type { Clock } from "../platform/clock.ts";
import type { AnyObject } from "../resource/handle.ts";
import { finalizerName } from "../reconcile/finalizer.ts";
import { keyString } from "../resource/meta.ts";
import type { Declarations } from "./declarations.ts";

/** Milliseconds for modules that have not been loaded yet to claim theirs. */
const PATIENCE = 3_000;
/** So many objects are counted. */
const MOST = 1_000;

interface Unclaimed {
  readonly kind: string;
  readonly keys: Set<string>;
}

export class FinalizerClaims {
  readonly #clock: Clock;
  readonly #log: Pick<Log, "warn">;
  /** By how many controllers. */
  readonly #claims = new Map<string, number>();
  readonly #unclaimed = new Map<string, Unclaimed>();
  readonly #told = new Set<string>();
  #timer: Disposable | undefined;
  #stopped = false;

  constructor(options: { readonly clock: Clock; readonly log: Pick<Log, "warn"> }) {
    this.#clock = options.clock;
    this.#log = options.log;
  }

  /** Claims what a controller owns, and looks at the objects that it is for. */
  own(controller: Declarations, informer: SharedInformer | undefined): Disposable {
    const { name, formerly, for: primary, finalizers } = controller;
    const owned = new DisposableStack();
    if (primary === undefined || informer === undefined) return owned;
    const nameOf = (one: string): string => finalizerName(primary.resource, one);
    owned.use(this.claim([name, ...formerly].map(nameOf)));
    owned.use(informer.addHandler(this.watching(nameOf("")), { name: `${name}/finalizers` }));
    owned.defer(() => this.#left(finalizers, informer)); // first of all: the cache still has the objects
    return owned;
  }

  /** The finalizers belong to a controller of this process until it is disposed of, whether or not it has a `finalize`. */
  claim(names: readonly string[]): Disposable {
    for (const name of names) {
      this.#claims.set(name, (this.#claims.get(name) ?? 0) + 1);
      this.#told.delete(name);
    }
    return {
      [Symbol.dispose]: () => {
        for (const name of names) {
          const left = this.#claims.get(name)! - 1;
          if (left > 0) this.#claims.set(name, left);
          else this.#claims.delete(name);
        }
      },
    };
  }

  /** The process is stopping: who leaves now comes back with the next one. */
  stop(): void {
    this.#stopped = true;
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    this.#unclaimed.clear();
  }

  /** A controller leaves; it may be back at once, as a new version of its module. */
  #left(finalizers: readonly string[], { store }: SharedInformer): void {
    if (this.#stopped || finalizers.length === 0) return;
    for (const [, object] of store.entries()) {
      for (const name of object.metadata.finalizers ?? []) if (finalizers.includes(name)) this.#note(name, object);
    }
  }

  /** Looks at the objects of a kind; `domain` is what its finalizers begin with, such as `demo.binnacle.dev/`. */
  watching(domain: string): InformerHandler {
    const look = (object: AnyObject): void => {
      const { finalizers } = object.metadata;
      if (finalizers === undefined) return;
      for (const name of finalizers) if (name.startsWith(domain) && !this.#claims.has(name)) this.#note(name, object);
    };
    return { onAdd: look, onUpdate: look, onDelete: () => {} };
  }

  #note(name: string, { kind, metadata }: AnyObject): void {
    if (this.#stopped || this.#told.has(name)) return;
    let unclaimed = this.#unclaimed.get(name);
    if (unclaimed === undefined) this.#unclaimed.set(name, (unclaimed = { kind, keys: new Set() }));
    if (unclaimed.keys.size < MOST) unclaimed.keys.add(keyString(metadata));
    this.#timer ??= this.#clock.setTimeout(() => this.#tell(), PATIENCE);
  }

  #tell(): void {
    this.#timer = undefined;
    for (const [finalizer, { kind, keys }] of this.#unclaimed) {
      if (this.#claims.has(finalizer)) continue;
      this.#told.add(finalizer);
      const [example] = keys;
      this.#log.warn(
        "A finalizer belongs to no controller of this process, and nothing will remove it: if a controller was " +
          "renamed, give it `formerly`; else take the finalizer off (`binnacle check --cluster` lists all)",
        { finalizer, kind, objects: keys.size, example },
      );
    }
    this.#unclaimed.clear();
  }
}
