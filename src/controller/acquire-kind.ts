/** Leases the informers of the kinds that a controller declares. */
import type { InformerLease } from "../cache/informer-registry.ts";
import type { Needs } from "../cache/object-transformer.ts";
import type { Portion } from "../cache/portion.ts";
import type { Runtime } from "./runtime.ts";
import { keptPaths, type KindWatch } from "./watch.ts";

export interface AcquireKindOptions {
  readonly needs: Needs;
  /** The portion of the kind's objects that is kept. @default all */
  readonly portion?: Portion | undefined;
  /** The user's name in the log. */
  readonly user: string;
}

/** @throws SyntaxError for an invalid selector. */
export function acquireKind(
  runtime: Pick<Runtime, "informers" | "settings">,
  watch: KindWatch,
  { needs, portion, user }: AcquireKindOptions,
): InformerLease {
  const { resource } = watch;
  const { labels, fields, namespaces } = watch.options;
  return runtime.informers.acquire(resource, {
    namespaces: namespaces ?? (resource.scope === "Cluster" ? [] : runtime.settings.namespace),
    labels,
    fields,
    keep: keptPaths(watch),
    portion,
    needs,
    user,
  });
}
