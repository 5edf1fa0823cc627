/** The metrics of the shared informers. */
import type { SharedInformer } from "../cache/shared-informer.ts";
import type { Metrics } from "../observe/metrics.ts";
import type { Labels } from "../observe/series.ts";
import type { Clock } from "../platform/clock.ts";

export interface InformerMetricsSource {
  readonly metrics: Metrics;
  readonly informers: { all(): Iterable<SharedInformer> };
  readonly connectionClock: Pick<Clock, "now">;
}

/** Adds the number of objects of each informer, their age, and the number of its further lists. */
export function addInformerMetrics({ metrics, informers, connectionClock: clock }: InformerMetricsSource): void {
  const add = (name: string, help: string, value: (informer: SharedInformer) => number | undefined): void => {
    const samples = (): { labels: Labels; value: number }[] =>
      [...informers.all()].flatMap((informer) => {
        const sample = value(informer);
        return sample === undefined ? [] : [{ labels: labelsOf(informer), value: sample }];
      });
    metrics.add({ name, help, type: name.endsWith("_total") ? "counter" : "gauge", read: samples });
  };
  add("binnacle_informer_objects", "Number of objects that an informer holds", ({ store }) => store.size);
  add("binnacle_informer_bytes", "Estimated size of the objects that an informer holds", ({ bytes }) => bytes);
  add(
    "binnacle_informer_last_event_age_seconds",
    "Seconds since an informer's last event or bookmark",
    ({ lastEventAt }) => (lastEventAt === undefined ? undefined : Math.max(0, clock.now() - lastEventAt) / 1000),
  );
  add("binnacle_informer_synced", "1 when an informer holds a complete list", ({ hasSynced }) => Number(hasSynced));
  add(
    "binnacle_informer_differences_total",
    "Number of changes that a checking list found and no event had told of",
    ({ differences }) => differences,
  );
  metrics.add({
    name: "binnacle_informer_relists_total",
    help: "Number of full lists after the first, by reason",
    type: "counter",
    read: () =>
      [...informers.all()].flatMap((informer) =>
        Object.entries(informer.relists).map(([reason, value]) => ({
          labels: { ...labelsOf(informer), reason },
          value,
        })),
      ),
  });
}

/** Returns the labels of an informer; `selector` distinguishes informers of one kind. */
function labelsOf({ resource, namespaces, namespaceLabels, labels, fields, portion }: SharedInformer): Labels {
  const { group, version, kind } = resource;
  const selector = [
    ["namespaces", namespaceLabels === undefined && namespaces.length > 0 ? namespaces.join("|") : undefined],
    ["namespaceLabels", namespaceLabels],
    ["labels", labels],
    ["fields", fields],
    ["shardBy", portion],
  ];
  const parts = selector.flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]));
  return { group, version, kind, selector: parts.join(" ") };
}
