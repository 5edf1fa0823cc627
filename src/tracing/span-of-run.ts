/** The span of a run, with a child for each request that it sent and one for its wait in the queue. */
import { type Attributes, type Link, type Span, SpanKind, SpanStatusCode, TraceFlags } from "@opentelemetry/api";
import type { RequestAnswer, RunAnswer, RunRef, SpanRef } from "../history/run-answer.ts";
import type { RunSpan } from "../history/traces.ts";
import { objectAttributes } from "./object-attributes.ts";

export interface ChildSpan {
  readonly name: string;
  readonly kind: SpanKind;
  /** Milliseconds since the epoch. */
  readonly start: number;
  readonly end: number;
  /** The id that was chosen before. @default a new one */
  readonly id?: string | undefined;
  readonly attributes?: Attributes;
  readonly error?: string | undefined;
}

/** What the span uses of the tracer. */
interface Tracing {
  /** The attributes of the API server, which requests go to. */
  readonly server: Attributes;
  readonly freshId: () => string;
  readonly ended: () => void;
  /** Makes a child that is over. */
  readonly child: (child: ChildSpan) => void;
}

export class SpanOfRun implements RunSpan {
  readonly #span: Span;
  readonly #tracing: Tracing;

  constructor(span: Span, tracing: Tracing) {
    this.#span = span;
    this.#tracing = tracing;
  }

  get ref(): SpanRef {
    const { traceId, spanId } = this.#span.spanContext();
    return { trace: traceId, span: spanId };
  }

  write(): string {
    return this.#tracing.freshId();
  }

  end(run: RunAnswer): void {
    const span = this.#span;
    const began = Date.parse(run.at);
    const ended = began + (run.duration ?? 0);
    span.setAttributes(runAttributes(run));
    for (const { run: writer } of run.causes)
      if (writer?.write !== undefined) span.addLink(linkTo(writer.write, writer));
    if (run.waited > 0) {
      this.#tracing.child({ name: "wait in queue", kind: SpanKind.INTERNAL, start: began - run.waited, end: began });
    }
    for (const request of run.requests) this.#request(request, began);
    for (const { verb, kind, key, from, count } of run.reads) {
      if (from !== "cache") continue;
      const attributes = { "binnacle.object.kind": kind.kind, "binnacle.key": key ?? "", "binnacle.count": count };
      span.addEvent(`${verb} ${kind.kind} from the cache`, attributes, began);
    }
    for (const { type, reason, message } of run.events) {
      const attributes = { "binnacle.event.type": type, "binnacle.event.reason": reason };
      span.addEvent("event", { ...attributes, "binnacle.event.message": message }, ended);
    }
    const { outcome } = run;
    if (outcome?.error !== undefined) this.#failed(outcome.error, { stack: outcome.stack, at: ended });
    span.end(ended);
    this.#tracing.ended();
  }

  #failed(error: string, { stack, at }: { readonly stack: string | undefined; readonly at: number }): void {
    const span = this.#span;
    const [type = "Error"] = /^[A-Z]\w*(?=: )/.exec(error) ?? [];
    const exception = { "exception.type": type, "exception.message": error };
    span.setAttribute("error.type", type);
    span.setStatus({ code: SpanStatusCode.ERROR, message: error });
    span.addEvent("exception", { ...exception, ...(stack !== undefined && { "exception.stacktrace": stack }) }, at);
  }

  #request(
    { verb, object, subresource, status, reason, error, dryRun, by, span, ...times }: RequestAnswer,
    began: number,
  ): void {
    const start = began + times.at;
    const isFailure = status === 0 || status >= 400;
    this.#tracing.child({
      name: `${verb} ${object.kind}${subresource === undefined ? "" : `/${subresource}`}`,
      kind: SpanKind.CLIENT,
      start,
      end: start + times.duration,
      id: span,
      attributes: {
        ...this.#tracing.server,
        ...objectAttributes(object),
        "http.request.method": METHODS[verb] ?? "GET",
        "binnacle.request.verb": verb,
        "binnacle.request.by": by,
        ...(subresource !== undefined && { "binnacle.request.subresource": subresource }),
        ...(dryRun === true && { "binnacle.request.dry_run": true }),
        ...(status > 0 && { "http.response.status_code": status }),
        ...(isFailure && { "error.type": reason ?? String(status) }),
      },
      error: isFailure ? (error ?? reason ?? "no answer") : undefined,
    });
  }
}

const METHODS: Readonly<Record<string, string>> = {
  create: "POST",
  update: "PUT",
  patch: "PATCH",
  apply: "PATCH",
  delete: "DELETE",
  deletecollection: "DELETE",
};

function runAttributes({
  id,
  controller,
  module,
  key,
  object,
  attempt,
  phase,
  causes,
  outcome,
  truncated,
}: RunAnswer): Attributes {
  return {
    "binnacle.controller": controller,
    "binnacle.module": module,
    "binnacle.key": key,
    "binnacle.run.id": id,
    "binnacle.run.attempt": attempt,
    "binnacle.run.phase": phase,
    "binnacle.run.causes": causes.map(({ source, type, object: of }) => causeName(source, type, of?.kind)),
    ...(object !== undefined && objectAttributes(object)),
    ...(outcome !== undefined && { "binnacle.run.result": outcome.result }),
    ...(truncated === true && { "binnacle.run.truncated": true }),
  };
}

function linkTo({ trace, span }: SpanRef, { id, controller }: RunRef): Link {
  return {
    context: { traceId: trace, spanId: span, traceFlags: TraceFlags.SAMPLED },
    attributes: { "binnacle.controller": controller, "binnacle.run.id": id },
  };
}

function causeName(source: string, type: string, kind: string | undefined): string {
  return `${source}${kind === undefined || source.includes(kind) ? "" : ` ${kind}`} ${type}`;
}
