/** Records one run while it goes on. */
import { loggable } from "../observe/loggable.ts";
import type { Cause } from "../resource/cause.ts";
import type { AnyObject, Resource } from "../resource/handle.ts";
import type { Fields } from "../resource/json.ts";
import type { Key } from "../resource/meta.ts";
import { schemaWithMarks } from "../resource/sensitive.ts";
import { boundedCopy, bytesOf, cutText } from "./bounded.ts";
import { compare } from "./changes.ts";
import { EventCause } from "./event-cause.ts";
import type { RunSpan } from "./traces.ts";
import type {
  CauseAnswer,
  ChangedBy,
  Changes,
  ChildAction,
  ChildAnswer,
  EventAnswer,
  KindRef,
  LogLine,
  ObjectRef,
  OutcomeAnswer,
  ReadAnswer,
  RequestAnswer,
  RunAnswer,
  RunRef,
  SpanRef,
  StatusAnswer,
} from "./run-answer.ts";

/** The most requests, children and reads of one run that are kept. */
const MOST_PARTS = 64;
const MOST_LINES = 50;
const LONGEST_MESSAGE = 1_024;
const LONGEST_STACK = 4_096;
const LONGEST_REASON = 256;
/** The estimated size of a record without its parts. */
const OWN_BYTES = 1_024;
const NONE: readonly never[] = Object.freeze([]);
const UNCHANGED: Changes = Object.freeze({});

/** The history, as a record uses it. */
export interface RecordKeeper {
  /** The time of day. */
  readonly now: () => number;
  /** Writes a time of day as text. */
  readonly time: (at: number) => string;
  /** Milliseconds; only differences count. */
  readonly elapsed: () => number;
  readonly clean: (text: string) => string;
  /** Reserves memory. @returns false when there is none for the run. */
  reserve(bytes: number, used: number): boolean;
  /** Remembers that the run has written this state. */
  wrote(object: AnyObject, by: ChangedBy, run: RunRef): void;
  deleted(kind: string, uid: string, run: RunRef): void;
  sees(resource: Resource, content: unknown): void;
  ended(record: RunRecord): void;
  said(line: LogLine, run: RunRef): void;
}

/** The beginning of a run. */
export interface RunBeginning extends Pick<
  RunAnswer,
  "id" | "replica" | "module" | "controller" | "key" | "phase" | "at" | "waited" | "attempt"
> {
  /** The kind and the object of the run; nothing for a key controller. */
  readonly subject?: { readonly resource: Resource; readonly object: AnyObject } | undefined;
  readonly causes: readonly Cause[];
  /** The span of the run, when it is traced. */
  readonly span?: RunSpan | undefined;
}

/** A request that was answered or failed. */
export interface Request extends Omit<RequestAnswer, "at" | "duration" | "object" | "error"> {
  readonly resource: Resource;
  readonly target: Key;
  /** When it began, by `elapsed`. */
  readonly began: number;
  readonly error?: string | undefined;
}

/** What has become of a child. */
export interface ChildDetails extends Partial<StatePair> {
  readonly action: ChildAction;
  readonly error?: string | undefined;
}

/** Two states of an object, of which either may be unknown. */
export interface StatePair {
  readonly old: AnyObject | undefined;
  readonly now: AnyObject | undefined;
}

/**
 * **Guarantees.** It never throws into the run, holds no object of the cluster, and holds no more memory than it was
 * granted. Its public members are those of the answer, so that JSON of it is the answer.
 */
