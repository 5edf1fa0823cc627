/** Serves watches of collections. */
import type { Fields } from "../hooks.ts";
import { parseJson } from "../numbers.ts";
import { encodeEvent, encodeProtobuf } from "../protobuf/encode.ts";
import type { Media } from "../request/accept.ts";
import type { ListOptions } from "../request/query.ts";
import { readVersion } from "../request/query.ts";
import { selection } from "../request/selectors.ts";
import { expired, StatusError } from "../status.ts";
import { type EventType, Stored, type StoreEvent } from "../storage/stored.ts";
import { builtInSchema } from "../tables/tables.ts";
import type { ApiCall } from "./api-call.ts";
import { bookmark, type Form, formOf } from "./forms.ts";
import { WatchStream } from "./watch-stream.ts";

/** The interval between bookmarks in milliseconds. */
const bookmarkInterval = 60_000;
/** The last bookmark is sent this many seconds before the end. */
const lastBookmark = 2;

export async function watch(call: ApiCall, options: ListOptions): Promise<Response> {
  const { kernel, resource, target, request, warnings } = call;
  const { storage } = kernel;
  const { collection } = resource;
  const { test } = selection(resource, options);
  await storage.settled();
  const start = readVersion(options.resourceVersion) ?? 0;
  const form = formOf(call);
  checkStreamable(call);
  const line = lineIn(call.accept.media);
  const namespace = resource.row.namespaced ? target.namespace : "";
  const prefix = namespace === "" ? "" : `${namespace}/`;
  const isInside = ({ key }: Stored): boolean => {
    if (target.name !== "") return key === `${prefix}${target.name}`;
    return prefix === "" || key.startsWith(prefix);
  };
  const seconds = options.timeoutSeconds ?? 1800 + Math.random() * 1800;
  const stream = new WatchStream({
    signal: AbortSignal.any([request.signal, kernel.stopping]),
    seconds,
    beginsAtOnce: call.connection.holdsHeaders === true,
    isMute: call.accept.isListForm,
    media: call.accept.media,
  });
  const answer = stream.response(warnings);

  if (start > 0 && options.sendInitialEvents === undefined && start < collection.history.compacted) {
    const { status } = expired(`too old resource version: ${start} (${collection.history.compacted})`);
    stream.write(lineIn(call.accept.media)("ERROR", JSON.stringify(status)));
    stream.end();
    return answer;
  }

  const watcher = new Watcher({ call, form, stream, test });
  let from = start;
  const isFromAnywhere = options.resourceVersion === "" || start === 0;
  // A watch without a version begins with the state, as if initial events had been requested.
  const wantsState = options.sendInitialEvents ?? (isFromAnywhere && options.resourceVersionMatch === "");
  if (wantsState) {
    from = Math.max(start, storage.version);
    const inside = collection.all().filter(isInside);
    const views = await resource.view(inside);
    for (const view of views) if (test?.(view.object) ?? true) stream.write(line("ADDED", form.event(view)));
  } else if (isFromAnywhere) {
    from = storage.version;
  }
  // A conversion may have taken time; events since then are in the history.
  for (const event of collection.history.after(from)) if (isInside(event.stored)) watcher.take(event);
  const mark = (version: number, isEnd: boolean): string | Uint8Array =>
    line("BOOKMARK", form.event(bookmark(call, { version, isEnd })));
  if (wantsState && options.allowWatchBookmarks) stream.write(mark(Math.max(from, storage.version), true));
  const stop = collection.listen((event) => {
    if (event.version > from && isInside(event.stored)) watcher.take(event);
  });
  const markNow = (): void => stream.write(mark(storage.version, false));
  const bookmarks = options.allowWatchBookmarks ? setInterval(markNow, bookmarkInterval) : undefined;
  const untilLast = (seconds - lastBookmark) * 1000;
  const last = options.allowWatchBookmarks && untilLast > bookmarkInterval ? setTimeout(markNow, untilLast) : undefined;
  stream.onEnd(() => {
    stop();
    clearInterval(bookmarks);
    clearTimeout(last);
  });
  resource.retired?.addEventListener("abort", () => stream.end(), { once: true });
  return answer;
}

