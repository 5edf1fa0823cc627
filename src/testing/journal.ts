/** Records the recent requests and changes at an API server, for users who examine a failed test. */
import { lookingBackTo } from "./looking-back.ts";
import { targetOf } from "./request-target.ts";

/** The maximum number of entries of each kind for a long wait; the newest are kept. */
const MOST_ENTRIES = 20_000;

export interface ServerObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: {
    readonly name?: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
  };
}

/** A request that changed something, or was rejected. */
export interface RecordedRequest {
  /** A time of `performance.now()`. */
  readonly at: number;
  readonly method: string;
  readonly path: string;
  /** The field manager, otherwise the program. */
  readonly by: string;
  readonly code: number;
  readonly answer: string;
}

/** A piece of a watch. */
interface RecordedChunk {
  readonly at: number;
  readonly bytes: Uint8Array;
}

export interface RecordedEvent {
  readonly at: number;
  readonly type: string;
  readonly object: ServerObject;
}

export class Journal {
  readonly #requests: RecordedRequest[] = [];
  readonly #chunks: RecordedChunk[] = [];

  /** Forwards requests and records those that write. */
  through(answer: (request: Request) => Promise<Response>): (request: Request) => Promise<Response> {
    return async (request) => {
      const response = await answer(request);
      if (request.method === "GET" || targetOf(request).verb === "other") return response;
      const text = await response.text();
      const { pathname: path, searchParams } = new URL(request.url);
      const by = searchParams.get("fieldManager") ?? request.headers.get("user-agent") ?? "somebody";
      this.note({ method: request.method, path, by, code: response.status, answer: text });
      return new Response(text, { status: response.status, headers: response.headers });
    };
  }

  note(request: Omit<RecordedRequest, "at">): void {
    forget(this.#requests);
    this.#requests.push({ at: performance.now(), ...request });
  }

  chunk(bytes: Uint8Array): void {
    forget(this.#chunks);
    this.#chunks.push({ at: performance.now(), bytes });
  }

  get requests(): readonly RecordedRequest[] {
    const since = lookingBackTo();
    return this.#requests.filter(({ at }) => at >= since);
  }

  /** The events of watches, each change once, in order of arrival. */
  get events(): readonly RecordedEvent[] {
    const changes = new Set<string>();
    const since = lookingBackTo();
    const recent = this.#chunks.filter(({ at }) => at >= since);
    return recent.flatMap(({ at, bytes }) =>
      readLines(bytes).flatMap((event) => {
        const { uid = "", resourceVersion = "" } = event.object.metadata ?? {};
        const id = `${event.type} ${uid} ${resourceVersion}`;
        if (uid === "" || changes.has(id)) return [];
        changes.add(id);
        return [{ at, ...event }];
      }),
    );
  }
}

/** Drops old entries from time to time, so that it does not cost time for each entry. */
function forget(entries: { readonly at: number }[]): void {
  const [first] = entries;
  if (first === undefined) return;
  if (entries.length >= 2 * MOST_ENTRIES) entries.splice(0, MOST_ENTRIES);
  const since = lookingBackTo();
  if (first.at >= since - 1_000) return;
  const keep = entries.findIndex(({ at }) => at >= since);
  entries.splice(0, keep < 0 ? entries.length : keep);
}

/** Returns the events in a piece of a watch, except those that are cut at its ends. */
function readLines(bytes: Uint8Array): { readonly type: string; readonly object: ServerObject }[] {
  return new TextDecoder()
    .decode(bytes)
    .split("\n")
    .flatMap((line) => {
      try {
        const event = JSON.parse(line) as { type: string; object: ServerObject };
        return event.type === "BOOKMARK" || event.type === "ERROR" ? [] : [event];
      } catch {
        return [];
      }
    });
}
