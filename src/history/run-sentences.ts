/** Tells a recorded run in sentences. */
import type {
  CauseAnswer,
  Change,
  ChangedBy,
  ObjectRef,
  RequestAnswer,
  RunAnswer,
  StatusAnswer,
} from "./run-answer.ts";
import { readableAge, readableMillis } from "../observe/readable-units.ts";

/** The most changes of one place that are written out. */
const MOST_CHANGES = 8;
/** The most characters of a value. */
const LONGEST_VALUE = 60;
/** The most runs of a chain of causes that are told. */
const MOST_LINKS = 10;

/** The lines of the runtime about each run, which only repeat what is told anyway. */
const OWN_LINE = /^(?:Reconciled|Reconcile failed|Parked .*: not retried until something about it changes)$/;

export interface TellingOptions {
  /** Finds a run by its id; `undefined` when it is not recorded any more. */
  readonly runOf: (id: string) => RunAnswer | undefined;
  /** Whether to name the replica of each run. */
  readonly isShared: boolean;
}

/** Returns the lines about a run: when, why, what it did, and what comes next. */
export function runLines(run: RunAnswer, options: TellingOptions): readonly string[] {
  return [
    headline(run, options),
    ...labelled("because", causeLines(run, options)),
    ...labelled("did", deedLines(run)),
    ...labelled(
      "said",
      run.log
        .filter(({ message }) => !OWN_LINE.test(message))
        .map(({ level, message, fields }) => `${level}: ${message}${fieldsText(fields)}`),
    ),
    ...labelled("then", [outcomeText(run)]),
  ];
}

function headline(
  { at, replica, controller, key, phase, duration, attempt, waited }: RunAnswer,
  { isShared }: TellingOptions,
): string {
  const what = phase === "reconcile" ? "" : ` (${phase})`;
  const which = attempt > 1 ? `, attempt ${attempt}` : "";
  const where = isShared ? ` on ${replica}` : "";
  const late = waited >= 100 ? `, after ${readableAge(waited)} in the queue` : "";
  const time = duration === undefined ? "is running" : `ran ${readableMillis(duration)}`;
  return `${clockTime(at)}  ${controller} ${key}${what} ${time}${which}${late}${where}`;
}

function labelled(label: string, lines: readonly string[]): readonly string[] {
  return lines.map((line, index) => `  ${(index === 0 ? label : "").padEnd(8)}${line}`);
}

function causeLines(run: RunAnswer, options: TellingOptions): readonly string[] {
  const { causes } = run;
  if (causes.length === 0) return ["the cause is no longer known"];
  return causes.flatMap((cause) => {
    const lines = [causeText(cause)];
    let link = cause.run === undefined ? undefined : options.runOf(cause.run.id);
    const told = new Set([run.id]);
    for (let depth = 1; link !== undefined && depth <= MOST_LINKS && !told.has(link.id); depth++) {
      told.add(link.id);
      const indent = "  ".repeat(depth);
      lines.push(
        `${indent}in the run of ${link.controller} ${link.key} at ${clockTime(link.at)}, because ${causeText(link.causes[0])}`,
      );
      const further = link.causes.slice(1).map((one) => `${indent}  and ${causeText(one)}`);
      lines.push(...further);
      const next = link.causes.find(({ run: ref }) => ref !== undefined)?.run;
      link = next === undefined ? undefined : options.runOf(next.id);
    }
    return lines;
  });
}

/** Tells one cause: `Deployment default/web was changed by kubectl-edit: spec.replicas 2 → 7`. */
function causeText(cause: CauseAnswer | undefined): string {
  if (cause === undefined) return "the cause is no longer known";
  const { object } = cause;
  if (object === undefined) return sourceText(cause);
  return `${objectText(object)} ${eventText(cause)}${changesText(cause.changes, cause.more)}`;
}

/** What happened to the object of a cause, and who did it, such as `was changed by kubectl-edit`. */
export function eventText({ type, by, run }: Pick<CauseAnswer, "type" | "by" | "run">): string {
  const who = run === undefined ? byText(by) : ` by controller ${run.controller}`;
  // A process sees objects for the first time when it starts, too: nobody has just created them.
  if (type === "create") return `was seen for the first time${who === "" ? "" : `, as written${who}`}`;
  return `${VERBS[type] ?? `had the event ${type}`}${who}`;
}

/** What a cause without an object means. */
export function sourceText({ source, type }: Pick<CauseAnswer, "source" | "type">): string {
  return SOURCES[source] ?? (type === "generic" ? source : `${source} ${type}`);
}

/** What causes without an object mean. */
const SOURCES: Readonly<Record<string, string>> = {
  retry: "the last run failed and is tried again",
  requeue: "the last run asked for it (requeueAfter)",
  "by request": "somebody asked for it",
  reload: "a new version of the module was loaded",
  leadership: "this process became the leader",
  shards: "this replica took the key over",
};

const VERBS: Readonly<Record<string, string>> = {
  update: "was changed",
  delete: "was deleted",
  generic: "had an event",
};

/** The writer of a change, beginning with ` by `; empty when nobody knows it. */
function byText(by: ChangedBy | undefined): string {
  if (by === undefined || by.manager === "") return "";
  const how = by.operation === "Apply" ? " (server-side apply)" : "";
  return ` by ${by.manager}${by.subresource === undefined || by.subresource === "" ? "" : ` (${by.subresource})`}${how}`;
}

