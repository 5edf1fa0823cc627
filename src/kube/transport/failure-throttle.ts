/** Throttles the requests of a resource that the server keeps refusing, so that many retries do not become a storm. */
import { abortable } from "../../platform/abortable.ts";
import type { Clock } from "../../platform/clock.ts";

/** Consecutive failures of requests of a resource after which it is throttled. */
const PATIENCE = 3;
/** Milliseconds between two requests of a throttled resource. */
const GAP_MS = 300;
/** Requests that were in flight when the throttling began delay the next ones, but not longer than this. */
const MAX_DEBT_MS = 2_400;

/** A resource whose requests fail. */
class FailingResource {
  readonly #clock: Clock;
  readonly #waiting: (() => void)[] = [];
  #timer: Disposable | undefined;
  inARow = 0;
  #next = 0;
  /** Requests that were let through and have not failed. */
  #granted = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Waits until another request may be sent. @throws the signal's reason. */
  async turn(signal: AbortSignal | undefined): Promise<void> {
    const now = this.#clock.now();
    if (this.#waiting.length === 0 && now >= this.#next) {
      this.#grant(now);
      return;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    this.#arm();
    try {
      await (signal === undefined ? promise : abortable(promise, signal));
    } finally {
      const place = this.#waiting.indexOf(resolve);
      if (place >= 0) this.#waiting.splice(place, 1);
      if (this.#waiting.length === 0) this.#disarm();
    }
  }

  failed(): void {
    this.inARow++;
    if (this.#granted > 0) {
      this.#granted--;
      return;
    }
    const now = this.#clock.now();
    this.#next = Math.min(Math.max(this.#next, now) + GAP_MS, now + MAX_DEBT_MS);
  }

  end(): void {
    this.#disarm();
    for (const go of this.#waiting.splice(0)) go();
  }

  #arm(): void {
    this.#timer ??= this.#clock.setTimeout(() => {
      this.#timer = undefined;
      const now = this.#clock.now();
      if (now >= this.#next) {
        this.#grant(now);
        this.#waiting.shift()?.();
      }
      if (this.#waiting.length > 0) this.#arm();
    }, this.#next - this.#clock.now());
  }

  #grant(now: number): void {
    this.#next = now + GAP_MS;
    this.#granted++;
  }

  #disarm(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
  }
}

/**
 * Counts failures by resource. Each caller backs off by itself; the throttle limits all of them together. While a
 * resource fails, 3 of its requests are sent per second, including those in flight when the throttling began. The first
 * success ends the throttling.
 */
export class FailureThrottle {
  readonly #clock: Clock;
  readonly #failing = new Map<string, FailingResource>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether any resource is failing; if not, `wait` and `succeeded` need not be called. */
  get isActive(): boolean {
    return this.#failing.size > 0;
  }

  /** Waits until a request may be sent. @throws the signal's reason. */
  async wait(path: string, signal: AbortSignal | undefined): Promise<void> {
    const failing = this.#failing.get(resourceOf(path));
    if (failing !== undefined && failing.inARow >= PATIENCE) await failing.turn(signal);
  }

  failed(path: string): void {
    const resource = resourceOf(path);
    let failing = this.#failing.get(resource);
    if (failing === undefined) this.#failing.set(resource, (failing = new FailingResource(this.#clock)));
    failing.failed();
  }

  succeeded(path: string): void {
    const resource = resourceOf(path);
    this.#failing.get(resource)?.end();
    this.#failing.delete(resource);
  }

  /** Ends all waits. */
  close(): void {
    for (const failing of this.#failing.values()) failing.end();
    this.#failing.clear();
  }
}

/** The resource of a path, such as `apps/v1/deployments`, without namespace, object and subresource. */
function resourceOf(path: string): string {
  const [, root, ...rest] = path.split("/");
  const group = root === "apis" ? rest.splice(0, 2).join("/") : rest.splice(0, 1).join("/");
  const resource = rest[0] === "namespaces" && rest.length > 2 ? rest[2] : rest[0];
  return `${group}/${resource}`;
}
