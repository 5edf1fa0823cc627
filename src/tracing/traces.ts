/**
 * Spans for runs and webhook requests, sent by OTLP. The standard variables of OpenTelemetry configure it.
 *
 * @see https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */
import {
  type Attributes,
  type Link,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { defaultResource, resourceFromAttributes } from "@opentelemetry/resources";
import { BasicTracerProvider, BatchSpanProcessor, RandomIdGenerator } from "@opentelemetry/sdk-trace-base";
import type { RequestAnswer, RunAnswer, RunRef, SpanRef } from "../history/run-answer.ts";
import type { RequestSpan, RequestTraces, RunTraces } from "../history/traces.ts";
import type { Log } from "../observe/log.ts";
import { messageOf } from "../platform/error-message.ts";
import { parentOf } from "./trace-parent.ts";

export interface TracesOptions {
  /** The name of the operator. @default OTEL_SERVICE_NAME, or binnacle */
  readonly service?: string | undefined;
  readonly version: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  /** The API server's URL. */
  readonly server: string;
}

/** Milliseconds between two warnings that spans cannot be sent. */
const WARN_EVERY = 60_000;
/** Milliseconds for the last spans at the end. */
const LAST_SPANS_MS = 2_000;

export class Traces implements RunTraces, RequestTraces, AsyncDisposable {
  readonly #ids = new ChosenIds();
  readonly #provider: BasicTracerProvider;
  readonly #tracer;
  readonly #server: Attributes;
  /** The open spans of runs, by the ids of the runs. */
  readonly #open = new Map<string, { readonly span: Span; readonly writes: string[] }>();

  constructor({ service, version, env, log, server }: TracesOptions) {
    const url = new URL(server);
    this.#server = { "server.address": url.hostname, "server.port": Number(url.port) || 443 };
    const exporter = new OTLPTraceExporter();
    const warn = seldom((error: unknown) =>
      log.warn("Cannot send spans to the collector: they are lost", { reason: messageOf(error) }),
    );
    this.#provider = new BasicTracerProvider({
      idGenerator: this.#ids,
      resource: defaultResource().merge(resourceFromAttributes(resourceOf({ service, version, env }))),
      spanProcessors: [
        new BatchSpanProcessor({
          export: (spans, done) =>
            exporter.export(spans, (result) => {
              if (result.error !== undefined) warn(result.error);
              done(result);
            }),
          shutdown: () => exporter.shutdown(),
          forceFlush: () => exporter.forceFlush(),
        }),
      ],
    });
    this.#tracer = this.#provider.getTracer("binnacle", version);
  }

  begin(run: RunAnswer): SpanRef | undefined {
    const { id, controller, key, object, attempt, module, causes, waited } = run;
    const began = Date.parse(run.at);
    const span = this.#tracer.startSpan(
      `reconcile ${controller}`,
      {
        kind: SpanKind.INTERNAL,
        startTime: began - waited,
        attributes: {
          "binnacle.controller": controller,
          "binnacle.module": module,
          "binnacle.key": key,
          "binnacle.run.id": id,
          "binnacle.run.attempt": attempt,
          "binnacle.run.causes": causes.map(({ source, type, object: of }) => causeName(source, type, of?.kind)),
          ...(object !== undefined && {
            "k8s.object.kind": object.kind,
            "k8s.object.name": object.name,
            ...(object.namespace !== undefined && { "k8s.namespace.name": object.namespace }),
          }),
        },
        links: causes.flatMap(({ run: writer }) => linkTo(writer)),
      },
      ROOT_CONTEXT,
    );
    if (!span.isRecording()) return undefined;
    this.#open.set(id, { span, writes: [] });
    if (waited > 0) this.#child(span, { name: "wait in queue", start: began - waited, end: began });
    const { traceId, spanId } = span.spanContext();
    return { trace: traceId, span: spanId };
  }

  write({ id }: RunAnswer): SpanRef | undefined {
    const open = this.#open.get(id);
    if (open === undefined) return undefined;
    const span = this.#ids.fresh();
    open.writes.push(span);
    return { trace: open.span.spanContext().traceId, span };
  }

  end(run: RunAnswer): void {
    const open = this.#open.get(run.id);
    if (open === undefined) return;
    this.#open.delete(run.id);
    const { span, writes } = open;
    const began = Date.parse(run.at);
    for (const request of run.requests) this.#request(span, request, { began, writes });
    const reads = run.reads.filter(({ from }) => from === "cache");
    for (const { verb, kind, key, count } of reads)
      span.addEvent(
        `${verb} ${kind.kind} from the cache`,
        { "binnacle.key": key ?? "", "binnacle.count": count },
        began,
      );
    for (const { type, reason, message } of run.events)
      span.addEvent("event", { "k8s.event.type": type, "k8s.event.reason": reason, "k8s.event.message": message });
    const { outcome, duration = 0, phase } = run;
    span.setAttribute("binnacle.run.phase", phase);
    if (outcome !== undefined) {
      span.setAttribute("binnacle.run.result", outcome.result);
      if (outcome.error !== undefined) {
        const [type = "Error"] = /^[A-Z]\w*(?=: )/.exec(outcome.error) ?? [];
        span.setAttribute("error.type", type);
        span.setStatus({ code: SpanStatusCode.ERROR, message: outcome.error });
        const exception = { "exception.type": type, "exception.message": outcome.error };
        span.addEvent("exception", { ...exception, "exception.stacktrace": outcome.stack ?? "" }, began + duration);
      }
    }
    span.end(began + duration);
  }

  request(path: string, headers: Headers): RequestSpan {
    const span = this.#tracer.startSpan(
      `POST ${path}`,
      { kind: SpanKind.SERVER, attributes: { "http.request.method": "POST", "http.route": path, "url.path": path } },
      parentOf(headers),
    );
    const { traceId, spanId } = span.spanContext();
    return {
      ref: span.isRecording() ? { trace: traceId, span: spanId } : undefined,
      end: (status) => {
        span.setAttribute("http.response.status_code", status);
        if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      },
    };
  }

  /** Sends the last spans. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const { span } of this.#open.values()) span.end();
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(() => late.resolve(), LAST_SPANS_MS);
    await Promise.race([this.#provider.shutdown().catch(() => {}), late.promise]);
    clearTimeout(timer);
  }

  #request(parent: Span, request: RequestAnswer, run: { readonly began: number; readonly writes: string[] }): void {
    const { verb, object, subresource, status, reason, error, dryRun, by } = request;
    const isWrite = verb !== "get" && verb !== "list";
    const isStored = isWrite && dryRun !== true && status >= 200 && status < 300 && verb !== "delete";
    const start = run.began + request.at;
    this.#child(parent, {
      name: `${verb} ${object.kind}${subresource === undefined ? "" : `/${subresource}`}`,
      kind: SpanKind.CLIENT,
      start,
      end: start + request.duration,
      id: isStored ? run.writes.shift() : undefined,
      attributes: {
        ...this.#server,
        "http.request.method": METHODS[verb] ?? "GET",
        "k8s.object.kind": object.kind,
        "k8s.object.name": object.name,
        "binnacle.verb": verb,
        "binnacle.by": by,
        ...(object.namespace !== undefined && { "k8s.namespace.name": object.namespace }),
        ...(status > 0 && { "http.response.status_code": status }),
        ...((status === 0 || status >= 400) && { "error.type": reason ?? String(status) }),
      },
      error: status === 0 || status >= 400 ? (error ?? reason ?? "no answer") : undefined,
    });
  }

  #child(parent: Span, child: ChildSpan): void {
    const { name, kind = SpanKind.INTERNAL, start, end, id, attributes = {}, error } = child;
    this.#ids.next = id;
    const span = this.#tracer.startSpan(
      name,
      { kind, startTime: start, attributes },
      trace.setSpan(ROOT_CONTEXT, parent),
    );
    this.#ids.next = undefined;
    if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: error });
    span.end(end);
  }
}

interface ChildSpan {
  readonly name: string;
  /** @default INTERNAL */
  readonly kind?: SpanKind;
  /** Milliseconds since the epoch. */
  readonly start: number;
  readonly end: number;
  /** The id that was chosen before. @default a new one */
  readonly id?: string | undefined;
  readonly attributes?: Attributes;
  readonly error?: string | undefined;
}

