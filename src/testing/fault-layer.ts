/** Injects faults between the transport and the server, in the same way for both kinds of servers. */
import { abortable } from "../platform/abortable.ts";
import { sleep } from "../platform/clock.ts";
import type { ActiveFault, FaultOptions, Faults, RefuseOptions } from "./faults.ts";
import { pluralOf } from "../resource/names.ts";
import { Lease } from "../resource/builtin/index.ts";
import { connectionLost, OpenWatch } from "./open-watch.ts";
import type { RunningModule } from "./running-module.ts";
import { type RequestTarget, targetOf, type RequestVerb } from "./request-target.ts";

type Carry = (request: Request) => Promise<Response>;

export interface FaultLayerOptions {
  /** Forwards a request. */
  readonly answer: Carry;
  readonly onChunk: (chunk: Uint8Array) => void;
  readonly onStruck: (target: RequestTarget, effect: Effect["kind"]) => void;
}

const WRITES: readonly RequestVerb[] = ["create", "update", "patch", "delete", "deletecollection"];
const READS: readonly RequestVerb[] = ["get", "list"];

const REASONS: Readonly<Record<number, string>> = {
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  409: "Conflict",
  410: "Expired",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

export class FaultLayer implements Faults {
  readonly #options: FaultLayerOptions;
  readonly #rules = new Set<FaultRule>();
  readonly #watches = new Set<OpenWatch>();
  /** The active requests, each with a function that cuts its connection. */
  readonly #requests = new Set<{ readonly target: RequestTarget; readonly cut: (error: Error) => void }>();

  constructor(options: FaultLayerOptions) {
    this.#options = options;
  }

  /**
   * Responds like the server, or as a fault demands.
   *
   * @param from the sender of the request, and the function that forwards it. @default no module, and the one of the
   * options
   */
  async answer(
    request: Request,
    from: { carry?: Carry | undefined; module?: RunningModule | undefined } = {},
  ): Promise<Response> {
    const { carry = this.#options.answer, module } = from;
    const target = { ...targetOf(request), module };
    if (this.#struck("unreachable", target)) throw connectionLost("ECONNREFUSED");
    const { promise: cut, reject } = Promise.withResolvers<never>();
    cut.catch(() => {});
    const underWay = { target, cut: reject };
    this.#requests.add(underWay);
    try {
      return await Promise.race([this.#carry(request, target, carry), cut]);
    } finally {
      this.#requests.delete(underWay);
    }
  }

  cutWatches(options: Pick<FaultOptions, "module" | "kind" | "on"> = {}): void {
    for (const watch of this.#watches) if (selects(options, watch.target)) watch.cut();
  }

  drop(options: FaultOptions = {}): ActiveFault {
    return this.#add({ times: 1, verbs: WRITES, ...options, effect: { kind: "lose" } });
  }

  disconnect({ module }: Pick<FaultOptions, "module"> = {}): ActiveFault {
    const rule = this.#add({ module, everything: true, effect: { kind: "unreachable" } });
    for (const watch of this.#watches) if (rule.concerns(watch.target)) watch.cut();
    for (const { target, cut } of this.#requests) if (rule.concerns(target)) cut(connectionLost());
    return rule;
  }

  takeLease(module: RunningModule): ActiveFault {
    return this.stall({ module, kind: Lease });
  }

  stall(options: FaultOptions = {}): ActiveFault {
    const { promise: over, resolve: onEnd } = Promise.withResolvers<void>();
    return this.#add({ ...options, effect: { kind: "stall", over }, onEnd });
  }

  latency(ms: number, options: FaultOptions = {}): ActiveFault {
    return this.#add({ ...options, effect: { kind: "late", ms } });
  }

  refuse(code: number, options: RefuseOptions = {}): ActiveFault {
    const { retryAfter, message = "refused by a fault of the test", ...own } = options;
    const reason = REASONS[code];
    if (reason === undefined) {
      throw new TypeError(`Cannot refuse with ${code}: expected one of ${Object.keys(REASONS).join(", ")}`);
    }
    const body = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, code };
    const headers = retryAfter === undefined ? {} : { "retry-after": String(retryAfter) };
    const answer = (): Response => Response.json(body, { status: code, headers });
    return this.#add({ times: 1, ...own, effect: { kind: "refuse", answer } });
  }

  expireWatches(options: Pick<FaultOptions, "module" | "kind" | "on"> = {}): void {
    for (const watch of this.#watches) {
      const { path, module } = watch.target;
      if (!selects(options, watch.target)) continue;
      const on = (target: RequestTarget): boolean => target.path === path;
      this.refuse(410, { module, verbs: ["watch"], on, message: "too old resource version" });
      watch.cut();
    }
  }

  staleReads(options: FaultOptions = {}): ActiveFault {
    return this.#add({ verbs: READS, ...options, effect: { kind: "stale", answers: new Map() } });
  }

  conflict(nth = 1, options: Omit<FaultOptions, "times" | "after"> = {}): ActiveFault {
    const message = "the object has been modified; please apply your changes to the latest version and try again";
    return this.refuse(409, { verbs: WRITES, ...options, after: nth - 1, times: 1, message });
  }

  clear(): void {
    for (const rule of this.#rules) rule[Symbol.dispose]();
  }

  async #carry(request: Request, target: RequestTarget, carry: Carry): Promise<Response> {
    const { signal } = request;
    const late = this.#struck("late", target);
    const stalled = this.#struck("stall", target);
    if (stalled !== undefined) await abortable(stalled.over, signal);
    const response = await this.#carryOut(request, target, carry);
    if (late === undefined) return response;
    try {
      await sleep(late.ms, { signal });
    } catch (error) {
      await response.body?.cancel();
      throw error;
    }
    return response;
  }

  async #carryOut(request: Request, target: RequestTarget, carry: Carry): Promise<Response> {
    const refused = this.#struck("refuse", target);
    if (refused !== undefined) return refused.answer(target);
    const stale = target.verb === "other" ? undefined : this.#struck("stale", target);
    const known = stale?.answers.get(request.url);
    if (known !== undefined) return new Response(known.body, known.init);
    const response = await carry(request);
    if (target.verb === "watch" && response.ok) return this.#watch(response, target);
    if (this.#struck("lose", target)) {
      await response.body?.cancel();
      throw connectionLost();
    }
    if (stale === undefined || !response.ok) return response;
    const answer = { body: await response.text(), init: { status: response.status, headers: response.headers } };
    stale.answers.set(request.url, answer);
    return new Response(answer.body, answer.init);
  }

  /** Returns a promise that a chunk of a watch must await; `undefined` when there is none. */
  #hold(target: RequestTarget, signal: AbortSignal): Promise<void> | undefined {
    const late = this.#struck("late", target);
    const stalled = this.#struck("stall", target);
    if (late === undefined && stalled === undefined) return undefined;
    return held({ ms: late?.ms ?? 0, over: stalled?.over, signal });
  }

  #watch(response: Response, target: RequestTarget): Response {
    const watch: OpenWatch = new OpenWatch(response, {
      target,
      hold: (signal) => this.#hold(target, signal),
      onChunk: this.#options.onChunk,
      onEnd: () => void this.#watches.delete(watch),
    });
    this.#watches.add(watch);
    return watch.response;
  }

  #struck<K extends Effect["kind"]>(kind: K, target: RequestTarget): Extract<Effect, { kind: K }> | undefined {
    for (const rule of this.#rules) {
      if (rule.effect.kind !== kind || !rule.strikes(target)) continue;
      this.#options.onStruck(target, kind);
      return rule.effect as Extract<Effect, { kind: K }>;
    }
    return undefined;
  }

  #add(options: RuleOptions): FaultRule {
    const rule = new FaultRule(options, (one) => void this.#rules.delete(one));
    this.#rules.add(rule);
    return rule;
  }
}

async function held(wait: { ms: number; over: Promise<void> | undefined; signal: AbortSignal }): Promise<void> {
  const { ms, over, signal } = wait;
  if (ms > 0) await sleep(ms, { signal });
  if (over !== undefined) await abortable(over, signal);
}

/** The effect of a fault on a request. */
type Effect =
  | { readonly kind: "unreachable" }
  | { readonly kind: "lose" }
  | { readonly kind: "late"; readonly ms: number }
  | { readonly kind: "stall"; readonly over: Promise<void> }
  | { readonly kind: "refuse"; readonly answer: (target: RequestTarget) => Response }
  | { readonly kind: "stale"; readonly answers: Map<string, { readonly body: string; readonly init: ResponseInit }> };

interface RuleOptions extends FaultOptions {
  readonly effect: Effect;
  /** Whether the fault also strikes requests without a resource, such as discovery and probes. */
  readonly everything?: boolean | undefined;
  readonly onEnd?: (() => void) | undefined;
}

/** An active fault: the requests that it strikes, and how often. */
class FaultRule implements ActiveFault {
  readonly effect: Effect;
  readonly #options: RuleOptions;
  readonly #remove: (rule: FaultRule) => void;
  #passed = 0;
  struck = 0;

  constructor(options: RuleOptions, remove: (rule: FaultRule) => void) {
    this.effect = options.effect;
    this.#options = options;
    this.#remove = remove;
  }

  /** Whether the fault strikes this request, which is then counted. */
  strikes(target: RequestTarget): boolean {
    const { times = Infinity, after = 0 } = this.#options;
    if (!this.concerns(target) || this.struck >= times) return false;
    if (this.#passed < after) {
      this.#passed++;
      return false;
    }
    this.struck++;
    return true;
  }

  /** Whether the fault applies to such requests. */
  concerns(target: RequestTarget): boolean {
    const { everything, module } = this.#options;
    return everything === true ? isFrom(module, target) : selects(this.#options, target);
  }

  [Symbol.dispose](): void {
    this.#remove(this);
    this.#options.onEnd?.();
  }
}

function selects({ module, kind, verbs, on }: FaultOptions, target: RequestTarget): boolean {
  if (target.verb === "other" || !isFrom(module, target)) return false;
  if (kind === undefined ? target.plural === "events" : !isOf(target, kind)) return false;
  return verbs?.includes(target.verb) !== false && on?.(target) !== false;
}

/** Whether the module sent the request; `undefined` stands for all modules. */
function isFrom(module: FaultOptions["module"], target: RequestTarget): boolean {
  return module === undefined || target.module === module;
}

function isOf({ group, plural }: RequestTarget, kind: NonNullable<FaultOptions["kind"]>): boolean {
  return group === kind.group && plural === (kind.plural ?? pluralOf(kind.kind.toLowerCase()));
}
