/**
 * Finds objects that left the selector of `for` while no process watched and still carry our finalizer. A watch with
 * the selector will never show them.
 */
import { listMetadata } from "../kube/api/list.ts";
import { plainObject } from "../kube/api/listed-metadata.ts";
import { collectionPath } from "../kube/api/mapper.ts";
import { sleep } from "../platform/clock.ts";
import { isNamespaceSelector } from "../cache/selected-namespaces.ts";
import { hasFinalizer } from "../reconcile/finalizer.ts";
import type { AnyObject } from "../resource/handle.ts";
import { keyString } from "../resource/meta.ts";
import type { Runtime } from "./runtime.ts";
import type { KindWatch } from "./watch.ts";

/** Milliseconds between two attempts when the server refuses. */
const AGAIN_MS = 30_000;

export interface MissedFinalizationsOptions {
  readonly runtime: Pick<Runtime, "transport" | "mapper" | "clock" | "log" | "settings">;
  readonly watch: KindWatch;
  readonly finalizers: readonly string[];
  /** Whether to search also where the controller does not watch, within what the process watches. @default false */
  readonly everywhere?: boolean | undefined;
  /** Whether the watch shows the object, or another replica looks after it. */
  readonly shows: (key: string, object: AnyObject) => boolean;
  readonly signal: AbortSignal;
  /** Called with the metadata of each object. */
  readonly found: (key: string, object: AnyObject) => void;
}

/**
 * Lists the metadata of all objects of the kind once. It has no effect when the watch has no selector, unless it looks
 * everywhere.
 */
export async function findMissedFinalizations(options: MissedFinalizationsOptions): Promise<void> {
  const { runtime, watch, finalizers, everywhere = false, signal } = options;
  const { labels, fields, namespaces } = watch.options;
  if (finalizers.length === 0) return;
  const isSelected = labels !== undefined || fields !== undefined || isNamespaceSelector(namespaces);
  if (!isSelected && !(everywhere && namespaces !== undefined)) return;
  while (!signal.aborted) {
    try {
      await look(options);
      return;
    } catch (error) {
      if (signal.aborted) return;
      const kind = watch.resource.kind;
      runtime.log.warn("Cannot look for objects that left the selector", { kind, error });
      await sleep(AGAIN_MS, { clock: runtime.clock, signal }).catch(() => {});
    }
  }
}

async function look(options: MissedFinalizationsOptions): Promise<void> {
  const { runtime, watch, finalizers, everywhere = false, shows, signal, found } = options;
  const { transport, mapper } = runtime;
  const { resource } = watch;
  const { namespaces } = watch.options;
  const mapping = mapper.known(resource) ?? (await mapper.resolve(resource, signal));
  const { namespace: everyNamespace = [] } = runtime.settings;
  const watched = everywhere ? everyNamespace : (namespaces ?? everyNamespace);
  const listed = isNamespaceSelector(watched) ? [] : watched;
  for (const namespace of mapping.namespaced && listed.length > 0 ? listed : [""]) {
    await listMetadata(transport, {
      path: collectionPath(mapping, namespace),
      type: resource,
      fullListIfExpired: true,
      signal,
      onPage(page) {
        for (const object of page) {
          const key = keyString(object.metadata);
          if (hasFinalizer(object, finalizers) && !shows(key, object)) found(key, plainObject(object));
        }
      },
    });
  }
}
