/** The HTTP side of all webhook paths: finds the endpoint, reads and writes reviews, and counts them. */
import { type Context, Hono } from "hono";
import type { Runtime } from "../controller/runtime.ts";
import type { WebhookPathMetrics } from "../observe/webhook-metrics.ts";
import type { Clock } from "../platform/clock.ts";
import { BodyBudget, type BodyShare } from "../server/body-budget.ts";
import { Seldom } from "../platform/seldom.ts";
import { type Duration, parseDuration } from "../resource/duration.ts";
import { MOST_CONVERSION_BYTES } from "./conversion/conversion-endpoint.ts";
import type { RequestProblem, ReviewAnswer, ReviewEndpoint } from "./review-endpoint.ts";

/** The bytes of all bodies in flight: the largest conversion, and two of the largest admissions. */
const MOST_BODIES_BYTES = MOST_CONVERSION_BYTES + 16 * 1024 * 1024;

/** The parts of the process that the routes use. */
export type ReviewRuntime = Pick<Runtime, "log" | "metrics" | "settings" | "requestTraces">;

interface Mounted {
  readonly endpoint: ReviewEndpoint;
  readonly metrics: WebhookPathMetrics;
}

/** The limit of controller-runtime for one body: a little more than twice the largest object that etcd accepts. */
const MOST_BODY_BYTES = 7 * 1024 * 1024;
/** How long kube-apiserver waits for a webhook that does not name a timeout. */
const DEFAULT_TIMEOUT = 10_000;
/** The longest timeout that kube-apiserver allows. */
const LONGEST_TIMEOUT = 30_000;
/** The part of the caller's timeout, and its limits in milliseconds, that is reserved for sending the response. */
const MARGIN = 0.1;
const LEAST_MARGIN = 20;
const MOST_MARGIN = 500;

export class ReviewRoutes {
  readonly #runtime: ReviewRuntime;
  readonly #clock: Clock;
  readonly #endpoints = new Map<string, Mounted>();
  readonly #bodies: BodyBudget;
  readonly #busy: Seldom;
  #answered = 0;

  constructor(runtime: ReviewRuntime, clock: Clock) {
    this.#runtime = runtime;
    this.#clock = clock;
    this.#bodies = new BodyBudget({ bytes: MOST_BODIES_BYTES, clock: this.#clock });
    this.#busy = new Seldom(this.#clock);
  }

  /** The number of reviews that have a response. */
  get answered(): number {
    return this.#answered;
  }

  /**
   * Serves a path until the returned value is disposed of. Mounting a path again replaces its endpoint: active requests
   * end with their first endpoint, and the metrics of the path continue.
   */
  mount(endpoint: ReviewEndpoint): Disposable {
    const { path } = endpoint;
    const metrics = this.#endpoints.get(path)?.metrics ?? this.#runtime.metrics.webhooks.path(path);
    const mounted: Mounted = { endpoint, metrics };
    this.#endpoints.set(path, mounted);
    return {
      [Symbol.dispose]: () => {
        if (this.#endpoints.get(path) !== mounted) return;
        this.#endpoints.delete(path);
        metrics[Symbol.dispose]();
      },
    };
  }

  /** Returns the routes for a listener. */
  app(): Hono {
    const app = new Hono();
    app.post("/*", (context) => this.#answer(context));
    app.all("/*", (context) =>
      this.#endpoints.has(context.req.path)
        ? context.text("405 method not allowed: reviews are sent with POST\n", 405, { Allow: "POST" })
        : context.text("404 page not found\n", 404),
    );
    return app;
  }

  #answer(context: Context): Response | Promise<Response> {
    const mounted = this.#endpoints.get(context.req.path);
    if (mounted === undefined) return context.text("404 page not found\n", 404);
    return this.#review(mounted, context);
  }

  async #review({ endpoint, metrics }: Mounted, context: Context): Promise<Response> {
    const began = performance.now();
    const span = this.#runtime.requestTraces?.request(endpoint.path, context.req.raw.headers);
    let status = 500;
    const deadline = this.#clock.now() + timeoutOf(context.req.query("timeout"));
    metrics.inFlight.value++;
    endpoint.requested?.();
    try {
      using share = this.#bodies.open();
      const answer = await this.#answerOf(endpoint, { request: context.req.raw, deadline, share });
      const response = answer === undefined ? this.#refuse(endpoint) : responseOf(answer);
      ({ status } = response);
      metrics.answered(status);
      return response;
    } finally {
      endpoint.answered?.();
      this.#answered++;
      metrics.inFlight.value--;
      metrics.latency.observe((performance.now() - began) / 1_000, span?.ref);
      span?.end(status);
    }
  }

