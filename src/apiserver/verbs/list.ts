/** GET of one object and of many. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Fields } from "../hooks.ts";
import { keyOf, viewOf } from "../registry/resource.ts";
import { answerJson } from "../request/answer.ts";
import { jsonProblem } from "../request/json-problem.ts";
import { listOptions, type ListOptions, versionNumber } from "../request/query.ts";
import { selection } from "../request/selectors.ts";
import { badRequest, expired, notFound, StatusError } from "../status.ts";
import type { Stored } from "../storage/stored.ts";
import type { Storage } from "../storage/storage.ts";
import type { Exchange } from "./exchange.ts";
import { formOf } from "./forms.ts";
import { watch } from "./watch.ts";

export async function get(exchange: Exchange): Promise<Response> {
  const { kernel, resource, target, query, request, accept, warnings } = exchange;
  const asked = versionNumber(query.get("resourceVersion") ?? "");
  if (asked !== undefined) await reached(kernel.storage, asked);
  await kernel.storage.settled();
  const form = formOf(exchange);
  const stored = resource.collection.get(keyOf(resource, target.namespace, target.name));
  if (stored === undefined) throw notFound(resource.row, target.name);
  const view = await viewOf(resource, stored, target.subresource);
  return answerJson(request, form.one(view), { warnings, yaml: accept.yaml });
}

export async function list(exchange: Exchange): Promise<Response> {
  const { kernel, resource, target, query, request, accept, warnings } = exchange;
  const options = listOptions(target.watchPath ? withWatch(query) : query);
  if (options.watch) return watch(exchange, options);
  const { test, name } = selection(resource, options);
  const form = formOf(exchange);
  const asked = options.continue === "" ? versionNumber(options.resourceVersion) : undefined;
  if (asked !== undefined && asked > kernel.storage.version) await reached(kernel.storage, asked);
  await kernel.storage.settled();
  const place = placeOf(exchange, options);
  const inside = within(place.objects, resource.row.namespaced ? target.namespace : "");
  const start = place.start === undefined ? 0 : indexAfter(inside, place.start);
  const views = await resource.view(start === 0 ? inside : inside.slice(start));
  // Any version will do: that is answered from memory, and whole.
  const limit = options.limit > 0 && options.resourceVersion !== "0" ? options.limit : Infinity;
  const found: Stored[] = [];
  let at = 0;
  if (test === undefined) {
    found.push(...(views.length > limit ? views.slice(0, limit) : views));
    at = found.length;
  } else {
    for (; at < views.length && found.length < limit; at += 1) {
      const view = views[at];
      if (view === undefined || (name !== undefined && view.object.metadata.name !== name)) continue;
      if (test(view.object)) found.push(view);
    }
  }
  const metadata: Fields = { resourceVersion: String(place.version) };
  const last = views[at - 1];
  const isMore = test === undefined ? at < views.length : views.slice(at).some(({ object }) => test(object));
  if (isMore && last !== undefined) {
    metadata["continue"] = token(place.isConsistent ? place.version : -1, last.key);
    if (test === undefined) metadata["remainingItemCount"] = views.length - at;
  }
  return answerJson(request, form.list(found, metadata), { warnings, yaml: accept.yaml });
}

function withWatch(query: URLSearchParams): URLSearchParams {
  const changed = new URLSearchParams(query);
  changed.set("watch", "true");
  return changed;
}

interface Place {
  readonly objects: readonly Stored[];
  /** What the list says it is at. */
  readonly version: number;
  /** The key after which it goes on. */
  readonly start: string | undefined;
  /** Pages after this one show the same state. */
  readonly isConsistent: boolean;
}

function placeOf({ kernel: { storage }, resource: { collection } }: Exchange, options: ListOptions): Place {
  const now = { objects: collection.all(), version: storage.version, start: undefined, isConsistent: true };
  if (options.continue !== "") {
    const { version, start } = readToken(options.continue);
    if (options.resourceVersion !== "" && options.resourceVersion !== "0")
      throw badRequest("specifying resource version is not allowed when using continue");
    if (version < 0) return { ...now, start, isConsistent: false };
    if (version < collection.history.compacted) throw tooOldToContinue(start);
    return { objects: collection.allAt(version), version, start, isConsistent: true };
  }
  const asked = versionNumber(options.resourceVersion);
  if (asked === undefined || asked === 0) return now;
  const isExact =
    options.resourceVersionMatch === "Exact" || (options.resourceVersionMatch === "" && options.limit > 0);
  if (!isExact) return now;
  if (asked < collection.history.compacted) throw expired("The resourceVersion for the provided list is too old.");
  return { ...now, objects: collection.allAt(asked), version: asked };
}

/** Milliseconds for which a request waits for a version of the future: another write may bring it. */
const patience = 3000;

/** @throws StatusError 504 */
async function reached(storage: Storage, asked: number): Promise<void> {
  const until = performance.now() + patience;
  while (storage.version < asked && performance.now() < until) await sleep(10);
  const { version } = storage;
  if (asked <= version) return;
  throw new StatusError(504, "Timeout", {
    message: `Timeout: Too large resource version: ${asked}, current: ${version}`,
    details: {
      causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
      retryAfterSeconds: 1,
    },
  });
}

/** The part of a list that is in a namespace; all of it when there is none. */
function within(objects: readonly Stored[], namespace: string): readonly Stored[] {
  if (namespace === "") return objects;
  const from = firstAtLeast(objects, `${namespace}/`);
  // "0" is the character after "/".
  const to = firstAtLeast(objects, `${namespace}0`);
  return objects.slice(from, to);
}

function firstAtLeast(objects: readonly Stored[], key: string): number {
  let low = 0;
  let high = objects.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((objects[middle]?.key ?? "") < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

function indexAfter(objects: readonly Stored[], key: string): number {
  const index = firstAtLeast(objects, key);
  return objects[index]?.key === key ? index + 1 : index;
}

function token(version: number, key: string): string {
  const content = JSON.stringify({ v: "meta.k8s.io/v1", rv: version, start: `${key}\0` });
  return Buffer.from(content).toString("base64url");
}

function readToken(text: string): { version: number; start: string } {
  const wrong = /[^A-Za-z0-9_-]/.exec(text)?.index ?? (text.length % 4 === 1 ? text.length - 1 : -1);
  const isRefused = (why: string): StatusError =>
    badRequest(`invalid continue token: continue key is not valid: ${why}`);
  if (wrong >= 0) throw isRefused(`illegal base64 data at input byte ${wrong}`);
  const bytes = Buffer.from(text, "base64url");
  const content = bytes.toString();
  const problem = jsonProblem(bytes.toString("latin1"));
  if (problem !== undefined) throw isRefused(problem);
  try {
    const { v, rv, start } = JSON.parse(content) as { v?: unknown; rv?: unknown; start?: unknown };
    if (v === "meta.k8s.io/v1" && typeof rv === "number" && typeof start === "string" && start !== "")
      return { version: rv, start: start.replace(/\0$/, "") };
  } catch {
    // said below
  }
  throw isRefused("incorrect encoded start resourceVersion 0 (version meta.k8s.io/v1)");
}

function tooOldToContinue(start: string): StatusError {
  const error = expired(
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.",
  );
  Object.assign(error.status.metadata, { continue: token(-1, start) });
  return error;
}
