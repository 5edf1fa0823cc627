/** Notes in the record of a run what it reads from the server and writes to it. */
import { isStub } from "../cache/object-transformer.ts";
import type { InformerRegistry } from "../cache/informer-registry.ts";
import type { Request, RunRecord } from "../history/run-record.ts";
import { isApiError, isUnreachable } from "../kube/errors/api-error.ts";
import type { AnyObject, Resource } from "../resource/handle.ts";
import { type Key, keyString } from "../resource/meta.ts";
import type { RequestContext } from "./client-scope.ts";

type Recorded = Pick<RequestContext, "record" | "origin">;

/** A read that has been sent. */
interface SentRead<T> {
  readonly resource: Resource;
  /** The key of the object; a list has none. */
  readonly key?: Key | undefined;
  /** The namespace of a list. */
  readonly namespace?: string | undefined;
  readonly answer: Promise<T>;
}

/** Notes a read when it is answered. @returns the answer. */
export async function recordedRead<T extends { readonly metadata?: { readonly resourceVersion?: string | undefined } }>(
  context: Recorded,
  { resource, key, namespace, answer }: SentRead<T>,
): Promise<T> {
  const record = context.record!;
  const verb = key === undefined ? "list" : "get";
  const target: Key = key ?? { name: "", namespace };
  const request = { resource, verb, target, began: record.elapsed, by: byOf(context) };
  try {
    const { metadata } = await answer;
    const place = key === undefined ? namespace : keyString(key);
    record.read(verb, resource, { key: place, from: "server", resourceVersion: metadata?.resourceVersion });
    record.request({ ...request, status: 200 });
  } catch (error) {
    record.request({ ...request, ...failureOf(error) });
  }
  return answer;
}

/** A write that is about to be sent. */
export interface SentWrite {
  readonly resource: Resource;
  readonly verb: string;
  readonly target: Key;
  /** The object's key in the caches. */
  readonly key: string | undefined;
  readonly subresource: string | undefined;
  readonly isDry: boolean;
  readonly manager: string;
}

/** One write, from when it is sent until its answer is in the caches. */
export class RecordedWrite {
  readonly #record: RunRecord;
  readonly #informers: InformerRegistry;
  readonly #write: SentWrite;
  readonly #by: "runtime" | "author";
  readonly #began: number;
  readonly #old: AnyObject | undefined;
  /** The id of its span, once it is answered. */
  #span: string | undefined;

  constructor(context: Recorded, informers: InformerRegistry, write: SentWrite) {
    this.#record = context.record!;
    this.#informers = informers;
    this.#write = write;
    this.#by = byOf(context);
    this.#began = this.#record.elapsed;
    this.#old = this.#cached()?.object;
  }

  /** Called before the answer goes into the caches, whose events are to name this run. */
  answered(answer: unknown): void {
    const { isDry, verb, manager, subresource, resource } = this.#write;
    if (isDry) return;
    const span = (this.#span = this.#record.spanOfWrite());
    if (verb === "delete") {
      const uid = uidOf(answer);
      if (uid !== undefined) this.#record.deleted(resource.kind, uid, span);
    }
    if (!this.#isObject(answer)) return;
    this.#record.wrote(answer, { manager, operation: verb === "apply" ? "Apply" : "Update", subresource }, span);
  }

  /** Called when the answer is in the caches. */
  done(answer: unknown): void {
    const { resource, verb } = this.#write;
    const now = verb === "delete" || !this.#isObject(answer) ? undefined : this.#asOld(answer);
    const changes = this.#record.changes(resource, { old: this.#old, now });
    this.#note({ status: verb === "create" ? 201 : 200, ...changes }, answer);
  }

  failed(error: unknown): void {
    this.#note(failureOf(error), undefined);
  }

  #note(answer: Pick<Request, "status" | "reason" | "error" | "changes" | "more">, object: unknown): void {
    const { resource, verb, subresource, isDry } = this.#write;
    const target = this.#isObject(object) ? object.metadata : this.#write.target;
    const dryRun = isDry ? (true as const) : undefined;
    const began = this.#began;
    const request = { resource, verb, target, subresource, dryRun, began, by: this.#by, span: this.#span };
    this.#record.request({ ...request, ...answer });
  }

  /** Whether the answer is the object, and not a status or an object of a subresource of another kind. */
  #isObject(answer: unknown): answer is AnyObject {
    const { kind, metadata } = Object(answer) as Partial<AnyObject>;
    return kind === this.#write.resource.kind && metadata?.resourceVersion !== undefined;
  }

  /** The new state with the fields that the old one has: a cache may keep only some. */
  #asOld(answer: AnyObject): AnyObject | undefined {
    const cached = this.#cached();
    if (cached === undefined || !cached.isReduced) return answer;
    return cached.object.metadata.resourceVersion === answer.metadata.resourceVersion ? cached.object : undefined;
  }

  #cached(): { readonly object: AnyObject; readonly isReduced: boolean } | undefined {
    const { resource, key } = this.#write;
    if (key === undefined) return undefined;
    for (const { store, resource: own, isReduced } of this.#informers.informersOf(resource)) {
      const object = own.apiVersion === resource.apiVersion ? store.get(key) : undefined;
      if (object !== undefined && !isStub(object)) return { object, isReduced };
    }
    return undefined;
  }
}

/** The UID in the answer to a deletion. */
function uidOf(answer: unknown): string | undefined {
  const { details, metadata } = Object(answer) as {
    readonly [K in "details" | "metadata"]?: { readonly uid?: string };
  };
  return details?.uid ?? metadata?.uid;
}

/** The origins of the author's writes begin with a sign that no controller's name begins with. */
function byOf({ origin }: Recorded): "runtime" | "author" {
  return origin.startsWith("+") ? "author" : "runtime";
}

function failureOf(error: unknown): Pick<Request, "status" | "reason" | "error"> {
  if (isApiError(error)) {
    return { status: error.code, reason: error.reason, error: error.status.message ?? error.message };
  }
  if (isUnreachable(error)) return { status: 0, reason: error.code, error: error.message };
  const { name, message } = error instanceof Error ? error : { name: "Error", message: String(error) };
  return { status: 0, reason: name, error: message };
}
