/** The metrics of the conversion webhook; its requests and their latency count with those of all webhooks. */
import { counter, type NumberFamily } from "./series.ts";

export class ConversionFamilies {
  readonly panics: NumberFamily = counter(
    "controller_runtime_conversion_webhook_panics_total",
    "Total number of conversion webhook panics",
  );
  readonly reviews: NumberFamily = counter(
    "binnacle_conversion_reviews_total",
    "Total number of answered ConversionReviews, by result",
  );
  readonly objects: NumberFamily = counter("binnacle_conversion_objects_total", "Total number of converted objects");
  readonly families: readonly NumberFamily[] = [this.panics, this.reviews, this.objects];
  readonly #panics = this.panics.series({});
  readonly #successes = this.reviews.series({ result: "Success" });
  readonly #failures = this.reviews.series({ result: "Failure" });
  readonly #objects = this.objects.series({});

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
