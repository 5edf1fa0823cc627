/** The metrics of the conversion webhook; requests and their latency are counted with those of all webhooks. */
import type { Readable } from "./exposition.ts";
import { NumberFamily } from "./series.ts";

/** Whoever adds families, such as `Metrics`. */
interface Families {
  addFamily(family: Readable): Disposable;
}

export class ConversionMetrics implements Disposable {
  readonly #added: readonly Disposable[];
  readonly #panics;
  readonly #success;
  readonly #failure;

  constructor(metrics: Families) {
    const panics = new NumberFamily(
      { name: "controller_runtime_conversion_webhook_panics_total", help: "Total number of conversion webhook panics" },
      "counter",
    );
    const reviews = new NumberFamily(
      { name: "binnacle_conversion_reviews_total", help: "Total number of answered ConversionReviews, by result" },
      "counter",
    );
    const objects = new NumberFamily(
      { name: "binnacle_conversion_objects_total", help: "Total number of converted objects" },
      "counter",
    );
    this.#panics = panics.series({});
    this.#success = { reviews: reviews.series({ result: "Success" }), objects: objects.series({}) };
    this.#failure = reviews.series({ result: "Failure" });
    this.#added = [panics, reviews, objects].map((family) => metrics.addFamily(family));
  }

  /** All objects of a review. */
  converted(objects: number): void {
    this.#success.reviews.value++;
    this.#success.objects.value += objects;
  }

  /** A review in which one object could not be converted. */
  failed({ panicked }: { /** A function of the author's threw. */ readonly panicked: boolean }): void {
    this.#failure.value++;
    if (panicked) this.#panics.value++;
  }

  [Symbol.dispose](): void {
    for (const added of this.#added) added[Symbol.dispose]();
  }
}
