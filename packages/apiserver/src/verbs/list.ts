/** GET of one object, and lists of collections. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Fields } from "../hooks.ts";
import { keyOf, type Resource, viewOf } from "../registry/resource.ts";
import { answerJson } from "../request/answer.ts";
import { checkExport, listOptions, type ListOptions, readVersion, versionNumber } from "../request/query.ts";
import { selection } from "../request/selectors.ts";
import { badRequest, expired, notFound, StatusError } from "../status.ts";
import type { Stored } from "../storage/stored.ts";
import type { Storage } from "../storage/storage.ts";
import { componentStatuses, isComputed } from "./component-statuses.ts";
import { type ContinueToken, continueToken, readContinueToken } from "./continue-token.ts";
import type { ApiCall } from "./api-call.ts";
import { formOf } from "./forms.ts";
import { watch } from "./watch.ts";

export async function get(call: ApiCall): Promise<Response> {
  const { kernel, resource, target, query, request, accept, warnings } = call;
  checkExport(query);
  // Single events are read from the storage itself.
  const isUncached = resource.row.plural === "events" && !resource.row.custom;
  const minimum = (isUncached ? versionNumber : readVersion)(query.get("resourceVersion") ?? "");
  if (minimum !== undefined) await reached(kernel.storage, minimum);
  await kernel.storage.settled();
  const form = formOf(call);
  const key = keyOf(resource, target.namespace, target.name);
  const stored = isComputed(resource)
    ? componentStatuses(kernel.storage).find((one) => one.key === key)
    : resource.collection.get(key);
  if (stored === undefined) throw notFound(calledAs(resource), target.name);
  const view = await viewOf(resource, stored, target.subresource);
  return answerJson(request, form.one(view), { warnings, media: accept.media });
}

/** Returns the name of a kind in the error about a missing object. */
function calledAs(resource: Resource): Resource["row"] {
  const { row } = resource;
  return isComputed(resource) ? { ...row, plural: "componentstatus" } : row;
}

export async function list(call: ApiCall): Promise<Response> {
  const { target, query, request, accept, warnings } = call;
  const options = listOptions(target.watchPath ? withWatch(query) : query);
  if (options.watch) return watch(call, options);
  const form = formOf(call);
  const { objects, metadata } = await pageOf(call, options);
  return answerJson(request, form.list(objects, metadata), { warnings, media: accept.media });
}

export interface Page {
  readonly objects: readonly Stored[];
  /** The list's own metadata. */
  readonly metadata: Fields;
}

/** Returns a page. @throws StatusError when the options are wrong or request a version that is not available. */
export async function pageOf(call: ApiCall, options: ListOptions): Promise<Page> {
  const { kernel, resource } = call;
  const { test, name } = selection(resource, options);
  kernel.storage.expire();
  const minimum = options.continue === "" ? versionNumber(options.resourceVersion) : undefined;
  if (minimum !== undefined) await reached(kernel.storage, minimum);
  const prefix = prefixOf(call);
  const token = options.continue === "" ? undefined : readContinueToken(options.continue, prefix);
  if (token !== undefined) await reached(kernel.storage, token.version);
  await kernel.storage.settled();
  const isOne = name !== undefined && (prefix !== "" || !resource.row.namespaced);
  const place = placeOf(call, { options, token, prefix, isOne });
  const inside = within(place.objects, prefix);
  const start = place.start === undefined ? 0 : indexAfter(inside, place.start);
  const views = await resource.view(start === 0 ? inside : inside.slice(start));
  // When any version will do, the complete list comes from memory.
  const limit = options.limit > 0 && options.resourceVersion !== "0" ? options.limit : Infinity;
  const page: Stored[] = [];
  let at = 0;
  if (test === undefined) {
    page.push(...(views.length > limit ? views.slice(0, limit) : views));
    at = page.length;
  } else {
    for (; at < views.length && page.length < limit; at += 1) {
      const view = views[at];
      if (view === undefined || (name !== undefined && view.object.metadata.name !== name)) continue;
      if (test(view.object)) page.push(view);
    }
  }
  // A list of computed objects has no version.
  const metadata: Fields = isComputed(resource) ? {} : { resourceVersion: String(place.version) };
  const last = views[at - 1];
  // The remaining objects count as more of the list whether or not they are selected.
  const isMore = !(isOne && options.continue === "") && at < views.length;
  if (isMore && last !== undefined) {
    const version = place.isConsistent ? place.version : -1;
    metadata["continue"] = continueToken({ version, start: last.key }, prefix);
    if (test === undefined) metadata["remainingItemCount"] = views.length - at;
  }
  return { objects: page, metadata };
}