const METHODS: Readonly<Record<string, string>> = {
  create: "POST",
  update: "PUT",
  patch: "PATCH",
  apply: "PATCH",
  delete: "DELETE",
  deletecollection: "DELETE",
};

/** Makes ids at random, or uses one that was chosen before. */
class ChosenIds {
  readonly #random = new RandomIdGenerator();
  next: string | undefined;

  generateTraceId(): string {
    return this.#random.generateTraceId();
  }

  generateSpanId(): string {
    return this.next ?? this.fresh();
  }

  fresh(): string {
    return this.#random.generateSpanId();
  }
}

function linkTo(run: RunRef | undefined): readonly Link[] {
  if (run?.write === undefined) return [];
  const { trace: traceId, span: spanId } = run.write;
  return [
    {
      context: { traceId, spanId, traceFlags: TraceFlags.SAMPLED },
      attributes: { "binnacle.controller": run.controller, "binnacle.run.id": run.id },
    },
  ];
}

function causeName(source: string, type: string, kind: string | undefined): string {
  return `${source}${kind === undefined || source.includes(kind) ? "" : ` ${kind}`} ${type}`;
}

function resourceOf({ service, version, env }: Pick<TracesOptions, "service" | "version" | "env">): Attributes {
  const pod = env["POD_NAME"];
  const namespace = env["POD_NAMESPACE"];
  return {
    ...(env["OTEL_SERVICE_NAME"] === undefined && { "service.name": service ?? "binnacle" }),
    ...(version !== undefined && { "service.version": version }),
    ...(pod !== undefined && { "k8s.pod.name": pod, "service.instance.id": pod }),
    ...(namespace !== undefined && { "k8s.namespace.name": namespace }),
  };
}

function seldom<T>(call: (value: T) => void): (value: T) => void {
  let last = -Infinity;
  return (value) => {
    const now = performance.now();
    if (now - last < WARN_EVERY) return;
    last = now;
    call(value);
  };
}
