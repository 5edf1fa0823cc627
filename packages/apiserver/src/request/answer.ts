/** Makes responses: JSON in the requested form, compressed when that pays off. */
import { gzipSync } from "node:zlib";
import type { Fields } from "../hooks.ts";
import { parseJson, writeJson } from "../numbers.ts";
import { encodeProtobuf } from "../protobuf/encode.ts";
import type { Status } from "../status.ts";
import { builtInSchema } from "../tables/tables.ts";
import { acceptedStatus, type Media } from "./accept.ts";
import { warningHeaders } from "./warning-headers.ts";
import { encodeYaml } from "./yaml.ts";

/** Smaller bodies cost more to compress than to send. @see k8s.io/apiserver `defaultGzipThresholdBytes` */
const gzipThreshold = 128 * 1024;

export interface AnswerOptions {
  /** @default 200 */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly warnings?: readonly string[];
  /** @default "json" */
  readonly media?: Media;
  /** Whether JSON is indented. @default as the client requests */
  readonly pretty?: boolean;
}

/** Responds with a body that is JSON already. */
export function answerJson(request: Request, json: string | Uint8Array, options: AnswerOptions = {}): Response {
  const headers = new Headers(options.headers);
  const { media = "json" } = options;
  if (!headers.has("content-type")) headers.set("content-type", mediaTypes[media]);
  headers.set("cache-control", headers.get("cache-control") ?? "no-cache, private");
  if (options.warnings !== undefined)
    for (const warning of warningHeaders(options.warnings)) headers.append("warning", warning);
  const status = options.status ?? 200;
  const body = written(request, json, options);
  if (body.length > gzipThreshold && (request.headers.get("accept-encoding") ?? "").includes("gzip")) {
    headers.set("content-encoding", "gzip");
    headers.set("vary", "Accept-Encoding");
    return new Response(gzipSync(body, { level: 1 }), { status, headers });
  }
  return new Response(body as string | Uint8Array<ArrayBuffer>, { status, headers });
}

const mediaTypes: Readonly<Record<Media, string>> = {
  json: "application/json",
  yaml: "application/yaml",
  protobuf: "application/vnd.kubernetes.protobuf",
};

function written(request: Request, json: string | Uint8Array, options: AnswerOptions): string | Uint8Array {
  if (options.media === "yaml") return encodeYaml(json);
  if (typeof json !== "string") return json;
  if (options.media !== "protobuf") return laidOut(json, options.pretty ?? isPretty(request));
  const bytes = encodeProtobuf(parseJson(json) as Fields, builtInSchema);
  if (bytes === undefined) throw new Error("an answer without a form in protobuf");
  return bytes;
}

/** Responds with an object. */
export function answerObject(request: Request, object: object, options: AnswerOptions = {}): Response {
  return answerJson(request, writeJson(object), options);
}

export function answerStatus(request: Request, status: Status, options: AnswerOptions = {}): Response {
  const seconds = status.details?.retryAfterSeconds;
  const headers = seconds === undefined ? {} : { "retry-after": String(seconds) };
  const accepted = acceptedStatus(request.headers.get("accept"));
  return answerJson(request, JSON.stringify(status), {
    ...options,
    status: status.code,
    headers: { ...headers, ...options.headers },
    media: accepted?.media ?? "json",
    // A client that accepts no form of the response gets one that people can read.
    ...(accepted === undefined && { pretty: true }),
  });
}

/** Go's encoder ends an object with a line break, except when it indents. */
function laidOut(json: string, isPretty: boolean): string {
  return isPretty ? writeJson(parseJson(json), 2) : `${json}\n`;
}

/** Whether a person at a terminal or browser sends the request; they get indented JSON. */
function isPretty(request: Request): boolean {
  const accept = request.headers.get("accept") ?? "";
  if (accept.includes("pretty=") && /;\s*pretty=(1|t|T|TRUE|true|True)\s*(;|,|$)/.test(accept)) return true;
  const agent = request.headers.get("user-agent") ?? "";
  const isReader = agent.startsWith("curl") || agent.startsWith("Wget") || agent.startsWith("Mozilla/5.0");
  const index = request.url.indexOf("pretty");
  if (index < 0) return isReader;
  const pretty = new URL(request.url).searchParams.get("pretty");
  return pretty === null || pretty === "" ? isReader : /^(1|t|T|TRUE|true|True)$/.test(pretty);
}