/** Returns the common prefix of all keys of the list. */
function prefixOf({ resource: { row }, target: { namespace } }: ApiCall): string {
  return row.namespaced && namespace !== "" ? `${namespace}/` : "";
}

function withWatch(query: URLSearchParams): URLSearchParams {
  const changed = new URLSearchParams(query);
  changed.set("watch", "true");
  return changed;
}

interface Place {
  readonly objects: readonly Stored[];
  /** The version that the list reports. */
  readonly version: number;
  /** The key after which the list continues. */
  readonly start: string | undefined;
  /** Whether later pages show the same state. */
  readonly isConsistent: boolean;
}

interface PlaceOptions {
  readonly options: ListOptions;
  readonly token: ContinueToken | undefined;
  readonly prefix: string;
  /** Whether the selectors select one object, which is read by its key. */
  readonly isOne: boolean;
}

function placeOf({ kernel: { storage }, resource }: ApiCall, { options, token, prefix, isOne }: PlaceOptions): Place {
  const { collection } = resource;
  const present = isComputed(resource) ? componentStatuses(storage) : collection.all();
  const now = { objects: present, version: storage.version, start: undefined, isConsistent: true };
  if (token !== undefined) {
    const { version, start } = token;
    if (options.resourceVersion !== "" && options.resourceVersion !== "0")
      throw badRequest("specifying resource version is not allowed when using continue");
    if (version < 0) return { ...now, start, isConsistent: false };
    if (storage.isExpired(collection, version)) throw tooOldToContinue(start, prefix);
    return { objects: collection.allAt(version), version, start, isConsistent: true };
  }
  const minimum = versionNumber(options.resourceVersion);
  if (minimum === undefined || minimum === 0) return now;
  const isExact =
    options.resourceVersionMatch === "Exact" ||
    (options.resourceVersionMatch === "" && (options.limit > 0 || options.isPaged === true) && !isOne);
  if (!isExact) return now;
  if (storage.isExpired(collection, minimum)) throw expired("The resourceVersion for the provided list is too old.");
  return { ...now, objects: collection.allAt(minimum), version: minimum };
}

/** Milliseconds for which a request waits for a future version, which another write may reach. */
const patience = 3000;

/** Waits for the version. @throws StatusError 504 */
async function reached(storage: Storage, minimum: number): Promise<void> {
  const until = performance.now() + patience;
  while (storage.version < minimum && performance.now() < until) await sleep(10);
  const { version } = storage;
  if (minimum <= version) return;
  throw new StatusError(504, "Timeout", {
    message: `Timeout: Too large resource version: ${minimum}, current: ${version}`,
    details: {
      causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
      retryAfterSeconds: 1,
    },
  });
}

/** Returns the part of a list in one namespace; the whole list without a prefix. */
function within(objects: readonly Stored[], prefix: string): readonly Stored[] {
  if (prefix === "") return objects;
  const from = firstAtLeast(objects, prefix);
  // "0" is the character after "/".
  const to = firstAtLeast(objects, `${prefix.slice(0, -1)}0`);
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

function tooOldToContinue(start: string, prefix: string): StatusError {
  const error = expired(
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.",
  );
  Object.assign(error.status.metadata, { continue: continueToken({ version: -1, start }, prefix) });
  return error;
}
