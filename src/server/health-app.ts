/** `/healthz`, `/livez` and `/readyz`, as the API server answers them. */
import { Hono, type Context } from "hono";
import type { HealthCheck, HealthChecks } from "./health-checks.ts";

/** Milliseconds after which a check that does not answer has failed. */
const CHECK_TIMEOUT = 5000;

export interface HealthAppOptions {
  readonly healthz: HealthChecks;
  readonly livez: HealthChecks;
  readonly readyz: HealthChecks;
}

/**
 * Answers probes: 200 or 500, `?verbose`, `?exclude=`, and each check on a path of its own.
 *
 * @see https://kubernetes.io/docs/reference/using-api/health-checks/
 */
export function healthApp(options: HealthAppOptions): Hono {
  const app = new Hono({ strict: false });
  for (const endpoint of ["healthz", "livez", "readyz"] as const) {
    const checks = options[endpoint];
    app.get(`/${endpoint}`, (context) => answerAll(context, { endpoint, checks }));
    // Names of checks may contain slashes.
    app.get(`/${endpoint}/:name{.+}`, (context) => {
      const name = context.req.param("name").replace(/\/$/, "");
      return name === "" ? answerAll(context, { endpoint, checks }) : answerOne(context, checkOf(checks, name));
    });
  }
  return app;
}

const ping: HealthCheck = () => undefined;

/** An endpoint without checks tells that the process answers. */
function checksOf(checks: HealthChecks): (readonly [string, HealthCheck])[] {
  const all = checks.checks();
  return all.length === 0 ? [["ping", ping]] : all;
}

function checkOf(checks: HealthChecks, name: string): HealthCheck | undefined {
  return checksOf(checks).find(([one]) => one === name)?.[1];
}

async function answerAll(context: Context, of: { endpoint: string; checks: HealthChecks }): Promise<Response> {
  const { endpoint, checks } = of;
  const excluded = new Set(context.req.queries("exclude")?.flatMap((names) => names.split(",")) ?? []);
  excluded.delete("");
  const results = await Promise.all(
    checksOf(checks).map(async ([name, check]) => {
      if (excluded.delete(name)) return { line: `[+]${name} excluded: ok\n`, failed: false };
      const reason = await reasonOf(check);
      return reason === undefined
        ? { line: `[+]${name} ok\n`, failed: false }
        : { line: `[-]${name} failed: reason withheld\n`, failed: true };
    }),
  );
  const failed = results.some((result) => result.failed);
  const verbose = context.req.query("verbose") !== undefined;
  if (!failed && !verbose) return plain("ok", 200);
  let body = results.map((result) => result.line).join("");
  if (verbose) body += notesOf(checks);
  if (excluded.size > 0) {
    const names = [...excluded].map((name) => JSON.stringify(name)).join(", ");
    body += `warn: some health checks cannot be excluded: no matches for ${names}\n`;
  }
  body += failed ? `${endpoint} check failed\n` : `${endpoint} check passed\n`;
  return plain(body, failed ? 500 : 200);
}

async function answerOne(context: Context, check: HealthCheck | undefined): Promise<Response> {
  if (check === undefined) return plain("404 page not found\n", 404);
  const reason = await reasonOf(check);
  return reason === undefined ? plain("ok", 200) : plain(`internal server error: ${reason}\n`, 500);
}

function notesOf(checks: HealthChecks): string {
  let lines = "";
  for (const [name, note] of checks.notes()) {
    // One line each, whatever the note says.
    lines += `[ ]${name} ${note().replace(/\s*\n\s*/g, " ")}\n`;
  }
  return lines;
}

/** `undefined` when all is well; never rejects, and never waits longer than a probe would. */
async function reasonOf(check: HealthCheck): Promise<string | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    const answer = check();
    if (answer === undefined || typeof answer === "string") return answer;
    const timeout = new Promise<string>((resolve) => {
      timer = setTimeout(() => resolve(`no answer within ${CHECK_TIMEOUT / 1000} s`), CHECK_TIMEOUT);
    });
    return await Promise.race([answer, timeout]);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    clearTimeout(timer);
  }
}

function plain(body: string, status: number): Response {
  const headers = { "Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff" };
  return new Response(body, { status, headers });
}
