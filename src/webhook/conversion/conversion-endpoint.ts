/** The conversion webhook: one path for the objects of all kinds with several versions. */
import type { ConversionMetrics } from "../../observe/conversion-metrics.ts";
import type { Log } from "../../observe/log.ts";
import { ConversionError } from "./convert-object.ts";
import { answerReview, type KindLookup, MalformedReview, readReview } from "./conversion-review.ts";

/** Where the API server finds it, as in kubebuilder's projects. */
export const CONVERSION_PATH = "/convert";

/** The API server sends whole lists, and says nowhere how large they may be. */
const MOST_BYTES = 256 * 1024 * 1024;

export interface ConversionEndpointOptions {
  readonly find: KindLookup;
  readonly metrics: Pick<ConversionMetrics, "converted" | "failed">;
  readonly log: Log;
}

export interface ConversionAnswer {
  /** Not 200 for what is no ConversionReview; whether a conversion failed stands in the answer. */
  readonly status: number;
  readonly body: string;
  /** The body is JSON already. */
  readonly isJson: boolean;
}

export class ConversionEndpoint {
  readonly path: string = CONVERSION_PATH;
  readonly mostBytes: number = MOST_BYTES;
  readonly #options: ConversionEndpointOptions;

  constructor(options: ConversionEndpointOptions) {
    this.#options = options;
  }

  /** Answers a review that was read from JSON. Never throws. */
  review(body: unknown): ConversionAnswer {
    const { find, metrics, log } = this.#options;
    let review: ReturnType<typeof readReview>;
    try {
      review = readReview(body);
    } catch (error) {
      if (!(error instanceof MalformedReview)) throw error;
      return this.malformed({ code: 400, message: error.message });
    }
    const { json, converted, failure } = answerReview(review, find);
    if (failure === undefined) metrics.converted(converted);
    else {
      const { error, clean, ...fields } = failure;
      metrics.failed({ panicked: !(error instanceof ConversionError) });
      log.with({}, clean).error("Cannot convert an object", { ...fields, error });
    }
    return { status: 200, body: json, isJson: true };
  }

  /** The answer to a request from which no review could be read. */
  malformed({ code, message }: { readonly code: number; readonly message: string }): ConversionAnswer {
    this.#options.log.warn("Cannot read a request to the conversion webhook", { reason: message });
    return { status: code, body: `Cannot read the ConversionReview: ${message}\n`, isJson: false };
  }
}
