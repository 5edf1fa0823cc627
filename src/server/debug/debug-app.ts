/** Serves `/debug/*`: what the process is doing, as JSON, and the actions of somebody who examines it. */
import { Hono, type Context } from "hono";
import { bodyLimit } from "hono/body-limit";
import { streamSSE } from "hono/streaming";
import { parseDuration } from "../../resource/duration.ts";
import { messageOf } from "../../platform/error-message.ts";
import type { RunAnswer } from "../../history/run-answer.ts";
import { LOG_LEVELS, type LogLevel } from "../../observe/log.ts";
import {
  KEY_STATES,
  type HistoryAnswer,
  type InformersAnswer,
  type KeysAnswer,
  type KeyStateName,
  type LeasesAnswer,
  type LogLevelsAnswer,
  type LogLineAnswer,
  type ModulesAnswer,
  type ObjectName,
  type OverviewAnswer,
  type OwnersAnswer,
  type PauseAnswer,
  type ProcessAnswer,
  type RetryAnswer,
  type RunsAnswer,
  type WebhooksAnswer,
} from "./answers.ts";
import { Tickets } from "./tickets.ts";
import { guard, refusal, requireToken } from "./debug-guard.ts";

/** The keys that a request is about; a key matches when it contains the text. */
export interface KeyFilter {
  readonly controller?: string | undefined;
  readonly module?: string | undefined;
  readonly states?: readonly KeyStateName[] | undefined;
  readonly text?: string | undefined;
  readonly limit: number;
}

/** The lines of the log that a request is about. */
export interface LogFilter {
  /** The least severe level. */
  readonly level?: LogLevel | undefined;
  readonly module?: string | undefined;
  readonly controller?: string | undefined;
  readonly key?: string | undefined;
  readonly text?: string | undefined;
}

/** An object as a request names it: the kind by its name, its plural, or `Kind.group`. */
export interface ObjectQuery extends ObjectName {
  readonly kind: string;
}

export interface HistoryQuery extends ObjectQuery {
  /** Only the runs of this controller. */
  readonly controller?: string | undefined;
  /** The most runs of the object, and of others that have written it. */
  readonly limit: number;
}

export interface RunQuery {
  readonly controller?: string | undefined;
  readonly key?: string | undefined;
  /** Only runs that failed. */
  readonly failed: boolean;
  readonly limit: number;
}

/** A module, a controller or an object that a request names and the process does not have. */
export class NotKnown extends Error {
  override readonly name = "NotKnown";
}

/** An action that cannot be taken while an earlier one of its kind is under way. */
export class Busy extends Error {
  override readonly name = "Busy";
}

/** The process as the listener sees it. */
export interface DebugSource {
  process(): Promise<ProcessAnswer>;
  modules(): ModulesAnswer;
  informers(): InformersAnswer;
  keys(filter: KeyFilter): KeysAnswer;
  leases(): LeasesAnswer;
  webhooks(): WebhooksAnswer;
  /** @throws NotKnown */
  owners(object: ObjectQuery): OwnersAnswer;
  /** @throws NotKnown */
  history(query: HistoryQuery): HistoryAnswer;
  runs(query: RunQuery): RunsAnswer;
  run(id: string): RunAnswer | undefined;
  /** Calls a function with each run that ends. */
  onRun(listener: (run: RunAnswer) => void): Disposable;
  /** The seconds of the last minutes, the oldest first. */
  overview(): readonly OverviewAnswer[];
  /** Calls a function with each second that ends. */
  onSecond(listener: (overview: OverviewAnswer) => void): Disposable;
  /** The last lines of the log that match, the oldest first. */
  log(filter: LogFilter, limit: number): readonly LogLineAnswer[];
  onLine(filter: LogFilter, listener: (line: LogLineAnswer) => void): Disposable;
  /**
   * Runs a key at once. @param controller the only one that works on the key when left out. @throws NotKnown,
   * BadRequest when several work on it.
   */
  retry(controller: string | undefined, key: string): RetryAnswer;
  /** Pauses a module, or the process. @throws NotKnown */
  setPaused(module: string | undefined, isPaused: boolean): PauseAnswer;
  /**
   * Sets the level of a module's lines, or of the log, for so many milliseconds if a time is given; `undefined` lets
   * the module follow the log. @throws NotKnown
   */
  setLogLevel(change: {
    readonly module: string | undefined;
    readonly level: LogLevel | undefined;
    readonly within: number | undefined;
  }): LogLevelsAnswer;
  /** Returns a CPU profile of so many milliseconds as Chrome's tools read it. @throws Busy while another one is made. */
  profile(ms: number): Promise<string>;
  /** Returns a heap snapshot as Chrome's tools read it, without the contents of texts. */
  heap(): Promise<string>;
  /**
   * Whether a ServiceAccount's token proves that its bearer may act for the account of this process. @throws Error when
   * the API server cannot say.
   */
  isOwn(token: string): Promise<boolean>;
}

