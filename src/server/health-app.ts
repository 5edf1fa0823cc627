/** Serves `/healthz`, `/livez` and `/readyz` like the API server. */
import { messageOf } from "../platform/error-message.ts";
import { Hono, type Context } from "hono";
import { onOneLine } from "../observe/printable.ts";
import { systemClock, type Clock } from "../platform/clock.ts";
import type { HealthCheck, HealthChecks, HealthNote, HealthReport } from "./health-checks.ts";
import { isLocal } from "./local-request.ts";
import { plainResponse } from "./plain-response.ts";
import { refuseMisdirected } from "./web-guard.ts";

/** Milliseconds after which a check without a result has failed. */
const CHECK_TIMEOUT = 5000;

export interface HealthAppOptions {
  readonly healthz: HealthChecks;
  readonly livez: HealthChecks;
  readonly readyz: HealthChecks;
  /** @default systemClock */
  readonly clock?: Clock | undefined;
}

/** One of `/healthz`, `/livez` and `/readyz`. */
interface Endpoint {
  readonly endpoint: "healthz" | "livez" | "readyz";
  readonly checks: HealthChecks;
  readonly clock: Clock;
}

/**
 * Serves probes: 200 or 500, `?verbose`, `?exclude=`, and each check on a path of its own.
 *
 * There is no authentication here, so only clients on this machine see reasons ({@link isLocal}). Others see which
 * check fails, and on its own path a cause if there is one, because texts of servers, objects and modules may contain
 * information that is not meant for them.
 *
 * @see https://kubernetes.io/docs/reference/using-api/health-checks/
 */
export function healthApp(options: HealthAppOptions): Hono {
  const { clock = systemClock } = options;
  const app = new Hono({ strict: false });
  for (const endpoint of ["healthz", "livez", "readyz"] as const) {
    const of: Endpoint = { endpoint, checks: options[endpoint], clock };
    app.use(`/${endpoint}/*`, refuseMisdirected);
    app.get(`/${endpoint}`, (context) => answerAll(context, of));
    // Names of checks may contain slashes.
    app.get(`/${endpoint}/:name{.+}`, (context) => {
      const name = context.req.param("name").replace(/\/$/, "");
      return name === "" ? answerAll(context, of) : answerOne(context, name, of);
    });
  }
  return app;
}

const ping: HealthCheck = () => undefined;

/** An endpoint without checks shows that the process responds. */
function checksOf(checks: HealthChecks): (readonly [string, HealthCheck])[] {
  const all = checks.checks();
  return all.length === 0 ? [["ping", ping]] : all;
}

async function answerAll(context: Context, of: Endpoint): Promise<Response> {
  const { endpoint, checks, clock } = of;
  const excluded = new Set(context.req.queries("exclude")?.flatMap((names) => names.split(",")) ?? []);
  excluded.delete("");
  const mayReadAll = mayRead(context);
  const results = await Promise.all(
    checksOf(checks).map(async ([name, check]) => {
      if (excluded.delete(name)) return { line: `[+]${name} excluded: ok\n`, failed: false };
      const reason = await reasonOf(check, clock);
      return reason === undefined
        ? { line: `[+]${name} ok\n`, failed: false }
        : { line: `[-]${name} failed: ${mayReadAll ? textFor(reason, true) : "reason withheld"}\n`, failed: true };
    }),
  );
  const failed = results.some((result) => result.failed);
  const verbose = context.req.query("verbose") !== undefined;
  if (!failed && !verbose) return plainResponse("ok", 200);
  let body = results.map((result) => result.line).join("");
  if (verbose) body += notesOf(checks, mayReadAll);
  if (excluded.size > 0) {
    const names = [...excluded].map((name) => JSON.stringify(name)).join(", ");
    body += `warn: some health checks cannot be excluded: no matches for ${names}\n`;
  }
  body += failed ? `${endpoint} check failed\n` : `${endpoint} check passed\n`;
  return plainResponse(body, failed ? 500 : 200);
}

async function answerOne(context: Context, name: string, { checks, clock }: Endpoint): Promise<Response> {
  const check = checksOf(checks).find(([one]) => one === name)?.[1];
  if (check === undefined) return plainResponse("404 page not found\n", 404);
  const reason = await reasonOf(check, clock);
  if (reason === undefined) return plainResponse("ok", 200);
  return plainResponse(`internal server error: ${textFor(reason, mayRead(context))}\n`, 500);
}

function mayRead(context: Context): boolean {
  return isLocal(context.req.raw, context.env ?? {});
}

function notesOf(checks: HealthChecks, mayReadAll: boolean): string {
  let lines = "";
  for (const [name, note] of checks.notes()) {
    const report = reportOf(note);
    lines += report === undefined ? `[+]${name} ok\n` : `[ ]${name} ${textFor(report, mayReadAll)}\n`;
  }
  return lines;
}

/** Returns the reason on one line, whatever it contains. */
function textFor(report: string | HealthReport, mayReadAll: boolean): string {
  if (!mayReadAll) return typeof report === "string" ? "reason withheld" : report.cause;
  return onOneLine(typeof report === "string" ? report : report.text);
}

function reportOf(note: HealthNote): string | HealthReport | undefined {
  try {
    return note();
  } catch (error) {
    return messageOf(error);
  }
}

/** Returns the reason; `undefined` when the check passes. It never rejects, and waits for no check longer than 5 s. */
async function reasonOf(check: HealthCheck, clock: Clock): Promise<string | HealthReport | undefined> {
  try {
    const answer = check();
    if (answer === undefined || typeof answer === "string" || "cause" in answer) return answer;
    const timeout = Promise.withResolvers<HealthReport>();
    const late = `no result within ${CHECK_TIMEOUT / 1000} s`;
    using _timer = clock.setTimeout(() => timeout.resolve({ cause: late, text: late }), CHECK_TIMEOUT);
    return await Promise.race([answer, timeout.promise]);
  } catch (error) {
    return messageOf(error);
  }
}
