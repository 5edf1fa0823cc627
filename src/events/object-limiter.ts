/** Limits the Events about one object, so that a controller in an endless loop does not fill etcd. */
import type { Clock } from "../platform/clock.ts";

const BURST = 25;
/** Milliseconds until one more Event is allowed. */
const REFILL = 300_000;
const MAX_OBJECTS = 4096;

interface Bucket {
  tokens: number;
  at: number;
}

/** A token bucket for each reporter and object: 25 at once, then one every 5 minutes, like client-go's spam filter. */
export class ObjectLimiter {
  readonly #clock: Clock;
  /** The least recently used first. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes a token. @returns false when the object has used up its Events. */
  take(objectKey: string): boolean {
    const now = this.#clock.now();
    const bucket = this.#buckets.get(objectKey) ?? { tokens: BURST, at: now };
    bucket.tokens = Math.min(BURST, bucket.tokens + (now - bucket.at) / REFILL);
    bucket.at = now;
    this.#buckets.delete(objectKey);
    this.#buckets.set(objectKey, bucket);
    if (this.#buckets.size > MAX_OBJECTS) this.#buckets.delete(this.#buckets.keys().next().value!);
    if (bucket.tokens < 1) return false;
    bucket.tokens--;
    return true;
  }
}
