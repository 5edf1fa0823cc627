/** Makes what the metrics show of an informer. */
import type { SharedInformer } from "../cache/shared-informer.ts";
import type { InformerReading } from "../observe/readings.ts";

export function informerReading(informer: SharedInformer, now: number): InformerReading {
  const {
    resource,
    namespaces,
    namespaceLabels,
    labels,
    fields,
    portion,
    store,
    bytes,
    lastEventAt,
    hasSynced,
    relists,
    differences,
  } = informer;
  const selector = [
    namespaceLabels === undefined
      ? namespaces.length > 0
        ? `namespaces=${namespaces.join("|")}`
        : ""
      : `namespaceLabels=${namespaceLabels}`,
    labels === undefined ? "" : `labels=${labels}`,
    fields === undefined ? "" : `fields=${fields}`,
    portion === undefined ? "" : `shardBy=${portion}`,
  ];
  return {
    group: resource.group,
    version: resource.version,
    kind: resource.kind,
    selector: selector.filter((part) => part !== "").join(" "),
    objects: store.size,
    bytes,
    lastEventAgeSeconds: lastEventAt === undefined ? undefined : Math.max(0, now - lastEventAt) / 1000,
    synced: hasSynced,
    differences,
    relists,
  };
}