export class RunRecord implements RunAnswer {
  readonly id: string;
  readonly replica: string;
  readonly module: string;
  readonly controller: string;
  readonly key: string;
  readonly object: ObjectRef | undefined;
  phase: RunAnswer["phase"];
  readonly at: string;
  readonly waited: number;
  duration: number | undefined = undefined;
  readonly attempt: number;
  causes: readonly CauseAnswer[] = NONE;
  reads: readonly ReadAnswer[] = NONE;
  requests: readonly RequestAnswer[] = NONE;
  children: readonly ChildAnswer[] = NONE;
  status: StatusAnswer | undefined = undefined;
  finalizer: RunAnswer["finalizer"] = undefined;
  events: readonly EventAnswer[] = NONE;
  log: readonly LogLine[] = NONE;
  outcome: OutcomeAnswer | undefined = undefined;
  readonly trace: SpanRef | undefined;
  truncated: true | undefined = undefined;
  readonly #keeper: RecordKeeper;
  readonly #began: number;
  readonly #span: RunSpan | undefined;
  #bytes = 0;
  /** Whether the run has seen sensitive values after parts of it were recorded. */
  #hasSeenSecrets = false;
  /** The last comparison, because children, status and requests have the same. */
  #compared: (StatePair & { readonly result: Changes }) | undefined;

  constructor(keeper: RecordKeeper, about: RunBeginning) {
    const { id, replica, module, controller, key, phase, at, waited, attempt, subject, causes, span } = about;
    this.#keeper = keeper;
    this.#span = span;
    this.trace = span?.ref;
    this.#began = keeper.elapsed();
    this.id = id;
    this.replica = replica;
    this.module = module;
    this.controller = controller;
    this.key = key;
    this.object = subject && objectRef(subject.resource, subject.object.metadata);
    this.phase = phase;
    this.at = at;
    this.waited = waited;
    this.attempt = attempt;
    this.#bytes = OWN_BYTES;
    keeper.reserve(OWN_BYTES, 0);
    if (subject !== undefined) keeper.sees(subject.resource, subject.object);
    for (const cause of causes) this.causes = this.#added(this.causes, this.#cause(cause), causes.length);
  }

  get bytes(): number {
    return this.#bytes;
  }

  get ref(): RunRef {
    const { id, controller, key } = this;
    return { id, controller, key };
  }

  /** Milliseconds, for `Request.began`. */
  get elapsed(): number {
    return this.#keeper.elapsed();
  }

  /** Notes that the run has seen an object, whose sensitive values must not be recorded. */
  sees(resource: Resource, content: unknown): void {
    this.#keeper.sees(resource, content);
    this.#hasSeenSecrets = true;
  }

  read(verb: "get" | "list", resource: Resource, read: Pick<ReadAnswer, "key" | "from" | "resourceVersion">): void {
    const { key, from, resourceVersion } = read;
    const same = this.reads.findIndex(
      (one) =>
        one.verb === verb &&
        one.key === key &&
        one.from === from &&
        one.kind.kind === resource.kind &&
        one.kind.group === resource.group,
    );
    if (same < 0) {
      this.reads = this.#added(this.reads, { verb, kind: kindRef(resource), key, from, count: 1, resourceVersion });
      return;
    }
    const reads = this.reads as ReadAnswer[];
    reads[same] = { ...reads[same]!, count: reads[same]!.count + 1, resourceVersion };
  }

  request({
    verb,
    resource,
    target,
    subresource,
    dryRun,
    status,
    reason,
    error,
    began,
    by,
    span,
    changes,
    more,
  }: Request): void {
    this.requests = this.#added(this.requests, {
      verb,
      object: objectRef(resource, target),
      subresource,
      dryRun,
      status,
      reason,
      error: error === undefined ? undefined : cutText(this.#keeper.clean(error), LONGEST_MESSAGE),
      at: rounded(began - this.#began),
      duration: rounded(this.#keeper.elapsed() - began),
      by,
      span,
      changes,
      more,
    });
  }

  /** Chooses the id of the span of a write, for its request; `undefined` when the run is not traced. */
  spanOfWrite(): string | undefined {
    return this.#span?.write();
  }

  /** Notes that this run has written a state of an object. */
  wrote(object: AnyObject, by: ChangedBy, span?: string): void {
    this.#keeper.wrote(object, by, this.#writer(span));
  }

  /** Notes that this run has deleted an object. */
  deleted(kind: string, uid: string, span?: string): void {
    this.#keeper.deleted(kind, uid, this.#writer(span));
  }

  #writer(span: string | undefined): RunRef {
    const { ref, trace } = this;
    return trace === undefined || span === undefined ? ref : { ...ref, write: { trace: trace.trace, span } };
  }

