/** A case in progress on one server: sends requests and records the responses. */
import { type Answer, type Call, type Exchange, noAnswer, type Target } from "./case.ts";
import { isChosen } from "./sampling.ts";
import { isProtobuf, readEvents, readProtobuf } from "./protobuf.ts";

/** The body of an answer, any part of which may be absent. */
// oxlint-disable-next-line typescript/no-explicit-any -- a faulty server's answers have no shape
export type Loose = any;

export interface WatchOptions {
  readonly label: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Ends the watch after this event. */
  readonly until?: (event: Loose, index: number) => boolean;
  /** Called once the response headers have arrived, so that nothing happens before the watch has begun. */
  readonly meanwhile?: () => Promise<void>;
  /** Milliseconds to wait for an event that `until` accepts. @default 3000 */
  readonly patience?: number;
}

/** Headers of answers that are compared. */
const comparedHeaders = [
  "content-type",
  "warning",
  "retry-after",
  "cache-control",
  "location",
  "allow",
  "content-encoding",
];

export const patchTypes = {
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  json: "application/json-patch+json",
  apply: "application/apply-patch+yaml",
} as const;

/** The usual requests, each recorded under a label. They return the parsed body. */
export abstract class Requests {
  abstract send(label: string, method: string, path: string, options?: Partial<Call>): Promise<Loose>;

  get(label: string, path: string, accept?: string): Promise<Loose> {
    return this.send(label, "GET", path, accept === undefined ? {} : { headers: { accept } });
  }

  post(label: string, path: string, body: unknown): Promise<Loose> {
    return this.send(label, "POST", path, { body });
  }

  put(label: string, path: string, body: unknown): Promise<Loose> {
    return this.send(label, "PUT", path, { body });
  }

  patch(label: string, path: string, body: unknown, type: keyof typeof patchTypes = "merge"): Promise<Loose> {
    return this.send(label, "PATCH", path, { body, headers: { "content-type": patchTypes[type] } });
  }

  delete(label: string, path: string, body?: unknown): Promise<Loose> {
    return this.send(label, "DELETE", path, body === undefined ? {} : { body });
  }
}

export class Session extends Requests {
  readonly #target: Target;
  /** Requests and answers so far. */
  readonly exchanges: Exchange[] = [];
  #settling: { readonly path: string; readonly done: (object: Loose) => boolean } | undefined;
  /** A unique name for the case's namespace and objects. */
  readonly slug: string;
  readonly name: string;

  constructor(target: Target, name: string) {
    super();
    this.#target = target;
    this.name = name;
    const words = name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-|-$/g, "");
    this.slug = words.length <= 40 ? words : `${words.slice(0, 34)}-${Bun.hash.crc32(name).toString(36).slice(0, 5)}`;
  }

  /** Sends a request without recording it, such as the creation of the case's namespace. */
  async quietly(method: string, path: string, body?: unknown, headers: Call["headers"] = {}): Promise<Loose> {
    const answer = await this.#send({ method, path, headers, ...(body === undefined ? {} : { body }) });
    if (this.#settling && method !== "GET" && answer.status < 300) await this.#settle();
    return answer.body;
  }

  /** Sends a merge patch without recording it. */
  async merge(path: string, body: unknown): Promise<Loose> {
    return await this.quietly("PATCH", path, body, { "content-type": patchTypes.merge });
  }

  /** @returns the path of its objects */
  async createNamespace(name: string = this.slug, labels: object = {}): Promise<string> {
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } };
    await this.quietly("POST", "/api/v1/namespaces", namespace);
    return `/api/v1/namespaces/${name}`;
  }

  /** Returns requests that carry a token instead of the administrator's certificate. */
  by(token: string): Requests {
    return new TokenRequests(this, token);
  }

  override async send(label: string, method: string, path: string, options: Partial<Call> = {}): Promise<Loose> {
    const call = { ...options, method, path };
    const answer = await this.#send(call).catch((error: unknown) => ({
      status: noAnswer,
      headers: {},
      body: String(error),
    }));
    this.exchanges.push({ label, call, answer });
    if (this.#settling && method !== "GET" && !path.includes("dryRun") && answer.status < 300) await this.#settle();
    return answer.body;
  }

  /**
   * Waits as long as kube-apiserver needs to notice something through a watch of its own; the embedded server notices
   * at once.
   */
  async noticed(milliseconds: number): Promise<void> {
    if (this.#target.name === "real") await Bun.sleep(milliseconds);
  }

  /** Records something besides responses, such as the requests to a webhook. */
  note(label: string, body: unknown): void {
    this.exchanges.push({ label, call: { method: "NOTE", path: "" }, answer: { status: 0, headers: {}, body } });
  }

  /** Makes every later write wait until a controller of the server has done its part. */
  settleWith(path: string, done: (object: Loose) => boolean): void {
    this.#settling = { path, done };
  }

  async #settle(): Promise<void> {
    const { path, done } = this.#settling!;
    for (let attempt = 0; attempt < 40; attempt++) {
      const { body: object } = (await this.#send({ method: "GET", path })) as { body: Loose };
      if (object?.kind === "Status" || done(object)) return;
      await Bun.sleep(25);
    }
    this.#settling = undefined; // it never does, so nothing waits for it any more
  }

  /** Reads a path until `done`, without recording it, for work that a server does a moment later. */
  async waitFor(path: string, done: (body: Loose) => boolean): Promise<void> {
    for (let attempt = 0; attempt < 100; attempt++) {
      if (done(await this.quietly("GET", path))) return;
      await Bun.sleep(50);
    }
  }

  /** Records a watch as one exchange, whose body is the list of events in their order. */
  async watch(path: string, options: WatchOptions): Promise<Loose[]> {
    const call = { method: "GET", path, ...(options.headers && { headers: options.headers }) };
    const stop = new AbortController();
    const response = await this.#target.fetch(requestOf(call, stop.signal));
    const events: Loose[] = [];
    const timer = setTimeout(() => stop.abort(), options.patience ?? 3000);
    try {
      if (response.status !== 200 || !response.body) {
        events.push(parsed(await response.text()));
        await options.meanwhile?.();
      } else {
        const reading = (async () => {
          for await (const event of eventsOf(response)) {
            events.push(event);
            if (options.until?.(event, events.length - 1)) return;
          }
          if (!stop.signal.aborted) events.push("<end>"); // otherwise it was ended here
        })();
        await Promise.all([
          Promise.race([
            reading,
            new Promise((_, reject) => {
              stop.signal.addEventListener("abort", () => reject(new Error("patience")), { once: true });
            }),
          ]),
          options.meanwhile?.(),
        ]);
      }
    } catch {
      events.push("<nothing more came>");
    } finally {
      clearTimeout(timer);
      stop.abort();
    }
    const answer = { status: response.status, headers: headersOf(response), body: events };
    this.exchanges.push({ label: options.label, call, answer });
    return events;
  }

  async #send(call: Call): Promise<Answer> {
    const response = await this.#target.fetch(requestOf(call, AbortSignal.timeout(60_000)), call.credentials);
    if (isProtobuf(response)) {
      const body = readProtobuf(await response.bytes());
      return { status: response.status, headers: headersOf(response), body };
    }
    const text = await response.text();
    const layout = layoutOf(text);
    const headers = { ...headersOf(response), ...(layout !== "" && { "(layout)": layout }) };
    return { status: response.status, headers, body: parsed(text) };
  }
}