/** The most bytes of the body of an action. */
const LARGEST_BODY = 65_536;
const MOST_KEYS = 5_000;
const MOST_LINES = 5_000;
const MOST_RUNS = 1_000;
/** The longest CPU profile in seconds. */
const LONGEST_PROFILE = 300;
/** The media types of Chrome's files. */
const CPU_PROFILE = {
  "Content-Type": "application/json",
  "Content-Disposition": 'attachment; filename="cpu.cpuprofile"',
};
const HEAP = { "Content-Type": "application/json", "Content-Disposition": 'attachment; filename="heap.heapsnapshot"' };

export interface DebugAppOptions {
  readonly source: DebugSource;
  /** The token that actions need. */
  readonly token: string;
}

/** Makes the app. Whoever serves it passes the connection of each request as its environment. */
export function debugApp({ source, token: expected }: DebugAppOptions): Hono {
  const tickets = new Tickets();
  const app = new Hono({ strict: false });
  app.use(guard);
  app.onError((error, context) => {
    if (error instanceof BadRequest) return context.json(refusal(error.message), 400);
    if (error instanceof NotKnown) return context.json(refusal(error.message), 404);
    if (error instanceof Busy) return context.json(refusal(error.message), 409);
    return context.json(refusal(messageOf(error)), 500);
  });
  app.get("/debug", async (context) =>
    context.json({ process: await source.process(), endpoints: ENDPOINTS.map((name) => `/debug/${name}`) }),
  );
  app.get("/debug/process", async (context) => context.json(await source.process()));
  app.get("/debug/modules", (context) => context.json(source.modules()));
  app.get("/debug/informers", (context) => context.json(source.informers()));
  app.get("/debug/keys", (context) => context.json(source.keys(keyFilter(context))));
  app.get("/debug/leases", (context) => context.json(source.leases()));
  app.get("/debug/webhooks", (context) => context.json(source.webhooks()));
  app.get("/debug/owners", (context) => context.json(source.owners(objectQuery(context))));
  app.get("/debug/history", (context) => {
    const limit = numberOf(context, "limit", { most: MOST_RUNS, otherwise: 20 });
    return context.json(source.history({ ...objectQuery(context), controller: query(context, "controller"), limit }));
  });
  app.get("/debug/runs", (context) => context.json(source.runs(runQuery(context))));
  app.get("/debug/runs/:id", (context) => {
    const run = source.run(context.req.param("id"));
    return run === undefined ? context.json(refusal("no such run is recorded any more"), 404) : context.json(run);
  });
  app.get("/debug/overview", (context) => context.json(source.overview()));
  app.get("/debug/log", (context) => (wantsEvents(context) ? logStream(context, source) : logAnswer(context, source)));
  app.get("/debug/stream", (context) => overviewStream(context, source));

  // This is how the owner of a kubeconfig gets the token of a process in a pod, and a page that was opened by a ticket.
  app.post("/debug/token", async (context) => {
    const [, ticket] = /^Ticket (\S+)$/.exec(context.req.header("authorization") ?? "") ?? [];
    if (ticket !== undefined)
      return tickets.redeem(ticket)
        ? context.json({ token: expected })
        : context.json(refusal("the ticket was used already, or is older than a minute"), 403);
    const [, own] = /^Bearer (\S+)$/.exec(context.req.header("authorization") ?? "") ?? [];
    if (own === undefined)
      return context.json(refusal("the header Authorization needs a token of the pod's ServiceAccount"), 401);
    if (!(await source.isOwn(own)))
      return context.json(
        refusal("the token is not of the pod's ServiceAccount, or not for the audience binnacle-debug"),
        403,
      );
    return context.json({ token: expected });
  });

  const needsToken = requireToken(expected);
  const limit = bodyLimit({
    maxSize: LARGEST_BODY,
    onError: (context) => context.json(refusal(`the body is larger than ${LARGEST_BODY} bytes`), 413),
  });
  const action = (name: string, take: (context: Context) => Promise<Response>): void =>
    void app.post(`/debug/${name}`, needsToken, limit, take);
  action("ticket", () => Promise.resolve(Response.json({ ticket: tickets.issue() })));
  action("retry", async (context) => {
    const { controller, key } = await bodyOf(context);
    return context.json(source.retry(optionalText(controller, "controller"), text(key, "key")));
  });
  for (const [name, isPaused] of [
    ["pause", true],
    ["resume", false],
  ] as const) {
    action(name, async (context) => {
      const { module } = await bodyOf(context);
      return context.json(source.setPaused(optionalText(module, "module"), isPaused));
    });
  }
  action("log-level", async (context) => {
    const { module, level, for: within } = await bodyOf(context);
    if (level !== null && !LOG_LEVELS.includes(level as LogLevel))
      throw new BadRequest(
        `"level" is ${JSON.stringify(level)}: expected ${LOG_LEVELS.join(", ")}, or null for a module that is to follow the log`,
      );
    if (level === null && module === undefined) throw new BadRequest('"level" is null: that is only for a "module"');
    return context.json(
      source.setLogLevel({
        module: optionalText(module, "module"),
        level: (level as LogLevel | null) ?? undefined,
        within: within === undefined ? undefined : duration(within),
      }),
    );
  });
  action("profile", async (context) => {
    const { seconds = 10 } = await bodyOf(context);
    if (typeof seconds !== "number" || !(seconds > 0 && seconds <= LONGEST_PROFILE))
      throw new BadRequest(
        `"seconds" is ${JSON.stringify(seconds)}: expected a number above 0 and up to ${LONGEST_PROFILE}`,
      );
    return context.body(await source.profile(seconds * 1_000), 200, CPU_PROFILE);
  });
  action("heap", async (context) => context.body(await source.heap(), 200, HEAP));
  app.all("/debug/*", (context) => context.json(refusal(`there is no ${context.req.method} ${context.req.path}`), 404));
  return app;
}

