/** One run of one key: what `reconcile` of a key controller gets as its context, and an object's run builds on. */
import type { Client } from "../client/client.ts";
import { KubeClient } from "../client/kube-client.ts";
import type { RunScope } from "../client/scope.ts";
import type { WriteGate } from "../client/write-gate.ts";
import { type Key, parseKey } from "../resource/meta.ts";
import type { Cause, Logger, RunContext } from "./context.ts";
import { handOriginOf, originOf, type RunCause, type RunEnvironment } from "./run.ts";

/** The part of a run that needs no object; it is its own gate: closed when the run is over or cancelled. */
export class KeyRun implements RunContext, RunScope {
  readonly environment: RunEnvironment;
  readonly cause: RunCause;
  #closed: string | undefined;
  #abort: AbortController | undefined;
  #client: Client | undefined;
  #log: Logger | undefined;
  #origin: string | undefined;

  constructor(environment: RunEnvironment, cause: RunCause) {
    this.environment = environment;
    this.cause = cause;
  }

  get gate(): WriteGate {
    return this;
  }

  get refused(): string | undefined {
    return this.environment.gate.refused ?? this.#closed;
  }

  get origin(): string {
    return (this.#origin ??= originOf(this.environment.controller, this.cause.key));
  }

  get key(): Key {
    return parseKey(this.cause.key);
  }

  get attempt(): number {
    return this.cause.attempt;
  }

  get causes(): readonly Cause[] {
    return this.cause.causes;
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#closed !== undefined) this.#abort.abort(new Error(this.#closed));
    return this.#abort.signal;
  }

  get requestSignal(): AbortSignal | undefined {
    return this.#abort?.signal;
  }

  get client(): Client {
    return (this.#client ??= new KubeClient(this.environment.parts, new ByHand(this)));
  }

  get log(): Logger {
    return (this.#log ??= this.environment.log.with({ controller: this.environment.controller, key: this.cause.key }));
  }

  /** From now on the run's signal has fired and its writes are refused. */
  close(reason: string): void {
    if (this.#closed !== undefined) return;
    this.#closed = reason;
    this.#abort?.abort(new Error(reason));
  }
}

/** The same run for the author's client, whose writes count as news where those of the runtime do not. */
class ByHand implements RunScope {
  readonly #run: KeyRun;
  #origin: string | undefined;

  constructor(run: KeyRun) {
    this.#run = run;
  }

  get gate(): WriteGate {
    return this.#run;
  }

  get requestSignal(): AbortSignal | undefined {
    return this.#run.requestSignal;
  }

  get origin(): string {
    return (this.#origin ??= handOriginOf(this.#run.environment.controller, this.#run.cause.key));
  }
}