function deedLines({ children, requests, status, finalizer, events, reads, truncated }: RunAnswer): readonly string[] {
  const lines: string[] = [];
  if (finalizer !== undefined) lines.push(`${finalizer} the finalizer`);
  for (const { object, action, changes, more, error } of children) {
    if (action === "unchanged") continue;
    lines.push(
      `${action} child ${objectText(object)}${changesText(changes, more)}${error === undefined ? "" : `: ${error}`}`,
    );
  }
  const kept = children.filter(({ action }) => action === "unchanged").length;
  if (kept > 0)
    lines.push(`left ${kept} ${kept === 1 ? "child" : "children"} as ${kept === 1 ? "it was" : "they were"}`);
  if (status !== undefined) {
    const other = otherChanges(status);
    const parts = [...conditionTexts(status), ...other.slice(0, MOST_CHANGES).map(changeText)];
    lines.push(parts.length === 0 ? "wrote the status" : `status: ${parts.join("; ")}`);
  }
  for (const request of requests) {
    // What the runtime has written is told above, as children and status.
    if (request.by === "author" || isRefused(request)) lines.push(requestText(request));
  }
  for (const { type, reason, message } of events) lines.push(`event ${type} ${reason}: ${message}`);
  const fromServer = reads.filter(({ from }) => from === "server");
  for (const { verb, kind, key, count } of fromServer)
    lines.push(
      `read ${kind.kind}${key === undefined ? "" : ` ${key}`} from the server (${verb}${count > 1 ? `, ${count} times` : ""})`,
    );
  if (lines.length === 0) lines.push("nothing: everything was as it should be");
  if (truncated === true) lines.push("... and more, which was not recorded");
  return lines;
}

/** Whether a request had no answer, or one other than success. */
export function isRefused({ status }: Pick<RequestAnswer, "status">): boolean {
  return status === 0 || status >= 300;
}

/** Tells a request: `patch ConfigMap default/web: data.a 1 → 2, 3.1 ms`. */
export function requestText(request: RequestAnswer): string {
  const { verb, object, subresource = "", status, reason, error, duration, dryRun, changes, more } = request;
  const what = `${dryRun === true ? "tried to " : ""}${verb} ${objectText(object)}${subresource === "" ? "" : `/${subresource}`}`;
  const answer = isRefused(request)
    ? `: ${error ?? reason ?? "no answer"}${status === 0 ? "" : ` (${status})`}`
    : changesText(changes, more);
  return `${what}${answer}, ${readableMillis(duration)}`;
}

/** The conditions that a run has set: `Ready False → True (AllReady)`, `Ready stays True`. */
export function conditionTexts({ conditions }: StatusAnswer): readonly string[] {
  return conditions.map(({ type, status, reason, was }) =>
    was === status
      ? `${type} stays ${status}`
      : `${type} ${was === undefined ? "becomes" : `${was} →`} ${status}${reason === undefined ? "" : ` (${reason})`}`,
  );
}

/** The changes of a status beside its conditions. */
export function otherChanges({ changes }: StatusAnswer): readonly Change[] {
  return changes.filter(({ path }) => !/(?:^|\.)conditions\b/.test(path));
}

export function outcomeText({ outcome, duration }: RunAnswer): string {
  if (outcome === undefined) return duration === undefined ? "it is still under way" : "it ended";
  const { result, error, after, next } = outcome;
  const again =
    next === undefined
      ? after === undefined
        ? ""
        : `, again after ${readableAge(after)}`
      : `, again at ${clockTime(next)}`;
  return `${RESULTS[result]}${error === undefined ? "" : `: ${error}`}${again}`;
}

const RESULTS: Readonly<Record<NonNullable<RunAnswer["outcome"]>["result"], string>> = {
  success: "success",
  requeueAfter: "success",
  error: "it failed",
  retry: "it asked to be retried",
  parked: "the key is parked, and not retried until something about it changes or somebody runs `binnacle retry`",
  cancelled: "it was cancelled",
  unreachable: "the API server could not be reached",
  deferred: "it was put off",
};

export function objectText({ kind, namespace, name }: ObjectRef): string {
  return `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`;
}

function changesText(changes: readonly Change[] | undefined, more = 0): string {
  if (changes === undefined || changes.length === 0) return "";
  const rest = changes.length - MOST_CHANGES + more;
  return `: ${changes.slice(0, MOST_CHANGES).map(changeText).join("; ")}${rest > 0 ? `; and ${rest} more` : ""}`;
}

function changeText(change: Change): string {
  const { path } = change;
  if (!("old" in change) || change.old === undefined) return `${path} ${valueText(change.new)} added`;
  if (!("new" in change) || change.new === undefined) return `${path} ${valueText(change.old)} removed`;
  return `${path} ${valueText(change.old)} → ${valueText(change.new)}`;
}

/** A value in a few characters. */
export function valueText(value: unknown): string {
  const text = typeof value === "string" && /^[\w./:@+-]+$/.test(value) ? value : JSON.stringify(value);
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text;
}

function fieldsText(fields: Readonly<Record<string, unknown>>): string {
  const known = new Set(["module", "controller", "key", "attempt"]);
  return Object.entries(fields)
    .filter(([name]) => !known.has(name))
    .map(([name, value]) => ` ${name}=${valueText(value)}`)
    .join("");
}

function clockTime(at: string): string {
  const date = new Date(at);
  const two = (part: number): string => String(part).padStart(2, "0");
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, "0")}`;
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? time : `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`;
}
