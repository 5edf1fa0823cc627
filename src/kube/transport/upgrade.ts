/** Requests a WebSocket from a server, with HTTP/1.1 written by hand, because a refusal has a body with the reason. */
import { createHash } from "node:crypto";
import type { Socket } from "node:net";
import { refusal } from "./answer.ts";
import { UnreachableError } from "../errors/api-error.ts";
import type { HeaderValues } from "../config/cluster-config.ts";
import { MOST_HEAD_BYTES } from "../limits.ts";

export interface UpgradeRequest {
  readonly server: string;
  /** The path with the query. */
  readonly path: string;
  readonly headers: HeaderValues;
  /** The protocols in order of preference. */
  readonly protocols: readonly string[];
}

export interface UpgradeAnswer {
  /** The protocol that the server chose. */
  readonly protocol: string;
  /** The bytes after the answer, with which the stream begins. */
  readonly head: Uint8Array;
}

/** Milliseconds until the server has answered. */
const ANSWER_MS = 30_000;
const ACCEPT_SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/** @throws ApiError for an answer other than 101, UnreachableError when there is none. The socket stays paused. */
export async function upgrade(socket: Socket, request: UpgradeRequest): Promise<UpgradeAnswer> {
  const key = Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString("base64");
  socket.write(requestText(request, key));
  const { head, rest } = await readHead(socket, request.server);
  const [statusLine = "", ...lines] = head.split("\r\n");
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(statusLine)?.[1] ?? 0);
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  if (status !== 101) {
    const body = await readBody(socket, rest, headers);
    const path = request.path.split("?")[0]!;
    const about = { retryAfter: headers.get("retry-after"), auditId: headers.get("audit-id") };
    throw refusal({ method: "POST", path, code: status || 502, body, ...about });
  }
  const accept = createHash("sha1")
    .update(key + ACCEPT_SUFFIX)
    .digest("base64");
  const protocol = headers.get("sec-websocket-protocol") ?? "";
  if (headers.get("sec-websocket-accept") !== accept || !request.protocols.includes(protocol)) {
    throw new Error(`${request.server} speaks none of ${request.protocols.join(", ")}`);
  }
  return { protocol, head: rest };
}

function requestText({ server, path, headers, protocols }: UpgradeRequest, key: string): string {
  const lines = [`GET ${path} HTTP/1.1`, `host: ${new URL(server).host}`, "connection: Upgrade", "upgrade: websocket"];
  lines.push(
    "sec-websocket-version: 13",
    `sec-websocket-key: ${key}`,
    `sec-websocket-protocol: ${protocols.join(", ")}`,
  );
  for (const [name, values] of Object.entries(headers)) {
    for (const value of typeof values === "string" ? [values] : values) lines.push(`${name}: ${value}`);
  }
  return `${lines.join("\r\n")}\r\n\r\n`;
}

/** Reads until `enough` returns a value, the socket ends, the time is over, or the bytes are too many. */
function read<T>(
  socket: Socket,
  start: Uint8Array,
  until: { readonly enough: (buffer: Buffer, ended: boolean) => T | undefined; readonly server: string },
): Promise<T> {
  return new Promise((resolve, reject) => {
    let buffer = Buffer.from(start);
    const fail = (code: string, message: string) =>
      done(() => reject(new UnreachableError(until.server, { code, message })));
    const timer = setTimeout(() => fail("ETIMEDOUT", `no answer within ${ANSWER_MS / 1_000} s`), ANSWER_MS);
    const look = (ended: boolean): void => {
      const isFull = buffer.length > MOST_HEAD_BYTES;
      const message = until.enough(buffer, ended || isFull);
      if (message !== undefined) done(() => resolve(message));
      else if (isFull) fail("EMSGSIZE", `it sent more than ${MOST_HEAD_BYTES / 1024} KiB of headers`);
      else if (ended) fail("ECONNRESET", "the connection was lost");
    };
    const onData = (chunk: Uint8Array): void => {
      buffer = Buffer.concat([buffer, chunk]);
      look(false);
    };
    const onEnd = (): void => look(true);
    const done = (settle: () => void): void => {
      clearTimeout(timer);
      socket.off("data", onData).off("end", onEnd).off("close", onEnd).pause();
      settle();
    };
    socket.on("data", onData).on("end", onEnd).on("close", onEnd).resume();
    look(false);
  });
}

function readHead(socket: Socket, server: string): Promise<{ readonly head: string; readonly rest: Uint8Array }> {
  const enough = (buffer: Buffer): { head: string; rest: Uint8Array } | undefined => {
    const end = buffer.indexOf("\r\n\r\n");
    return end < 0 ? undefined : { head: buffer.toString("latin1", 0, end), rest: buffer.subarray(end + 4) };
  };
  return read(socket, new Uint8Array(), { enough, server });
}

async function readBody(socket: Socket, start: Uint8Array, headers: ReadonlyMap<string, string>): Promise<string> {
  const length = headers.get("content-length");
  const isChunked = headers.get("transfer-encoding") === "chunked";
  const enough = (buffer: Buffer, ended: boolean): string | undefined => {
    const whole =
      length !== undefined ? buffer.length >= Number(length) : isChunked && buffer.includes("\r\n0\r\n\r\n");
    if (!whole && !ended) return undefined;
    const text = buffer.toString("utf8");
    return isChunked ? text.replaceAll(/^[0-9a-f]+\r\n|\r\n[0-9a-f]+\r\n/gi, "").trim() : text;
  };
  return read(socket, start, { enough, server: "" }).catch(() => "");
}
