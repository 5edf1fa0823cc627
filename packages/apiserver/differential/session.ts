/** A case in progress on one server: sends requests and records the responses. */
import { eventsOf, parsed } from "./events.ts";
import { isProtobuf, readProtobuf } from "./protobuf.ts";
import { type Answer, type Call, type CaseRecord, type Exchange, noAnswer, type Target } from "./exchange.ts";

/** An answer's body as the sequences look into it; everything may be absent, since a server may answer anything. */
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

const kept = ["content-type", "warning", "retry-after", "cache-control", "location", "allow", "content-encoding"];

export class Session {
  readonly #target: Target;
  readonly #exchanges: Exchange[] = [];
  #settling: { readonly path: string; readonly done: (object: Loose) => boolean } | undefined;
  /** A unique name for the case's namespace and objects. */
  readonly slug: string;
  readonly name: string;

  constructor(target: Target, name: string) {
    this.#target = target;
    this.name = name;
    this.slug = name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-|-$/g, "")
      .slice(0, 40);
  }

  get record(): CaseRecord {
    return { name: this.name, exchanges: this.#exchanges };
  }

  /** Sends a request without recording it, such as the creation of the case's namespace. */
  async quietly(method: string, path: string, body?: unknown, headers: Call["headers"] = {}): Promise<Loose> {
    const answer = await this.#send({ method, path, headers, ...(body === undefined ? {} : { body }) });
    if (this.#settling && method !== "GET" && answer.status < 300) await this.#settle();
    return answer.body;
  }

  /** Sends a request and records it. @returns the parsed body. */
  async send(label: string, method: string, path: string, options: Partial<Call> = {}): Promise<Loose> {
    const call = { ...options, method, path };
    const answer = await this.#send(call).catch((error: unknown) => ({
      status: noAnswer,
      headers: {},
      body: String(error),
    }));
    this.#exchanges.push({ label, call, answer });
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
    this.#exchanges.push({ label, call: { method: "NOTE", path: "" }, answer: { status: 0, headers: {}, body } });
  }

  /** From now on, waits after each write until a controller of the server has done its part. */
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

  /** Repeats a request until `done`, without recording it, for what a server does a moment later. */
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
    this.#exchanges.push({ label: options.label, call, answer });
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

function requestOf({ method, path, headers, body }: Call, signal: AbortSignal): Request {
  const sent = new Headers({ accept: "application/json", "user-agent": "differential/1.0", ...headers });
  const init: RequestInit = { method, headers: sent, signal, redirect: "manual" };
  if (body !== undefined) {
    if (!sent.has("content-type")) sent.set("content-type", "application/json");
    init.body = typeof body === "string" ? body : JSON.stringify(body);
  }
  return new Request(`https://server${path}`, init);
}

function headersOf(response: Response): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of kept) {
    const value = response.headers.get(name);
    if (value !== null) found[name] = value;
  }
  return found;
}

/** Describes the layout of JSON text, which parsing loses. */
function layoutOf(text: string): string {
  if (!text.startsWith("{")) return "";
  return `${text.startsWith("{\n") ? "indented" : "compact"}${text.endsWith("\n") ? ", with an end of line" : ""}`;
}
