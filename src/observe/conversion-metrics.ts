/** The metrics of the conversion webhook; its requests and their latency count with those of all webhooks. */
import { type Series, NumberFamily } from "./series.ts";

export class ConversionFamilies {
  readonly panics: NumberFamily = new NumberFamily(
    { name: "controller_runtime_conversion_webhook_panics_total", help: "Total number of conversion webhook panics" },
    "counter",
  );
  readonly reviews: NumberFamily = new NumberFamily(
    { name: "binnacle_conversion_reviews_total", help: "Total number of answered ConversionReviews, by result" },
    "counter",
  );
  readonly objects: NumberFamily = new NumberFamily(
    { name: "binnacle_conversion_objects_total", help: "Total number of converted objects" },
    "counter",
  );
  readonly families: readonly NumberFamily[] = [this.panics, this.reviews, this.objects];
  readonly #panics: Series = this.panics.series({});
  readonly #successes: Series = this.reviews.series({ result: "Success" });
  readonly #failures: Series = this.reviews.series({ result: "Failure" });
  readonly #objects: Series = this.objects.series({});

  /** Counts a review whose objects were all converted. */
  converted(objects: number): void {
    this.#successes.value++;
    this.#objects.value += objects;
  }

  /** Counts a review that failed at one of its objects. */
  failed({ panicked }: { /** A function of the author's threw. */ readonly panicked: boolean }): void {
    this.#failures.value++;
    if (panicked) this.#panics.value++;
  }
}
