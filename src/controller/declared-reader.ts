/** The client for the `reads` and `uses` of a definition without keys: a webhook, or a plugin. */
import type { InformerLease } from "../cache/informer-registry.ts";
import { type ClientCore, clientCore } from "../client/kube-client.ts";
import { groupKind } from "../resource/handle.ts";
import { warnOnce } from "./controller-environment.ts";
import { type Declarations, declarationsOf } from "./declarations.ts";
import type { KeyController } from "./definition.ts";
import { acquireKind, EVERYTHING } from "./needs.ts";
import type { Runtime } from "./runtime.ts";

type ReaderRuntime = Pick<Runtime, "transport" | "mapper" | "informers" | "log" | "settings" | "warnUndeclared">;

/** Definitions never change, and are read again and again. */
const cache = new WeakMap<object, Declarations>();

/** Returns the declarations of a definition in the form of a controller that only reads. */
export function readerDeclarations(
  definition: object,
  { name, reads = [], uses = [] }: Pick<KeyController, "name" | "reads" | "uses">,
): Declarations {
  let declarations = cache.get(definition);
  if (declarations === undefined) {
    declarations = declarationsOf({ name, reads, uses, reconcile: () => Promise.resolve() });
    cache.set(definition, declarations);
  }
  return declarations;
}

/** Holds a lease of each kind in `reads` until it is disposed of. */
export class DeclaredReader implements Disposable {
  /** For the clients. */
  readonly core: ClientCore;
  readonly leases: readonly InformerLease[];

  constructor({ name, reads, permissions }: Declarations, module: string, runtime: ReaderRuntime) {
    const { transport, mapper, informers, log, warnUndeclared } = runtime;
    this.leases = reads.map((watch) => acquireKind(runtime, watch, { needs: EVERYTHING, user: `${module}/${name}` }));
    this.core = clientCore({
      transport,
      mapper,
      informers,
      manager: name,
      declared: Map.groupBy(
        this.leases.map(({ informer }) => informer),
        ({ resource }) => groupKind(resource),
      ),
      permissions,
      onUndeclared: warnUndeclared ? warnOnce(log.with({ module, controller: name })) : undefined,
    });
  }

  [Symbol.dispose](): void {
    this.core.reader[Symbol.dispose]();
    for (const lease of this.leases) lease.release();
  }
}
