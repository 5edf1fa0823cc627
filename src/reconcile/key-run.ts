/** One run of one key: what `reconcile` of a key controller gets as its context, and an object's run builds on. */
import type { Client } from "../client/client.ts";
import { KubeClient } from "../client/kube-client.ts";
import type { RequestContext } from "../client/client-scope.ts";
import type { WriteGate } from "../client/write-gate.ts";
import { sleep } from "../platform/clock.ts";
import { parseDuration } from "../resource/duration.ts";
import type { Resource } from "../resource/handle.ts";
import { type Key, parseKey } from "../resource/meta.ts";
import { sensitiveTexts } from "../resource/sensitive.ts";
import type { Cause, Logger, RunContext } from "./context.ts";
import { KeptSecrets } from "./kept-secrets.ts";
import { handOriginOf, originOf, type RunItem, type ControllerEnvironment } from "./run.ts";

/** The part of a run that needs no object; it is its own gate: closed when the run is over or cancelled. */
export class KeyRun implements RunContext, RequestContext {
  readonly environment: ControllerEnvironment;
  readonly item: RunItem;
  #closed: string | undefined;
  /** Behind the author's signal. */
  #abort: AbortController | undefined;
  /** Fires with the gate: what the run sends may come to its end until then. */
  #cutOff: AbortController | undefined;
  #leaving: string | undefined;
  #client: Client | undefined;
  #log: Logger | undefined;
  #secrets: KeptSecrets | undefined;
  #origin: string | undefined;

  constructor(environment: ControllerEnvironment, item: RunItem) {
    this.environment = environment;
    this.item = item;
  }

  get gate(): WriteGate {
    return this;
  }

  get refused(): string | undefined {
    return this.environment.gate.refused ?? this.#closed;
  }

  get origin(): string {
    return (this.#origin ??= originOf(this.environment.controller, this.item.key));
  }

  get key(): Key {
    return parseKey(this.item.key);
  }

  get attempt(): number {
    return this.item.attempt;
  }

  get causes(): readonly Cause[] {
    return this.item.causes;
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    const reason = this.#closed ?? this.#leaving;
    if (reason !== undefined) this.#abort.abort(new Error(reason));
    void this.#lastSignal; // an author who heeds the signal does not want requests to outlive the run either
    return this.#abort.signal;
  }

  get requestSignal(): AbortSignal | undefined {
    return this.#cutOff?.signal;
  }

  get now(): () => number {
    return () => this.environment.clock.now();
  }

  get sleep(): RunContext["sleep"] {
    return async (duration, { signal = this.signal } = {}) => {
      await sleep(parseDuration(duration, "sleep"), { clock: this.environment.clock, signal });
      // Asked here, the gate finds out that the process was stopped meanwhile and leads no more.
      const { refused } = this;
      if (refused !== undefined) throw new Error(refused);
    };
  }

  get mustFinish(): RunContext["mustFinish"] {
    return async (work) => work(this.#lastSignal);
  }

  /** The author's signal has fired because the run is to end soon, and what it threw says no more than that. */
  isCutShort(error: unknown): boolean {
    return this.#leaving !== undefined && this.#abort !== undefined && isAbortOf(this.#abort.signal, error);
  }

  get client(): Client {
    return (this.#client ??= new KubeClient(this.environment.core, new AuthorContext(this)));
  }

  get log(): Logger {
    const { log, controller } = this.environment;
    return (this.#log ??= log.with({ controller, key: this.item.key }, (text) => this.clean(text)));
  }

  keep(resource: Resource, object: unknown): void {
    const texts = sensitiveTexts(resource);
    if (texts !== undefined && object !== undefined) (this.#secrets ??= new KeptSecrets()).add(object, texts);
  }

  /** A text without any sensitive value that this run has read or written. */
  clean(text: string): string {
    return this.#secrets === undefined ? text : this.#secrets.clean(text);
  }

  /** The run is to end soon: its signal fires, and it may still write. */
  leave(reason: string): void {
    this.#leaving ??= reason;
    this.#abort?.abort(new Error(reason));
  }

  /** From now on the run's signal has fired and its writes are refused. */
  close(reason: string): void {
    if (this.#closed !== undefined) return;
    this.#closed = reason;
    this.#abort?.abort(new Error(reason));
    this.#cutOff?.abort(new Error(reason));
  }

  get #lastSignal(): AbortSignal {
    this.#cutOff ??= new AbortController();
    if (this.#closed !== undefined) this.#cutOff.abort(new Error(this.#closed));
    return this.#cutOff.signal;
  }
}

/** Whether an error is what a signal gives to those who wait with it. */
function isAbortOf(signal: AbortSignal, error: unknown): boolean {
  return error === signal.reason || (error instanceof Error && error.name === "AbortError");
}

/** The same run for the author's client, whose writes count as news where those of the runtime do not. */
class AuthorContext implements RequestContext {
  readonly #run: KeyRun;
  #origin: string | undefined;

  constructor(run: KeyRun) {
    this.#run = run;
  }

  get gate(): WriteGate {
    return this.#run;
  }

  keep(resource: Resource, object: unknown): void {
    this.#run.keep(resource, object);
  }

  get requestSignal(): AbortSignal | undefined {
    return this.#run.requestSignal;
  }

  get origin(): string {
    return (this.#origin ??= handOriginOf(this.#run.environment.controller, this.#run.item.key));
  }
}
