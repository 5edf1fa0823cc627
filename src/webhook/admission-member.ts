/** One definition of a path: calls the author's code, and tracks its active calls. */
import { deepFreeze } from "../cache/freeze.ts";
import type { AdmissionResult, WebhookResults } from "../observe/webhook-metrics.ts";
import type { Clock } from "../platform/clock.ts";
import { copyOf } from "../resource/edit.ts";
import type { AdmissionRequest, AdmissionStatus } from "./admission-review.ts";
import { AdmissionRun, type AdmissionScope, type Collected } from "./admission-run.ts";
import { operationsOf, type WebhookType } from "./declared-webhook.ts";
import { patchBetween, type PatchOperation } from "./json-patch.ts";
import { isDenied } from "./denied.ts";
import { problemStatus, thrownStatus } from "./refusal.ts";

export interface MemberOptions {
  readonly scope: AdmissionScope;
  /** Calls the author's code in the context of its module. */
  readonly invoke: <T>(call: () => T) => T;
  readonly clock: Clock;
  /** Whether to freeze the objects that `validate` sees. */
  readonly freeze: boolean;
  /** Whether it is registered with `failurePolicy: Ignore`. @default false */
  readonly ignoresFailures?: boolean | undefined;
  readonly results: Pick<WebhookResults, "count" | "expect">;
  /** Called when the author's code threw, after that was logged. */
  readonly onPanic: () => void;
}

/** The decision of one definition. */
export interface Decision {
  /** The rejection; `undefined` when the request is allowed. */
  readonly refused: AdmissionStatus | undefined;
  /** Whether the webhook itself failed, so that the `failurePolicy` decides. @default false */
  readonly isFailure?: boolean | undefined;
  /** The object after `default`. */
  readonly object: unknown;
  readonly patch: readonly PatchOperation[];
}

export interface Asking {
  readonly collected: Collected;
  /** A time of the clock in milliseconds. */
  readonly deadline: number;
}

const GATEWAY_TIMEOUT = 504;
const UNAVAILABLE = 503;
const INTERNAL = 500;
const LATE: unique symbol = Symbol("late");

export class AdmissionMember {
  readonly type: WebhookType;
  readonly #options: MemberOptions;
  readonly #operations: ReadonlySet<string>;
  readonly #running = new Set<AdmissionRun>();
  /** The number of requests that may still reach this definition, after their bodies and other definitions. */
  #requests = 0;
  #leaving: string | undefined;
  #idle: PromiseWithResolvers<void> | undefined;

