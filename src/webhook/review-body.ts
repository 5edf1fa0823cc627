/** Reads a review from a request, within limits of size and time. */
import type { Clock } from "../platform/clock.ts";
import type { BodyShare } from "../server/body-budget.ts";
import type { RequestProblem } from "./review-endpoint.ts";

/** The limit of controller-runtime: a little more than twice the largest object that etcd accepts. */
const MOST_BODY_BYTES = 7 * 1024 * 1024;

interface Limits {
  readonly clock: Clock;
  readonly deadline: number;
  /** What the body takes of the budget of the listener. */
  readonly share: BodyShare;
  /** @default 7 MiB */
  readonly mostBytes?: number | undefined;
  /** @default JSON.parse */
  readonly parse?: ((text: string) => unknown) | undefined;
}

/** `isBusy` means that other bodies take all room, so that the client should come again. */
type Read = { readonly body: unknown } | { readonly problem: RequestProblem } | { readonly isBusy: true };
type ReadText = string | Exclude<Read, { readonly body: unknown }>;

export async function readReview(request: Request, within: Limits): Promise<Read> {
  const { headers } = request;
  const { mostBytes = MOST_BODY_BYTES } = within;
  const length = headers.get("content-length");
  if (request.body === null || length === "0") return problem(400, "request body is empty");
  if (length !== null && Number(length) > mostBytes) return tooLarge(mostBytes);
  const type = headers.get("content-type") ?? "";
  if (mediaType(type) !== "application/json") {
    return problem(400, `contentType=${type}, expected application/json`);
  }
  const text = await textOf(request, within);
  if (typeof text !== "string") return text;
  if (text === "") return problem(400, "request body is empty");
  try {
    return { body: within.parse === undefined ? (JSON.parse(text) as unknown) : within.parse(text) };
  } catch (error) {
    return problem(400, `cannot decode the request body: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function textOf(request: Request, within: Limits): Promise<ReadText> {
  const { clock, deadline } = within;
  const late = Promise.withResolvers<{ readonly problem: RequestProblem }>();
  using _timer = clock.setTimeout(
    () => late.resolve(problem(408, "the request body did not arrive in time")),
    deadline - clock.now(),
  );
  try {
    const read = boundedText(request, within);
    read.catch(() => {}); // when it ends after the deadline
    return await Promise.race([read, late.promise]);
  } catch (error) {
    return problem(400, `cannot read the request body: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function boundedText(request: Request, { share, mostBytes = MOST_BODY_BYTES }: Limits): Promise<ReadText> {
  const length = Number(request.headers.get("content-length") ?? Infinity);
  if (share.claim(length)) return request.text();
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of request.body!) {
    bytes += piece.length;
    if (bytes > mostBytes) return tooLarge(mostBytes);
    // What is not read stays with the client.
    if (!(await share.take(piece.length))) return { isBusy: true };
    pieces.push(piece);
  }
  return Buffer.concat(pieces, bytes).toString();
}

function mediaType(type: string): string {
  const semicolon = type.indexOf(";");
  return (semicolon < 0 ? type : type.slice(0, semicolon)).trim().toLowerCase();
}

function tooLarge(mostBytes: number): { readonly problem: RequestProblem } {
  return problem(413, `request entity is too large; limit is ${mostBytes} bytes`);
}

function problem(code: number, message: string): { readonly problem: RequestProblem } {
  return { problem: { code, message } };
}
