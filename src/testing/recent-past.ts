/**
 * Describes the recent past of a cluster: the requests, the changes, and the present objects. It covers the last
 * second, and the whole time of an `eventually` that failed.
 */
import { stringify } from "yaml";
import type { Journal, ServerObject, RecordedRequest } from "./journal.ts";
import { forgetFailures, lookingBackTo } from "./looking-back.ts";

/** A report with more objects would be hard to read. */
const MOST_OBJECTS = 8;
/** The number of lines of the beginning that are shown, where mistakes usually happen, and of the end. */
const FIRST_LINES = 20;
const LAST_LINES = 40;

/** The journals of running clusters, and the reports of stopped ones. Empty unless requested. */
const open = new Set<Journal>();
const ended: string[] = [];
let wanted = false;

/** Keeps the reports of clusters that stop for {@link recentPast}, from now on. */
export function keepRecentPast(): void {
  wanted = true;
}

export function follow(journal: Journal): void {
  if (wanted) open.add(journal);
}

export function unfollow(journal: Journal): void {
  if (open.delete(journal)) ended.push(describe(journal));
}

/** Returns the report for a test that has just failed; `undefined` when nothing happened. */
export function recentPast(): string | undefined {
  const all = [...ended.splice(0), ...[...open].map(describe)].filter((text) => text !== "");
  forgetFailures();
  return all.length === 0 ? undefined : all.join("\n");
}

function describe(journal: Journal): string {
  const now = performance.now();
  const since = lookingBackTo();
  // Objects that modules received or the test wrote come first.
  const objects = new Map<string, ServerObject>();
  const others = new Map<string, ServerObject>();
  const lines: { readonly at: number; readonly text: string }[] = [];
  for (const { at, type, object } of journal.events) {
    if (isHousekeeping(object) || (object.kind === "CustomResourceDefinition" && type === "MODIFIED")) continue;
    keep(objects, object);
    lines.push({ at, text: `${type.padEnd(9)}${nameOf(object)} @${object.metadata?.resourceVersion}` });
  }
  for (const request of journal.requests) {
    const answer = parse(request.answer) ?? {};
    if (isHousekeeping(answer) || /\/namespaces\/kube-/.test(request.path) || isRegistration(request)) continue;
    if (request.code < 300) keep(request.by === "test" ? objects : others, answer);
    lines.push({ at: request.at, text: requestLine(request, answer) });
  }
  for (const [id, object] of others) if (objects.has(id)) keep(objects, object);
  const all = [...objects.values(), ...[...others].filter(([id]) => !objects.has(id)).map(([, object]) => object)];
  if (lines.length === 0) return "";
  const texts = lines
    .sort((a, b) => a.at - b.at)
    .map(({ at, text }) => `  ${`-${Math.round(now - at)}`.padStart(5)} ms  ${text}`);
  const left = texts.length - FIRST_LINES - LAST_LINES;
  if (left > 0) texts.splice(FIRST_LINES, left, `  ${left} more`);
  const manifests = all.slice(0, MOST_OBJECTS).map((object) => indented(stringify(slim(object))));
  const more = all.slice(MOST_OBJECTS).map(nameOf);
  return [
    `Requests and events of the last ${span(now - since)}:`,
    ...texts,
    ...(manifests.length === 0 ? [] : ["Objects that changed in it:", manifests.join("  ---\n")]),
    ...(more.length === 0 ? [] : [`  and ${more.join(", ")}`]),
  ].join("\n");
}

function span(ms: number): string {
  return ms < 1_100 ? "second" : `${(ms / 1_000).toFixed(1)} s`;
}

/** Keeps the newest version of an object; Events have lines of their own. */
function keep(objects: Map<string, ServerObject>, object: ServerObject): void {
  const id = object.metadata?.uid;
  if (id === undefined || object.kind === "Event" || object.kind === "CustomResourceDefinition") return;
  if (version(objects.get(id)) <= version(object)) objects.set(id, object);
}

/** Whether a module's runtime registers a webhook, or takes it back when the module stops, and succeeds. */
function isRegistration({ path, by, code }: RecordedRequest): boolean {
  return code < 300 && (by === "binnacle-gives-back" || /webhookconfigurations\/binnacle-test-/.test(path));
}

/** Whether every cluster creates the object for itself. */
function isHousekeeping({ kind = "", metadata }: ServerObject): boolean {
  return (
    ["Lease", "Node"].includes(kind) ||
    (kind.endsWith("WebhookConfiguration") && metadata?.name?.startsWith("binnacle-test-") === true) ||
    metadata?.namespace?.startsWith("kube-") === true ||
    (kind === "ServiceAccount" && metadata?.name === "default") ||
    metadata?.name === "kube-root-ca.crt"
  );
}

function requestLine({ method, path, by, code }: RecordedRequest, answer: ServerObject): string {
  if (code === 0) return `${method} ${path}, ${by}`;
  const { type, reason, note, message } = answer as Readonly<Record<string, string | undefined>>;
  if (answer.kind === "Event" && code < 300) return `Event ${type} ${reason} by ${by}: ${note ?? message}`;
  return `${method} ${path} by ${by}: ${code}${code >= 400 ? ` ${message ?? ""}` : ""}`;
}

function nameOf({ kind = "", metadata }: ServerObject): string {
  return `${kind} ${metadata?.namespace === undefined ? "" : `${metadata.namespace}/`}${metadata?.name ?? ""}`;
}

function version(object: ServerObject | undefined): number {
  return Number(object?.metadata?.resourceVersion ?? -1);
}

/** Removes fields that nobody reads, and the values of Secrets. */
function slim(object: ServerObject): object {
  const { metadata, ...rest } = object as ServerObject & { readonly data?: object; readonly stringData?: object };
  const { managedFields: _, ...meta } = metadata as Record<string, unknown>;
  const hidden =
    object.kind === "Secret" && rest.data !== undefined
      ? { data: Object.fromEntries(Object.keys(rest.data).map((key) => [key, "…"])) }
      : {};
  const { apiVersion, kind, ...body } = rest;
  return { apiVersion, kind, metadata: meta, ...body, ...hidden };
}

function indented(text: string): string {
  return text.replaceAll(/^(?=.)/gm, "  ");
}

function parse(text: string): ServerObject | undefined {
  try {
    return JSON.parse(text) as ServerObject;
  } catch {
    return undefined;
  }
}
