/**
 * Keeps track of the finalizers that controllers of this process own, and warns about unowned finalizers of their
 * domains.
 *
 * An unowned finalizer comes from an earlier name of a controller, or from one that was removed, and keeps its object
 * from ever being deleted.
 */
import type { InformerHandler } from "../cache/informer-handler.ts";
import type { SharedInformer } from "../cache/shared-informer.ts";
import type { Log } from "../observe/log.ts";
import type { Clock } from "../platform/clock.ts";
import { finalizerName } from "../reconcile/finalizer.ts";
import type { AnyObject } from "../resource/handle.ts";
import { keyString } from "../resource/meta.ts";
import type { Declarations } from "./declarations.ts";

/** Milliseconds that modules which are still loading have to claim their finalizers. */
const PATIENCE = 3_000;
/** The most objects that are counted. */
const MOST = 1_000;

interface Unclaimed {
  readonly kind: string;
  readonly keys: Set<string>;
}

export class FinalizerClaims {
  readonly #clock: Clock;
  readonly #log: Pick<Log, "warn">;
  /** The number of controllers that own each finalizer. */
  readonly #claims = new Map<string, number>();
  readonly #unclaimed = new Map<string, Unclaimed>();
  readonly #reports = new Set<string>();
  #timer: Disposable | undefined;
  #stopped = false;

  constructor(options: { readonly clock: Clock; readonly log: Pick<Log, "warn"> }) {
    this.#clock = options.clock;
    this.#log = options.log;
  }

  /** Claims the finalizers of a controller and looks for unowned ones on its objects. */
  own(controller: Declarations, informer: SharedInformer | undefined): Disposable {
    const { name, formerly, for: primary, finalizers } = controller;
    const owned = new DisposableStack();
    if (primary === undefined || informer === undefined) return owned;
    const nameOf = (one: string): string => finalizerName(primary.resource, one);
    owned.use(this.claim([name, ...formerly].map(nameOf)));
    owned.use(informer.addHandler(this.watching(nameOf("")), { name: `${name}/finalizers` }));
    owned.defer(() => this.#left(finalizers, informer)); // disposed first, while the cache still has the objects
    return owned;
  }

  /** Claims finalizers until the result is disposed, whether or not their controller has a `finalize`. */
  claim(names: readonly string[]): Disposable {
    for (const name of names) {
      this.#claims.set(name, (this.#claims.get(name) ?? 0) + 1);
      this.#reports.delete(name);
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

  /** Called when the process stops: warnings end, because controllers that leave now return with the next process. */
  stop(): void {
    this.#stopped = true;
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    this.#unclaimed.clear();
  }

  /** A controller leaves; a new version of its module may bring it back at once. */
  #left(finalizers: readonly string[], { store }: SharedInformer): void {
    if (this.#stopped || finalizers.length === 0) return;
    for (const [, object] of store.entries()) {
      for (const name of object.metadata.finalizers ?? []) if (finalizers.includes(name)) this.#note(name, object);
    }
  }

  /** Handles the objects of a kind; `domain` is the prefix of its finalizers, such as `demo.binnacle.dev/`. */
  watching(domain: string): InformerHandler {
    const look = (object: AnyObject): void => {
      const { finalizers } = object.metadata;
      if (finalizers === undefined) return;
      for (const name of finalizers) if (name.startsWith(domain) && !this.#claims.has(name)) this.#note(name, object);
    };
    return { onAdd: look, onUpdate: look, onDelete: () => {} };
  }

  #note(name: string, { kind, metadata }: AnyObject): void {
    if (this.#stopped || this.#reports.has(name)) return;
    let unclaimed = this.#unclaimed.get(name);
    if (unclaimed === undefined) this.#unclaimed.set(name, (unclaimed = { kind, keys: new Set() }));
    if (unclaimed.keys.size < MOST) unclaimed.keys.add(keyString(metadata));
    this.#timer ??= this.#clock.setTimeout(() => this.#tell(), PATIENCE);
  }

  #tell(): void {
    this.#timer = undefined;
    for (const [finalizer, { kind, keys }] of this.#unclaimed) {
      if (this.#claims.has(finalizer)) continue;
      this.#reports.add(finalizer);
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