/** Sends the requests of a case that belong to a share, of which 1 is all of them; the same ones every time. */
export class Share extends Requests {
  readonly session: Session;
  readonly #share: number;

  constructor(session: Session, share: number) {
    super();
    this.session = session;
    this.#share = share;
  }

  isChosen(label: string): boolean {
    return isChosen(this.session.name, label, this.#share);
  }

  override async send(label: string, method: string, path: string, options: Partial<Call> = {}): Promise<Loose> {
    if (this.isChosen(label)) return await this.session.send(label, method, path, options);
    return undefined;
  }
}

class TokenRequests extends Requests {
  readonly #session: Session;
  readonly #token: string;

  constructor(session: Session, token: string) {
    super();
    this.#session = session;
    this.#token = token;
  }

  override async send(label: string, method: string, path: string, options: Partial<Call> = {}): Promise<Loose> {
    const headers = { ...options.headers, authorization: `Bearer ${this.#token}` };
    return await this.#session.send(label, method, path, { ...options, credentials: "none", headers });
  }
}

function requestOf({ method, path, headers, body }: Call, signal: AbortSignal): Request {
  const allHeaders = new Headers({ accept: "application/json", "user-agent": "differential/1.0", ...headers });
  const init: RequestInit = { method, headers: allHeaders, signal, redirect: "manual" };
  if (body !== undefined) {
    if (!allHeaders.has("content-type")) allHeaders.set("content-type", "application/json");
    init.body = typeof body === "string" ? body : JSON.stringify(body);
  }
  return new Request(`https://server${path}`, init);
}

function headersOf(response: Response): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of comparedHeaders) {
    const value = response.headers.get(name);
    if (value !== null) headers[name] = value;
  }
  return headers;
}

/** Describes the layout of JSON text, which parsing loses. */
function layoutOf(text: string): string {
  if (!text.startsWith("{")) return "";
  return `${text.startsWith("{\n") ? "indented" : "compact"}${text.endsWith("\n") ? ", with an end of line" : ""}`;
}

/** Yields each event of a watch, in JSON or protobuf. */
async function* eventsOf(response: Response): AsyncGenerator {
  const chunks = response.body as unknown as AsyncIterable<Uint8Array>;
  if (isProtobuf(response)) {
    let left: Uint8Array = new Uint8Array();
    for await (const chunk of chunks) {
      const { events, rest } = readEvents(Buffer.concat([left, chunk]));
      left = rest;
      yield* events;
    }
    return;
  }
  let rest = "";
  const decoder = new TextDecoder();
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line !== "") yield parsed(line);
  }
}

/** Matches text that may have a number in a spelling that parsing loses. */
const oddNumber = /\d\.\d|\d[eE]|\d{16}|-0/;

function keepSpelling(_: string, value: unknown, { source = "" }: { readonly source?: string }): unknown {
  return typeof value === "number" && String(value) !== source ? `<number ${source}>` : value;
}

/** Parses JSON, and returns the text itself where it is not JSON. */
function parsed(text: string): unknown {
  try {
    return oddNumber.test(text)
      ? JSON.parse(text, keepSpelling as (key: string, value: unknown) => unknown)
      : JSON.parse(text);
  } catch {
    return text;
  }
}
