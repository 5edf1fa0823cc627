/** One run of a daemon: the context of the author's code for as long as it runs. */
import { z } from "zod";
import type { AnyObject, Resource, Shape } from "../resource/handle.ts";
import { sensitiveTexts } from "../resource/sensitive.ts";
import type { DaemonContext, Logger, RunEvents } from "./context.ts";
import { KeptSecrets } from "./kept-secrets.ts";
import { KeyRun } from "./key-run.ts";
import { type ControllerEnvironment, daemonOriginOf } from "./run.ts";

/** The parts of a daemon's run. */
export interface DaemonRunOptions {
  readonly daemon: string;
  readonly key: string;
  readonly attempt: number;
  readonly object: AnyObject;
  readonly resource: Resource;
  /** The object in the cache. */
  readonly cached: () => AnyObject | undefined;
  /** The schema of the values that it passes on. @default any value */
  readonly schema: z.ZodType | undefined;
  readonly enqueue: (reason: string | undefined, value: unknown) => void;
}

/**
 * The maximum number of remembered values: a daemon may run for weeks, and must not keep everything that it ever read.
 */
const MOST_SECRETS = 100;
const NO_CAUSES = Object.freeze([]);

export class DaemonRun extends KeyRun implements DaemonContext<Shape> {
  readonly #options: DaemonRunOptions;
  readonly #secrets = new KeptSecrets({ most: MOST_SECRETS });
  #log: Logger | undefined;
  #events: RunEvents | undefined;

  constructor(environment: ControllerEnvironment, options: DaemonRunOptions) {
    const { key, attempt } = options;
    super(environment, { key, attempt, causes: NO_CAUSES });
    this.#options = options;
  }

  override get handOrigin(): string {
    return daemonOriginOf(this.environment.controller, this.item.key);
  }

  override get log(): Logger {
    const { log, controller } = this.environment;
    const { daemon, key } = this.#options;
    return (this.#log ??= log.with({ controller, daemon, key }, (text) => this.clean(text)));
  }

  get events(): RunEvents {
    return (this.#events ??= this.eventsAbout(this.latest));
  }

  get latest(): () => AnyObject {
    return () => {
      const { object, cached } = this.#options;
      const latest = cached();
      return latest !== undefined && latest.metadata.uid === object.metadata.uid ? latest : object;
    };
  }

  get enqueue(): (reason?: string, value?: unknown) => void {
    return (reason, value) => {
      const { daemon, schema, enqueue } = this.#options;
      const parsed = value === undefined ? undefined : schema?.safeParse(value);
      if (parsed?.error !== undefined) {
        throw new TypeError(
          `Cannot hand over the value of daemon '${daemon}', it does not fit its schema: ${this.clean(z.prettifyError(parsed.error))}`,
        );
      }
      if (this.refused === undefined)
        enqueue(reason === undefined ? undefined : this.clean(reason), parsed?.data ?? value);
    };
  }

  override keep(resource: Resource, object: unknown): void {
    const texts = sensitiveTexts(resource);
    if (texts !== undefined && object !== undefined) this.#secrets.add(object, texts);
  }

  override clean(text: string): string {
    const { resource, object } = this.#options;
    if (sensitiveTexts(resource) !== undefined) {
      this.keep(resource, object);
      this.keep(resource, this.latest());
    }
    return this.#secrets.clean(text);
  }
}