  /** Refuses a review for want of room. client-go, and so the API server, repeats the request after `Retry-After`. */
  #refuse({ path }: ReviewEndpoint): Response {
    const others = this.#busy.next(path);
    if (others !== undefined) {
      const about = { path, ...(others > 0 && { othersNotLogged: others }) };
      this.#runtime.log.warn(
        "Too many reviews at once: their bodies take all room, and clients are asked to come again",
        about,
      );
    }
    return new Response("429 too many reviews at once\n", {
      status: 429,
      headers: { ...TEXT_HEADERS, "Retry-After": "1" },
    });
  }

  /** Returns the response; `undefined` when there is no room for the body. */
  async #answerOf(
    endpoint: ReviewEndpoint,
    { request, deadline, share }: { readonly request: Request; readonly deadline: number; readonly share: BodyShare },
  ): Promise<ReviewAnswer | undefined> {
    const read = await readBody(request, { clock: this.#clock, deadline, share, endpoint });
    if ("isBusy" in read) return undefined;
    if ("problem" in read) return endpoint.malformed(read.problem);
    try {
      return await endpoint.review(read.body, { deadline });
    } catch (error) {
      this.#runtime.log.error("Cannot answer a review", { path: endpoint.path, error });
      const problem: RequestProblem = { code: 500, message: "internal error" };
      return { ...endpoint.malformed(problem), status: 500 };
    }
  }
}

/** Returns the milliseconds within which a response must be sent, from the request's `timeout`, such as `10s`. */
function timeoutOf(parameter: string | undefined): number {
  const timeout = parameter === undefined ? DEFAULT_TIMEOUT : millisecondsOf(parameter);
  return timeout - Math.min(Math.max(timeout * MARGIN, LEAST_MARGIN), MOST_MARGIN);
}

function millisecondsOf(parameter: string): number {
  try {
    const timeout = parseDuration(parameter as Duration, "timeout");
    return timeout > 0 ? Math.min(timeout, LONGEST_TIMEOUT) : DEFAULT_TIMEOUT;
  } catch {
    return DEFAULT_TIMEOUT;
  }
}

const JSON_HEADERS = { "Content-Type": "application/json" };
const TEXT_HEADERS = { "Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff" };

function responseOf({ status, body, isJson = false }: ReviewAnswer): Response {
  return typeof body === "string"
    ? new Response(body, { status, headers: isJson ? JSON_HEADERS : TEXT_HEADERS })
    : new Response(JSON.stringify(body), { status, headers: JSON_HEADERS });
}

interface Limits {
  readonly clock: Clock;
  readonly deadline: number;
  /** The part of the listener's budget that the body takes. */
  readonly share: BodyShare;
  readonly endpoint: ReviewEndpoint;
}

/** The result of reading a body; `isBusy` when other bodies take all room, so that the client should retry. */
type Read = { readonly body: unknown } | { readonly problem: RequestProblem } | { readonly isBusy: true };
type ReadText = string | Exclude<Read, { readonly body: unknown }>;

async function readBody(request: Request, within: Limits): Promise<Read> {
  const { headers } = request;
  const { mostBytes = MOST_BODY_BYTES, parse = JSON.parse } = within.endpoint;
  const length = headers.get("content-length");
  if (request.body === null || length === "0") return problem(400, "request body is empty");
  if (length !== null && Number(length) > mostBytes) return tooLarge(mostBytes);
  const type = headers.get("content-type") ?? "";
  if (mediaType(type) !== "application/json") {
    return problem(400, `contentType=${type}, expected application/json`);
  }
  const text = await textOf(request, within);
  if (typeof text !== "string") return text;
  if (text === "") return problem(400, "request body is empty");
  try {
    return { body: parse(text) as unknown };
  } catch (error) {
    return problem(400, `cannot decode the request body: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function textOf(request: Request, within: Limits): Promise<ReadText> {
  const { clock, deadline } = within;
  const late = Promise.withResolvers<{ readonly problem: RequestProblem }>();
  using _timer = clock.setTimeout(
    () => late.resolve(problem(408, "the request body did not arrive in time")),
    deadline - clock.now(),
  );
  try {
    const read = boundedText(request, within);
    read.catch(() => {}); // an end after the deadline
    return await Promise.race([read, late.promise]);
  } catch (error) {
    return problem(400, `cannot read the request body: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function boundedText(request: Request, { share, endpoint }: Limits): Promise<ReadText> {
  const { mostBytes = MOST_BODY_BYTES } = endpoint;
  const length = Number(request.headers.get("content-length") ?? Infinity);
  if (share.claim(length)) return request.text();
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of request.body!) {
    bytes += piece.length;
    if (bytes > mostBytes) return tooLarge(mostBytes);
    // Bytes that are not read here stay with the client.
    if (!(await share.take(piece.length))) return { isBusy: true };
    pieces.push(piece);
  }
  return Buffer.concat(pieces, bytes).toString();
}

function mediaType(type: string): string {
  const semicolon = type.indexOf(";");
  return (semicolon < 0 ? type : type.slice(0, semicolon)).trim().toLowerCase();
}

function tooLarge(mostBytes: number): { readonly problem: RequestProblem } {
  return problem(413, `request entity is too large; limit is ${mostBytes} bytes`);
}

function problem(code: number, message: string): { readonly problem: RequestProblem } {
  return { problem: { code, message } };
}
