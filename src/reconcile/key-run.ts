/** One run of one key: the context of a key controller's `reconcile`, and the base of an object's run. */
import type { RequestContext } from "../client/client-scope.ts";
import type { Client } from "../client/client.ts";
import { KubeClient } from "../client/kube-client.ts";
import type { RunRecord } from "../history/run-record.ts";
import type { WriteGate } from "../kube/transport/write-gate.ts";
import { withoutSecrets } from "../observe/known-secrets.ts";
import { sleep } from "../platform/clock.ts";
import { parseDuration } from "../resource/duration.ts";
import type { AnyObject, Resource } from "../resource/handle.ts";
import { type Key, parseKey } from "../resource/meta.ts";
import { sensitiveTexts } from "../resource/sensitive.ts";
import type { Cause, Logger, RunContext, RunEvents } from "./context.ts";
import { KeptSecrets } from "./kept-secrets.ts";
import { RecordedLog } from "./recorded-log.ts";
import { type ControllerEnvironment, handOriginOf, originOf, type RunItem } from "./run.ts";
import { noServices, type UseService } from "./services.ts";

const NO_METRICS = Object.freeze({});

/** The part of a run that needs no object. It is its own write gate, which closes when the run ends or is cancelled. */
export class KeyRun implements RunContext, RequestContext {
  readonly environment: ControllerEnvironment;
  readonly item: RunItem;
  /** The workers set it before the run begins. @default nothing is recorded */
  record: RunRecord | undefined = undefined;
  #closed: string | undefined;
  /** Whether the run has finished by itself, which fires no signal. */
  #isFinished = false;
  /** The controller of the author's signal. */
  #abort: AbortController | undefined;
  /** Aborts when the gate closes; until then requests of the run may complete. */
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

  /** The origin of the manual writes of the author's code. */
  get handOrigin(): string {
    return handOriginOf(this.environment.controller, this.item.key);
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
    const reason = (this.#isFinished ? undefined : this.#closed) ?? this.#leaving;
    if (reason !== undefined) this.#abort.abort(new Error(reason));
    void this.#lastSignal; // an author who uses the signal also wants requests to end with the run
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
      // Reading it lets the gate notice that the process was stopped meanwhile and no longer leads.
      const { refused } = this;
      if (refused !== undefined) throw new Error(refused);
    };
  }

  get mustFinish(): RunContext["mustFinish"] {
    return async (work) => work(this.#lastSignal);
  }

  /** Whether an error only says that the author's signal has fired because the run must end soon. */
  isCutShort(error: unknown): boolean {
    return this.#leaving !== undefined && this.#abort !== undefined && isAbortOf(this.#abort.signal, error);
  }

  get client(): Client {
    return (this.#client ??= new KubeClient(this.environment.core, new AuthorContext(this)));
  }

  get metrics(): object {
    return this.environment.metrics ?? NO_METRICS;
  }

  get service(): UseService {
    return this.environment.services ?? noServices;
  }

  get log(): Logger {
    if (this.#log !== undefined) return this.#log;
    const { log, controller } = this.environment;
    const clean = (text: string): string => this.clean(text);
    const { record } = this;
    const { trace } = record ?? {};
    const traced = trace && { trace_id: trace.trace, span_id: trace.span };
    const own = log.with({ controller, key: this.item.key, ...traced }, clean);
    return (this.#log = record === undefined ? own : new RecordedLog(own, { log, record, clean }));
  }

  keep(resource: Resource, object: unknown): void {
    const texts = sensitiveTexts(resource);
    if (texts === undefined || object === undefined) return;
    (this.#secrets ??= new KeptSecrets()).add(object, texts);
    this.record?.sees(resource, object);
  }

  /** Removes from a text the sensitive values that this run has read or written. */
  clean(text: string): string {
    return this.#secrets === undefined ? withoutSecrets(text) : this.#secrets.clean(text);
  }

  /** Asks the run to end soon: its signal fires, but it may still write. */
  leave(reason: string): void {
    this.#leaving ??= reason;
    this.#abort?.abort(new Error(reason));
  }

  /** Ends the run: its signal fires, and its writes are refused from now on. */
  close(reason: string): void {
    if (this.#closed !== undefined) return;
    this.#closed = reason;
    this.#abort?.abort(new Error(reason));
    this.#cutOff?.abort(new Error(reason));
  }

  /** Called when the run has finished by itself: its signal does not fire, and its writes are refused from now on. */
  finish(reason: string): void {
    if (this.#closed !== undefined) return;
    this.#closed = reason;
    this.#isFinished = true;
    this.#cutOff?.abort(new Error(reason));
  }

  /** Records Events without sensitive values about an object in its state at the time of the call. */
  protected eventsAbout(regarding: () => AnyObject): RunEvents {
    const record = (type: "Normal" | "Warning", reason: string, message: unknown): void => {
      const event = { type, reason, message: this.clean(String(message)) };
      const about = regarding();
      this.environment.events.record(about, event);
      this.record?.event(event, about);
    };
    return {
      normal: (reason, message) => record("Normal", reason, message),
      warning: (reason, message) => record("Warning", reason, message),
    };
  }

  get #lastSignal(): AbortSignal {
    this.#cutOff ??= new AbortController();
    if (this.#closed !== undefined) this.#cutOff.abort(new Error(this.#closed));
    return this.#cutOff.signal;
  }
}

/** Whether an error is the abort of a signal. */
function isAbortOf(signal: AbortSignal, error: unknown): boolean {
  return error === signal.reason || (error instanceof Error && error.name === "AbortError");
}

/** The context of the author's client. Its writes may make the key run again; those of the runtime do not. */
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

  get record(): RunRecord | undefined {
    return this.#run.record;
  }

  get origin(): string {
    return (this.#origin ??= this.#run.handOrigin);
  }
}
