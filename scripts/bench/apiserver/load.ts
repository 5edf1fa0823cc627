/** The load of a server: the same requests over HTTP/2 for each. */
import { type ClientHttp2Session, connect } from "node:http2";
import type { Access } from "./servers.ts";

/** The number of parallel requests. */
const lanes = 16;
const maps = "/api/v1/namespaces/default/configmaps";

export class Client implements Disposable {
  readonly #session: ClientHttp2Session;
  readonly #headers: Record<string, string>;

  constructor({ url, ca, cert, key, token }: Access) {
    this.#session = connect(url, { ca, ...(cert !== undefined && key !== undefined && { cert, key }) });
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  }

  /** Sends a request. @returns the body; @throws Error when it fails */
  async ask(method: string, path: string, body?: string): Promise<Buffer> {
    const headers = { ":method": method, ":path": path, ...this.#headers, "content-type": "application/json" };
    const stream = this.#session.request(headers);
    stream.end(body);
    const chunks: Buffer[] = [];
    let status = 0;
    stream.once("response", (answer) => {
      status = Number(answer[":status"]);
    });
    for await (const chunk of stream) chunks.push(chunk as Buffer);
    const all = Buffer.concat(chunks);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${all.toString().slice(0, 200)}`);
    return all;
  }

  /** Watches so many events; continues from the last one when the server ends the watch for being slow. */
  watch(path: string, count: number): { readonly begun: Promise<void>; readonly ended: Promise<void> } {
    let begin: () => void;
    const begun = new Promise<void>((resolve) => void (begin = resolve));
    const ended = new Promise<void>((resolve, reject) => {
      let seen = 0;
      let last = "";
      const open = (): void => {
        const from = last === "" ? path : `${path}&resourceVersion=${last}`;
        const stream = this.#session.request({ ":method": "GET", ":path": from, ...this.#headers });
        stream.end();
        stream.once("response", () => begin());
        let rest: Buffer = Buffer.alloc(0);
        stream.on("data", (chunk: Buffer) => {
          let start = 0;
          for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, start)) {
            rest =
              start === 0 && rest.length > 0 ? Buffer.concat([rest, chunk.subarray(0, at)]) : chunk.subarray(start, at);
            start = at + 1;
            seen += 1;
          }
          if (start > 0) last = versionOf(rest) ?? last;
          rest = start > 0 ? Buffer.from(chunk.subarray(start)) : Buffer.concat([rest, chunk]);
          if (seen < count) return;
          stream.close();
          resolve();
        });
        stream.once("end", () => {
          if (seen < count) open();
        });
        stream.once("error", reject);
      };
      open();
    });
    return { begun, ended };
  }

  [Symbol.dispose](): void {
    this.#session.destroy();
  }
}

function versionOf(line: Buffer): string | undefined {
  return /"resourceVersion":"(\d+)"/.exec(line.toString())?.[1];
}

function map(name: string, value: string): string {
  const data = { value, text: "x".repeat(400) };
  return JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, labels: { app: "bench" } }, data });
}

export async function createMany(client: Client, count: number): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      while (next < count) {
        const name = `map-${next++}`;
        await client.ask("POST", maps, map(name, name));
      }
    }),
  );
}

/** Lists everything, several times. @throws Error when objects are missing */
export async function listMany(
  client: Client,
  { count, times }: { readonly count: number; readonly times: number },
): Promise<void> {
  for (let round = 0; round < times; round++) {
    const { items } = JSON.parse((await client.ask("GET", maps)).toString()) as { items: unknown[] };
    if (items.length < count) throw new Error(`${items.length} of ${count} were listed`);
  }
}

interface Watching {
  readonly watchers: number;
  readonly events: number;
}

/** Starts watchers that each see every event. */
export async function watchMany(access: Access, { watchers, events }: Watching): Promise<void> {
  using writer = new Client(access);
  const sessions = Array.from({ length: Math.ceil(watchers / 50) }, () => new Client(access));
  try {
    const watches = Array.from({ length: watchers }, (_, index) =>
      sessions[index % sessions.length]!.watch(`${maps}?watch=1&labelSelector=app%3Dbench`, events),
    );
    // A server may send its headers only when something happens.
    await Promise.race([Promise.all(watches.map(({ begun }) => begun)), Bun.sleep(500)]);
    await createMany(writer, events);
    await Promise.all(watches.map(({ ended }) => ended));
  } finally {
    for (const session of sessions) session[Symbol.dispose]();
  }
}