/** Checks the form. @throws StatusError 406 for one that cannot be streamed */
function checkStreamable({ accept }: ApiCall): void {
  if (accept.media !== "yaml") return;
  const types = "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";
  throw new StatusError(406, "NotAcceptable", { message: `only the following media types are accepted: ${types}` });
}

type Line = (type: EventType | "BOOKMARK" | "ERROR", object: string) => string | Uint8Array;

/** Returns the function that encodes an event from the JSON of its object. */
function lineIn(media: Media): Line {
  if (media !== "protobuf") return (type, object) => `{"type":"${type}","object":${object}}\n`;
  return (type, object) => {
    const bytes = encodeProtobuf(parseJson(object) as Fields, builtInSchema);
    if (bytes === undefined) throw new Error("an event without a form in protobuf");
    return encodeEvent(type, bytes);
  };
}

interface WatcherOptions {
  readonly call: ApiCall;
  readonly form: Form;
  readonly stream: WatchStream;
  readonly test: ((object: Stored["object"]) => boolean) | undefined;
}

const encoder = new TextEncoder();

/** The bytes of events in their usual form, which all watchers share. */
const usualLines: Readonly<Record<Media, WeakMap<StoreEvent, Uint8Array>>> = {
  json: new WeakMap(),
  yaml: new WeakMap(),
  protobuf: new WeakMap(),
};

class Watcher {
  readonly #options: WatcherOptions;
  readonly #line: Line;
  readonly #usualLines: WeakMap<StoreEvent, Uint8Array>;
  /** Set while a conversion is under way, so that events stay in order. */
  #queue: Promise<void> | undefined;

  constructor(options: WatcherOptions) {
    this.#options = options;
    const { media } = options.call.accept;
    this.#line = lineIn(media);
    this.#usualLines = usualLines[media];
  }

  take(event: StoreEvent): void {
    if (this.#queue !== undefined) {
      this.#queue = this.#queue.then(() => this.#convert(event));
      return;
    }
    const { resource } = this.#options.call;
    const views = resource.view([event.stored, ...(event.previous === undefined ? [] : [event.previous])]);
    if (views instanceof Promise) {
      const queue = this.#convert(event).finally(() => {
        if (this.#queue === queue) this.#queue = undefined;
      });
      this.#queue = queue;
      return;
    }
    this.#send(event, views[0] ?? event.stored, views[1]);
  }

  async #convert(event: StoreEvent): Promise<void> {
    const { call, stream } = this.#options;
    try {
      const previous = event.previous === undefined ? [] : [event.previous];
      const views = await call.resource.view([event.stored, ...previous]);
      this.#send(event, views[0] ?? event.stored, views[1]);
    } catch {
      // Without its converter the kind cannot be watched. The client lists again, and the list reports the error.
      stream.end();
    }
  }

  #send(event: StoreEvent, view: Stored, previous: Stored | undefined): void {
    const { form, stream, test } = this.#options;
    if (test !== undefined) {
      const matched = previous !== undefined && test(previous.object);
      const matches = event.type !== "DELETED" && test(view.object);
      if (!matched && !matches) return;
      const type = matches ? (matched ? "MODIFIED" : "ADDED") : "DELETED";
      // An object that left the selection is shown in its last matching state, with the version of the change.
      const state = matches || event.type === "DELETED" || previous === undefined ? view : withVersion(previous, view);
      stream.write(this.#line(type, form.event(state)));
      return;
    }
    if (!form.isPlain || view !== event.stored) {
      stream.write(this.#line(event.type, form.event(view)));
      return;
    }
    let bytes = this.#usualLines.get(event);
    if (bytes === undefined) {
      const line = this.#line(event.type, view.json);
      bytes = typeof line === "string" ? encoder.encode(line) : line;
      this.#usualLines.set(event, bytes);
    }
    stream.write(bytes);
  }
}

function withVersion(stored: Stored, { version }: Stored): Stored {
  const { object } = stored;
  const metadata = { ...object.metadata, resourceVersion: String(version) };
  return new Stored(stored.key, version, { object: { ...object, metadata } });
}
