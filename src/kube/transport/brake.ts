/** Slows down requests of a resource that the server keeps refusing, so that many who retry are no storm. */
import { abortable } from "../../platform/abortable.ts";
import type { Clock } from "../../platform/clock.ts";

/** Failures in a row, of whatever request of the resource, after which it is braked. */
const PATIENCE = 3;
/** Between two requests of a braked resource. */
const GAP_MS = 300;
/** What was under way when it began is paid for by waiting, but not longer than this. */
const MAX_DEBT_MS = 2_400;

/** A resource that fails. */
class Refusals {
  readonly #clock: Clock;
  readonly #waiting: (() => void)[] = [];
  #timer: Disposable | undefined;
  inARow = 0;
  #next = 0;
  /** Requests that had their turn and have not failed. */
  #granted = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Waits for a turn. @throws the signal's reason. */
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
 * Counts failures by resource. Each caller backs off by itself; this bounds what all of them do together: while a
 * resource fails, 3 requests of it go out each second, those counted that were under way when it began, and its first
 * success lets all others go.
 */
export class Brake {
  readonly #clock: Clock;
  readonly #refused = new Map<string, Refusals>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether any resource is failing: nothing needs to be asked or told otherwise. */
  get isOn(): boolean {
    return this.#refused.size > 0;
  }

  /** Waits until a request may go. @throws the signal's reason. */
  async enter(path: string, signal: AbortSignal | undefined): Promise<void> {
    const refused = this.#refused.get(resourceOf(path));
    if (refused !== undefined && refused.inARow >= PATIENCE) await refused.turn(signal);
  }

  failed(path: string): void {
    const resource = resourceOf(path);
    let refused = this.#refused.get(resource);
    if (refused === undefined) this.#refused.set(resource, (refused = new Refusals(this.#clock)));
    refused.failed();
  }

  succeeded(path: string): void {
    const resource = resourceOf(path);
    this.#refused.get(resource)?.end();
    this.#refused.delete(resource);
  }

  /** Lets everybody go. */
  close(): void {
    for (const refused of this.#refused.values()) refused.end();
    this.#refused.clear();
  }
}

/** Such as `apps/v1/deployments`, whatever the namespace, object and subresource of the path. */
function resourceOf(path: string): string {
  const [, root, ...rest] = path.split("/");
  const group = root === "apis" ? rest.splice(0, 2).join("/") : rest.splice(0, 1).join("/");
  const resource = rest[0] === "namespaces" && rest.length > 2 ? rest[2] : rest[0];
  return `${group}/${resource}`;
}
