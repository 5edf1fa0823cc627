/** The conversion webhook: one path for the objects of all kinds with several versions. */
import type { ConversionFamilies } from "../../observe/conversion-metrics.ts";
import type { Log } from "../../observe/log.ts";
import { Seldom } from "../../platform/seldom.ts";
import type { Clock } from "../../platform/clock.ts";
import type { RequestProblem, ReviewAnswer, ReviewEndpoint } from "../review-endpoint.ts";
import { ConversionError } from "./convert-object.ts";
import { parseExactly } from "./exact-numbers.ts";
import { RecentObjects } from "./recent-objects.ts";
import {
  answerReview,
  type ConversionReview,
  type KindLookup,
  MalformedReview,
  parseReview,
} from "./conversion-review.ts";

/** The path under which the API server finds it, as in kubebuilder's projects. */
export const CONVERSION_PATH = "/convert";

/** The limit for a body. The API server sends whole lists, and does not limit their size. */
export const MOST_CONVERSION_BYTES: number = 64 * 1024 * 1024;

export interface ConversionEndpointOptions {
  readonly find: KindLookup;
  readonly metrics: Pick<ConversionFamilies, "converted" | "failed">;
  readonly log: Log;
  /** @default systemClock */
  readonly clock?: Clock | undefined;
}

export class ConversionEndpoint implements ReviewEndpoint {
  readonly path: string = CONVERSION_PATH;
  readonly mostBytes: number = MOST_CONVERSION_BYTES;
  readonly #options: ConversionEndpointOptions;
  readonly #remembered = new RecentObjects();
  readonly #malformed: Seldom;

  constructor(options: ConversionEndpointOptions) {
    this.#options = options;
    this.#malformed = new Seldom(options.clock);
  }

  readonly parse = (text: string): unknown => parseExactly(text);

  /** Handles a review; the status is 400 for anything else. The response says whether a conversion failed. */
  review(body: unknown): ReviewAnswer {
    const { find, metrics, log } = this.#options;
    let review: ConversionReview;
    try {
      review = parseReview(body);
    } catch (error) {
      if (!(error instanceof MalformedReview)) throw error;
      return this.malformed({ code: 400, message: error.message });
    }
    const { json, converted, failure } = answerReview(review, { find, remembered: this.#remembered });
    if (failure === undefined) metrics.converted(converted);
    else {
      const { error, clean, ...fields } = failure;
      metrics.failed({ panicked: !(error instanceof ConversionError) });
      log.with({}, clean).error("Cannot convert an object", { ...fields, error });
    }
    return { status: 200, body: json, isJson: true };
  }

  malformed({ code, message }: RequestProblem): ReviewAnswer {
    // Anybody who reaches the listener can send malformed requests, so few are logged; the metrics count all of them.
    const others = this.#malformed.next(code);
    if (others !== undefined) {
      const about = { reason: message, ...(others > 0 && { othersNotLogged: others }) };
      this.#options.log.warn("Cannot read a request to the conversion webhook", about);
    }
    return { status: code, body: `Cannot read the ConversionReview: ${message}\n` };
  }
}
