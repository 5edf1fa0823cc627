/** The state of the shared informers, read when the metrics are. */
import type { InformerReading } from "./readings.ts";
import { ReadFamily, type Labels } from "./series.ts";

export class InformerFamilies {
  read: () => Iterable<InformerReading> = () => [];

  readonly families: readonly ReadFamily[] = [
    this.#gauge("binnacle_informer_objects", "Number of objects that an informer holds", (one) => one.objects),
    this.#gauge("binnacle_informer_bytes", "Estimated size of the objects that an informer holds", (one) => one.bytes),
    this.#gauge(
      "binnacle_informer_last_event_age_seconds",
      "Seconds since an informer's last event or bookmark",
      (one) => one.lastEventAgeSeconds,
    ),
    this.#gauge("binnacle_informer_synced", "1 when an informer holds a complete list", (one) => Number(one.synced)),
    new ReadFamily(
      {
        name: "binnacle_informer_differences_total",
        help: "Number of changes that a checking list found and no event had told of",
        type: "counter",
      },
      () => [...this.read()].map((one) => ({ labels: labelsOf(one), value: one.differences })),
    ),
    new ReadFamily(
      {
        name: "binnacle_informer_relists_total",
        help: "Number of full lists after the first, by reason",
        type: "counter",
      },
      () =>
        [...this.read()].flatMap((one) =>
          Object.entries(one.relists).map(([reason, value]) => ({ labels: { ...labelsOf(one), reason }, value })),
        ),
    ),
  ];

  #gauge(name: string, help: string, value: (one: InformerReading) => number | undefined): ReadFamily {
    return new ReadFamily({ name, help }, () =>
      [...this.read()].flatMap((one) => {
        const known = value(one);
        return known === undefined ? [] : [{ labels: labelsOf(one), value: known }];
      }),
    );
  }
}

function labelsOf({ group, version, kind, selector }: InformerReading): Labels {
  return { group, version, kind, selector };
}