  constructor(type: WebhookType, options: MemberOptions) {
    const { webhook } = options.scope;
    this.type = type;
    this.#options = options;
    const ofRules = webhook.rules?.flatMap(({ operations }) => operations ?? []) ?? [];
    this.#operations = new Set<string>([...operationsOf(webhook, type), ...ofRules]);
    for (const operation of this.#operations) if (operation !== "*") options.results.expect(operation);
  }

  /** Whether the definition handles this operation; others that share its path may be registered for other ones. */
  handles(operation: string): boolean {
    if (this.type === "mutating" && operation === "DELETE") return false;
    return this.#operations.has(operation) || this.#operations.has("*");
  }

  /** Whether the API server continues without the webhook when it fails. */
  get ignoresFailures(): boolean {
    return this.#options.ignoresFailures === true;
  }

  /** Calls the author's code; never rejects. */
  async ask(request: AdmissionRequest, object: unknown, { collected, deadline }: Asking): Promise<Decision> {
    if (this.#leaving !== undefined) return failure(problemStatus(UNAVAILABLE, this.#leaving));
    const { scope, results, freeze } = this.#options;
    const run = new AdmissionRun(scope, request, collected);
    this.#running.add(run);
    let result: AdmissionResult = "error";
    try {
      const isMutating = this.type === "mutating";
      const subject = isMutating ? copyOf(object) : freeze ? deepFreeze(object) : object;
      const outcome = this.#call(subject, run);
      const returned = isThenable(outcome) ? await this.#until(deadline, { run, outcome }) : outcome;
      if (returned === LATE) return failure(this.#late(run));
      const where = scope.module === undefined ? "" : ` of the module ${scope.module}`;
      if (isMutating && returned !== subject && isObject(returned)) {
        throw new Error(`\`default\`${where} returned an object, which is ignored: change the draft that it gets`);
      }
      if (!isMutating && mayBeDecision(returned)) {
        throw new Error(
          `\`validate\`${where} returned ${excerpt(returned)}, which decides nothing: throw Denied to refuse the request, and return ` +
            "nothing to allow it",
        );
      }
      const patch = isMutating ? patchBetween(object, subject) : [];
      result = "allowed";
      return { refused: undefined, object: subject, patch };
    } catch (error) {
      const status = thrownStatus(error, request);
      if (status !== undefined) {
        if (isDenied(error)) result = "denied";
        return refusal(status);
      }
      run.log.error("A webhook threw", { error });
      this.#options.onPanic();
      return refusal(problemStatus(INTERNAL, run.clean(`panic: ${messageOf(error)} [recovered]`)));
    } finally {
      results.count(request.operation, result);
      run.close("the request has been answered");
      this.#running.delete(run);
    }
  }

  /** Announces a request that may call this definition, until {@link answered} is called. */
  requested(): void {
    this.#requests++;
  }

  answered(): void {
    if (--this.#requests === 0) this.#idle?.resolve();
  }

  /** Resolves when no active request may call this definition. */
  async idle(): Promise<void> {
    if (this.#requests > 0) await (this.#idle ??= Promise.withResolvers()).promise;
  }

  /** Ends the definition. Active calls end now: their signals fire, and their requests are rejected. */
  leave(reason: string): void {
    this.#leaving = reason;
    for (const run of this.#running) run.close(reason);
  }

  #call(subject: unknown, run: AdmissionRun): unknown {
    const { scope, invoke } = this.#options;
    const { webhook } = scope;
    if (this.type === "mutating") return invoke(() => webhook.default!(subject as never, run as never));
    return invoke(() => webhook.validate!(subject as never, run as never));
  }

  async #until(
    deadline: number,
    { run, outcome }: { readonly run: AdmissionRun; readonly outcome: PromiseLike<unknown> },
  ): Promise<unknown> {
    const { clock } = this.#options;
    const late = Promise.withResolvers<typeof LATE>();
    const end = (): void => late.resolve(LATE);
    using _timer = clock.setTimeout(end, deadline - clock.now());
    run.onClose(end);
    const settled = Promise.resolve(outcome);
    settled.catch(() => {}); // a failure after the response
    return await Promise.race([settled, late.promise]);
  }

  #late(run: AdmissionRun): AdmissionStatus {
    if (this.#leaving !== undefined) return problemStatus(UNAVAILABLE, this.#leaving);
    const message = `webhook '${this.#options.scope.name}' did not answer in time`;
    run.log.warn("A webhook did not answer in time");
    return { ...problemStatus(GATEWAY_TIMEOUT, message), reason: "Timeout" };
  }
}

function failure(refused: AdmissionStatus): Decision {
  return { ...refusal(refused), isFailure: true };
}

function refusal(refused: AdmissionStatus): Decision {
  return { refused, object: undefined, patch: [] };
}

/** Returns the message of whatever was thrown, which may have no text form. */
function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? error.message : String(error);
  } catch {
    return "a value that is no error";
  }
}

/** Whether a value is an object of the API, and not an accidental result of an arrow function. */
function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && "kind" in value && "metadata" in value;
}

function excerpt(value: unknown): string {
  try {
    return (
      value instanceof Error ? `${value.name}: ${value.message}` : (JSON.stringify(value) ?? String(value))
    ).slice(0, 100);
  } catch {
    return `a value of the type ${typeof value}`;
  }
}

/** Whether an author may mean a value as a decision; an arrow function with `push` returns a number. */
function mayBeDecision(returned: unknown): boolean {
  return returned !== undefined && typeof returned !== "number";
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}