  child(
    child: { readonly name: string; readonly resource: Resource; readonly target: Key },
    { action, error, ...states }: ChildDetails,
  ): void {
    const { name, resource, target } = child;
    const { changes, more } = this.changes(resource, { old: states.old, now: states.now });
    this.children = this.#added(this.children, {
      name,
      object: objectRef(resource, target),
      action,
      changes,
      more,
      error: error === undefined ? undefined : cutText(this.#keeper.clean(error), LONGEST_MESSAGE),
    });
  }

  /** Notes the status that the run has written, or found as it should be. */
  wroteStatus(resource: Resource, states: StatePair, conditions: StatusAnswer["conditions"]): void {
    const { changes = NONE, more } = this.changes(resource, states);
    const own = changes.filter(({ path }) => path.startsWith("status")); // others may have changed the rest
    const all = [...(this.status?.changes ?? NONE), ...own].slice(0, MOST_PARTS);
    const byType = new Map(this.status?.conditions.map((condition) => [condition.type, condition]));
    const short = (text: string): string => cutText(this.#keeper.clean(text), LONGEST_REASON);
    for (const { type, status, reason, was } of conditions.slice(0, MOST_PARTS)) {
      const earlier = byType.get(type);
      const before = earlier === undefined ? was : earlier.was;
      byType.set(type, { type: short(type), status, reason: reason && short(reason), was: before && short(before) });
    }
    const status: StatusAnswer = { changes: all, conditions: [...byType.values()], more };
    if (this.#grant(bytesOf(status))) this.status = status;
    else this.truncated = true;
  }

  event(event: Pick<EventAnswer, "type" | "reason" | "message">, { apiVersion, kind, metadata }: AnyObject): void {
    const slash = apiVersion.indexOf("/");
    const about = objectRef(
      { group: apiVersion.slice(0, Math.max(slash, 0)), version: apiVersion.slice(slash + 1), kind },
      metadata,
    );
    const { type, reason, message } = event;
    const { clean } = this.#keeper;
    this.events = this.#added(this.events, {
      type,
      reason: cutText(reason, LONGEST_MESSAGE),
      message: cutText(clean(message), LONGEST_MESSAGE),
      about,
    });
  }

  /** @param clean takes what the run itself knows out of texts. */
  line(level: LogLine["level"], message: unknown, { fields, clean }: LineDetails): void {
    const both = (text: string): string => this.#keeper.clean(clean(text));
    const plain = fields === undefined ? {} : (loggable(fields, both) as Fields);
    const bounded: Record<string, unknown> = {};
    for (const name in plain) bounded[name] = boundedCopy(withoutStack(plain[name]), this.#keeper).value;
    const text = typeof message === "string" ? message : String(message);
    const line = {
      at: this.#keeper.time(this.#keeper.now()),
      level,
      message: cutText(both(text), LONGEST_MESSAGE),
      fields: bounded,
    };
    this.#keeper.said(line, this.ref);
    this.log = this.#added(this.log, line, MOST_LINES);
  }

  /** Ends the record. Sensitive values that the run saw after a part was recorded are taken out of that part. */
  end(outcome: OutcomeAnswer, phase: RunAnswer["phase"] = this.phase): void {
    const { error, stack } = outcome;
    const { clean } = this.#keeper;
    this.phase = phase;
    this.duration = rounded(this.#keeper.elapsed() - this.#began);
    this.#compared = undefined;
    const ended: OutcomeAnswer = {
      ...outcome,
      error: error === undefined ? undefined : cutText(clean(error), LONGEST_MESSAGE),
      stack: stack === undefined ? undefined : cutText(clean(stack), LONGEST_STACK),
    };
    if (this.#grant(bytesOf(ended))) this.outcome = ended;
    else this.outcome = { result: outcome.result };
    if (this.#hasSeenSecrets) this.#cleanAgain();
    this.#span?.end(this);
    this.#keeper.ended(this);
  }

  /** Compares two states of an object, if both are known. */
  changes(resource: Resource, { old, now }: StatePair): Changes {
    if (old === undefined || now === undefined || old === now) return UNCHANGED;
    if (this.#compared?.old === old && this.#compared.now === now) return this.#compared.result;
    this.#keeper.sees(resource, old);
    this.#keeper.sees(resource, now);
    const result = changesOf(compare(old, now, this.#options(resource)));
    this.#compared = { old, now, result };
    return result;
  }

  #options(resource: Resource): Parameters<typeof compare>[2] {
    return { schema: schemaWithMarks(resource), clean: this.#keeper.clean };
  }

  #cause(cause: Cause): CauseAnswer {
    const { source, type, resourceVersion } = cause;
    if (!(cause instanceof EventCause)) return { source, type, object: undefined, at: this.at, resourceVersion };
    const { resource, origin, states, uid, kind, key } = cause;
    if (resource !== undefined && states !== undefined) for (const state of states) this.#keeper.sees(resource, state);
    const { changes, more } = changesOf(cause.difference(this.#keeper.clean));
    const known = new Set(changes?.map(({ path }) => path));
    const owned = origin?.paths?.flatMap((path) => (known.has(path) ? [] : [{ path }]));
    return {
      source,
      type,
      object: objectRef(resource ?? { group: "", version: "", kind }, { ...key, uid }),
      at: origin === undefined ? this.at : this.#keeper.time(origin.at),
      resourceVersion,
      by: origin?.by,
      changes: owned === undefined ? changes : [...(changes ?? NONE), ...owned],
      more,
      run: origin?.run,
    };
  }

  #added<T extends object>(list: readonly T[], part: T, most = MOST_PARTS): readonly T[] {
    if (list.length >= most || !this.#grant(bytesOf(part))) {
      this.truncated = true;
      return list;
    }
    if (list.length === 0) return [part];
    (list as T[]).push(part);
    return list;
  }

  #grant(bytes: number): boolean {
    if (!this.#keeper.reserve(bytes, this.#bytes)) return false;
    this.#bytes += bytes;
    return true;
  }

  /** Takes the secrets out of what was recorded. The granted bytes stay as they are, because texts hardly grow by it. */
  #cleanAgain(): void {
    this.causes = cleaned(this.causes, this.#keeper.clean);
    this.requests = cleaned(this.requests, this.#keeper.clean);
    this.children = cleaned(this.children, this.#keeper.clean);
    this.status = cleaned(this.status, this.#keeper.clean);
    this.events = cleaned(this.events, this.#keeper.clean);
    this.log = cleaned(this.log, this.#keeper.clean);
  }
}

interface LineDetails {
  readonly fields: object | undefined;
  readonly clean: (text: string) => string;
}

function changesOf(difference: { readonly changes: Changes["changes"]; readonly more: number } | undefined): Changes {
  if (difference === undefined) return UNCHANGED;
  const { changes, more } = difference;
  return more === 0 ? { changes } : { changes, more };
}

/** An error's message says enough beside the outcome, which has the stack. */
function withoutStack(value: unknown): unknown {
  if (typeof value !== "object" || value === null || !("stack" in value)) return value;
  const { stack: _stack, ...rest } = value;
  return rest;
}

function cleaned<T>(value: T, clean: (text: string) => string): T {
  if (typeof value === "string") return clean(value) as T;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => cleaned(item, clean)) as T;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [clean(name), cleaned(field, clean)])) as T;
}

function kindRef({ group, version, kind }: KindRef): KindRef {
  return { group, version, kind };
}

function objectRef(
  resource: KindRef,
  { name, namespace, uid }: Key & { readonly uid?: string | undefined },
): ObjectRef {
  const { group, version, kind } = resource;
  return { group, version, kind, namespace, name, uid };
}

/** Tenths of a millisecond. */
function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}