const ENDPOINTS = [
  "history",
  "runs",
  "process",
  "modules",
  "informers",
  "keys",
  "leases",
  "webhooks",
  "owners",
  "overview",
  "log",
  "stream",
];

/** A request with a wrong parameter or body. */
export class BadRequest extends Error {
  override readonly name = "BadRequest";
}

async function bodyOf(context: Context): Promise<Readonly<Record<string, unknown>>> {
  const body = await context.req.text();
  let value: unknown = {};
  try {
    if (body !== "") value = JSON.parse(body);
  } catch (error) {
    throw new BadRequest(`the body is not JSON: ${messageOf(error)}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new BadRequest("the body is not a JSON object");
  return value as Readonly<Record<string, unknown>>;
}

function text(value: unknown, name: string): string {
  if (typeof value !== "string" || value === "")
    throw new BadRequest(`"${name}" is missing, or no text: give a string that is not empty`);
  return value;
}

function optionalText(value: unknown, name: string): string | undefined {
  return value === undefined ? undefined : text(value, name);
}

function duration(value: unknown): number {
  try {
    return parseDuration(value as number | string as never, "for");
  } catch (error) {
    throw new BadRequest(messageOf(error));
  }
}

function query(context: Context, name: string): string | undefined {
  return context.req.query(name) || undefined;
}

function numberOf(context: Context, name: string, { most, otherwise }: { most: number; otherwise: number }): number {
  const value = query(context, name);
  if (value === undefined) return otherwise;
  if (!/^\d{1,9}$/.test(value)) throw new BadRequest(`?${name}=${value}: expected a number`);
  return Math.min(Number(value), most);
}

function keyFilter(context: Context): KeyFilter {
  const states = query(context, "state")?.split(",");
  const unknown = states?.find((state) => !KEY_STATES.includes(state as KeyStateName));
  if (unknown !== undefined) throw new BadRequest(`?state=${unknown}: the states are ${KEY_STATES.join(", ")}`);
  return {
    controller: query(context, "controller"),
    module: query(context, "module"),
    states: states as readonly KeyStateName[] | undefined,
    text: query(context, "key"),
    limit: numberOf(context, "limit", { most: MOST_KEYS, otherwise: 500 }),
  };
}

function objectQuery(context: Context): ObjectQuery {
  const [kind, name] = [query(context, "kind"), query(context, "name")];
  if (kind === undefined || name === undefined) throw new BadRequest("?kind= and ?name= are needed");
  return { kind, name, namespace: query(context, "namespace") };
}

function runQuery(context: Context): RunQuery {
  return {
    controller: query(context, "controller"),
    key: query(context, "key"),
    failed: query(context, "failed") === "true",
    limit: numberOf(context, "limit", { most: MOST_RUNS, otherwise: 100 }),
  };
}

function logFilter(context: Context): LogFilter {
  const level = query(context, "level");
  if (level !== undefined && !LOG_LEVELS.includes(level as LogLevel))
    throw new BadRequest(`?level=${level}: the levels are ${LOG_LEVELS.join(", ")}`);
  return {
    level: level as LogLevel | undefined,
    module: query(context, "module"),
    controller: query(context, "controller"),
    key: query(context, "key"),
    text: query(context, "text"),
  };
}

function logAnswer(context: Context, source: DebugSource): Response {
  return context.json({ lines: linesOf(context, source) });
}

function linesOf(context: Context, source: DebugSource): readonly LogLineAnswer[] {
  return source.log(logFilter(context), numberOf(context, "limit", { most: MOST_LINES, otherwise: 200 }));
}

function wantsEvents(context: Context): boolean {
  return context.req.header("accept")?.includes("text/event-stream") === true;
}

function logStream(context: Context, source: DebugSource): Response {
  const filter = logFilter(context);
  const lines = linesOf(context, source);
  return events(context, (push) => {
    push(lines.map((line) => eventText("line", line)).join(""));
    return source.onLine(filter, (line) => push(eventText("line", line)));
  });
}

function overviewStream(context: Context, source: DebugSource): Response {
  return events(context, (push) => {
    const following = new DisposableStack();
    following.use(source.onSecond((overview) => push(eventText("overview", overview))));
    following.use(
      source.onRun(({ id, controller, key, at, duration, outcome }) =>
        push(eventText("run", { id, controller, key, at, duration, outcome })),
      ),
    );
    return following;
  });
}

/** The most chunks that wait for a client; a slower one is cut off, and may connect again. */
const MOST_WAITING = 2_000;
/** Milliseconds between the comments that show that the connection lives. */
const ALIVE_EVERY = 15_000;

/** An event as server-sent events are written. */
function eventText(event: string, data: object): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Sends the chunks that `begin` pushes, from then on until the client has gone. */
function events(context: Context, begin: (push: (chunk: string) => void) => Disposable): Response {
  return streamSSE(context, async (stream) => {
    const over = Promise.withResolvers<void>();
    const waiting: string[] = [];
    let isWriting = false;
    const write = async (): Promise<void> => {
      if (isWriting) return;
      isWriting = true;
      while (waiting.length > 0 && !stream.aborted) await stream.write(waiting.splice(0).join(""));
      isWriting = false;
    };
    const push = (chunk: string): void => {
      if (waiting.length >= MOST_WAITING) over.resolve();
      else waiting.push(chunk);
      void write();
    };
    stream.onAbort(() => over.resolve());
    push(": \n\n"); // the client learns at once that it is connected
    using _following = begin(push);
    const alive = setInterval(() => push(": \n\n"), ALIVE_EVERY);
    await over.promise;
    clearInterval(alive);
  });
}
