/**
 * Spans for runs and webhook requests, sent by OTLP. The standard variables of OpenTelemetry configure it.
 *
 * @see https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */
import { hostname } from "node:os";
import {
  type Attributes,
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { ExportResultCode } from "@opentelemetry/core";
import { OTLPTraceExporter as JsonExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtobufExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  RandomIdGenerator,
  type SpanExporter,
} from "@opentelemetry/sdk-trace-base";
import type { RequestSpan, RequestTraces, RunSpan, RunTraces } from "../history/traces.ts";
import type { Log } from "../observe/log.ts";
import { messageOf } from "../platform/error-message.ts";
import { Seldom } from "../platform/seldom.ts";
import { SpanOfRun } from "./span-of-run.ts";
import { parentOf } from "./trace-parent.ts";
import { protocolOf } from "./wanted.ts";

export interface TracesOptions {
  /** The name of the operator, unless the environment has one. @default "binnacle" */
  readonly service?: string | undefined;
  readonly version: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  /** The API server's URL. */
  readonly server: string;
  /** The namespace of the pod that this process runs in; `undefined` outside of pods. */
  readonly podNamespace?: string | undefined;
}

/** Milliseconds for the last spans at the end. */
const LAST_SPANS_MS = 2_000;

/**
 * **Guarantees.** Nothing here fails or delays a run: spans wait in a bounded queue, and those for which there is no
 * room are dropped. The log tells at most once a minute that spans are lost.
 */
export class Traces implements RunTraces, RequestTraces, AsyncDisposable {
  readonly #ids = new ChosenIds();
  readonly #provider: BasicTracerProvider;
  readonly #tracer;
  readonly #server: Attributes;
  readonly #open = new Set<Span>();

  constructor(options: TracesOptions) {
    const { version, env, log, server } = options;
    const { hostname: address, port } = new URL(server);
    this.#server = { "server.address": address, "server.port": Number(port) || 443 };
    const { isJson, problem } = protocolOf(env);
    if (problem !== undefined) log.warn(problem);
    tellProblems(log);
    this.#provider = new BasicTracerProvider({
      idGenerator: this.#ids,
      resource: defaultResource()
        .merge(resourceFromAttributes(resourceOf(options)))
        .merge(detectResources({ detectors: [envDetector] })),
      spanProcessors: [new BatchSpanProcessor(telling(isJson ? new JsonExporter() : new ProtobufExporter(), log))],
    });
    this.#tracer = this.#provider.getTracer("binnacle", version);
  }

  begin({ controller, at, waited }: Parameters<RunTraces["begin"]>[0]): RunSpan | undefined {
    const startTime = Date.parse(at) - waited;
    const span = this.#tracer.startSpan(
      `reconcile ${controller}`,
      { kind: SpanKind.INTERNAL, startTime },
      ROOT_CONTEXT,
    );
    if (!span.isRecording()) return undefined;
    this.#open.add(span);
    return new SpanOfRun(span, {
      server: this.#server,
      freshId: () => this.#ids.fresh(),
      ended: () => this.#open.delete(span),
      child: ({ name, kind, start, end, id, attributes = {}, error }) => {
        this.#ids.next = id;
        const parent = trace.setSpan(ROOT_CONTEXT, span);
        const child = this.#tracer.startSpan(name, { kind, startTime: start, attributes }, parent);
        this.#ids.next = undefined;
        if (error !== undefined) child.setStatus({ code: SpanStatusCode.ERROR, message: error });
        child.end(end);
      },
    });
  }

  request(path: string, headers: Headers): RequestSpan {
    const attributes = { "http.request.method": "POST", "http.route": path, "url.path": path, "url.scheme": "https" };
    const span = this.#tracer.startSpan(`POST ${path}`, { kind: SpanKind.SERVER, attributes }, parentOf(headers));
    const { traceId, spanId } = span.spanContext();
    return {
      ref: span.isRecording() ? { trace: traceId, span: spanId } : undefined,
      end: (status) => {
        span.setAttribute("http.response.status_code", status);
        if (status >= 500) span.setAttribute("error.type", String(status)).setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      },
    };
  }

  /** Sends the last spans. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const span of this.#open) span.end();
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(() => late.resolve(), LAST_SPANS_MS);
    await Promise.race([this.#provider.shutdown().catch(() => {}), late.promise]);
    clearTimeout(timer);
    diag.disable();
  }
}

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

/** Says in the log what the packages of OpenTelemetry say, such as that a variable has no usable value. */
function tellProblems(log: Log): void {
  const seldom = new Seldom();
  const tell = (message: string, ...details: readonly unknown[]): void => {
    const isAgain = seldom.next(message.replaceAll(/\d+/g, "").slice(0, 40)) === undefined;
    if (!isAgain) log.warn("OpenTelemetry reports a problem with traces", { problem: [message, ...details].join(" ") });
  };
  const nothing = (): void => {};
  const logger = { error: tell, warn: tell, info: nothing, debug: nothing, verbose: nothing };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}

/** An exporter whose failures are told in the log, and to nobody else, who would tell them again. */
function telling(exporter: SpanExporter, log: Log): SpanExporter {
  const seldom = new Seldom();
  return {
    export: (spans, done) =>
      exporter.export(spans, ({ error }) => {
        const others = error === undefined ? undefined : seldom.next("lost");
        if (others !== undefined)
          log.warn("Cannot send spans to the collector: they are lost", {
            spans: spans.length,
            reason: messageOf(error),
          });
        done({ code: ExportResultCode.SUCCESS });
      }),
    shutdown: () => exporter.shutdown(),
  };
}

function resourceOf({ service = "binnacle", version, podNamespace }: TracesOptions): Attributes {
  const host = hostname();
  return {
    "service.name": service,
    ...(version !== undefined && { "service.version": version }),
    "service.instance.id": host,
    ...(podNamespace !== undefined && { "k8s.pod.name": host, "k8s.namespace.name": podNamespace }),
  };
}
