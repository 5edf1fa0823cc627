/** Runs a command in a container and streams its input and output. */
import type { HeaderValues } from "../kube/config/cluster-config.ts";
import type { Channels } from "../kube/transport/channels.ts";
import { objectPath } from "../kube/api/mapper.ts";
import type { Status } from "../kube/errors/api-error.ts";
import { Pod } from "../resource/builtin/core.ts";
import type { Key } from "../resource/meta.ts";
import { anySignal } from "../platform/abortable.ts";
import type { ExecOptions, Execution, OutputStream } from "./client.ts";
import { Arrivals } from "./arrivals.ts";
import { explained, reportUndeclared } from "./undeclared-call.ts";
import type { ClientScope } from "./client-scope.ts";
import { MOST_REFUSAL_BYTES, MOST_UNREAD_OUTPUT_BYTES } from "../kube/limits.ts";
import { type WriteGate, WritesRefused } from "../kube/transport/write-gate.ts";

const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;
const RESULT = 3;

export interface ExecCall extends ExecOptions {
  readonly command: readonly string[];
  readonly headers?: HeaderValues | undefined;
  readonly gate: WriteGate;
  /** Aborts at the end of the run. */
  readonly stop?: AbortSignal | undefined;
}

/** Starts the command at once. */
export function podExec(scope: ClientScope, pod: Key, call: ExecCall): Execution {
  const stdout = new OutputChunks();
  const stderr = new OutputChunks();
  const exitCode = run(scope, pod, { ...call, stdout, stderr });
  exitCode.then(
    () => [stdout, stderr].forEach((stream) => stream.end()),
    (error: unknown) => [stdout, stderr].forEach((stream) => stream.end(error)),
  );
  return { stdout, stderr, exitCode };
}

async function run(
  scope: ClientScope,
  pod: Key,
  call: ExecCall & { readonly stdout: OutputChunks; readonly stderr: OutputChunks },
): Promise<number> {
  const { mapper, transport } = scope;
  const { gate, stdin, stdout, stderr, signal, stop, headers } = call;
  if (gate.refused !== undefined) throw new WritesRefused(gate.refused);
  // A WebSocket begins with a GET; newer servers also require `create`.
  const declaredCall = { resource: Pod, verbs: ["get", "create"], subresource: "exec", headers };
  reportUndeclared(scope, declaredCall);
  const mapping = mapper.known(Pod) ?? (await mapper.resolve(Pod, signal));
  const flooded = new AbortController();
  const checkUnread = (): void => {
    if (stdout.unread + stderr.unread <= MOST_UNREAD_OUTPUT_BYTES) return;
    const most = MOST_UNREAD_OUTPUT_BYTES / 1024 / 1024;
    flooded.abort(
      new Error(`Cannot run ${nameOf(pod)} to its end: nobody reads its output, and ${most} MiB of it wait`),
    );
  };
  let result = "";
  const decoder = new TextDecoder();
  const opening = transport.channels({
    path: objectPath(mapping, pod, "exec"),
    query: queryOf(call),
    headers,
    gate,
    signal: anySignal(flooded.signal, signal, stop),
    onMessage(channel, bytes) {
      if (channel === RESULT && result.length < MOST_REFUSAL_BYTES) result += decoder.decode(bytes, { stream: true });
      if (channel !== STDOUT && channel !== STDERR) return;
      (channel === STDOUT ? stdout : stderr).push(bytes);
      checkUnread();
    },
  });
  const channels = await opening.catch((error: unknown) => {
    throw explained(error, scope, declaredCall);
  });
  try {
    if (stdin !== undefined) await Promise.race([channels.closed, feed(channels, { stdin, gate })]);
    await channels.closed;
  } catch (error) {
    if (result === "") throw error; // otherwise the command has ended, although its connection was not closed in order
  } finally {
    channels.close();
  }
  return exitCodeOf(result, pod);
}

/** The bytes of an output stream; unread ones are kept. */
class OutputChunks extends Arrivals<Uint8Array> implements OutputStream {
  override push(chunk: Uint8Array): void {
    super.push(chunk);
    this.count(chunk.length);
  }

  /** Reads everything as UTF-8. */
  async text(): Promise<string> {
    const decoder = new TextDecoder();
    let text = "";
    for await (const chunk of this) text += decoder.decode(chunk, { stream: true });
    return text + decoder.decode();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    while (await this.more()) yield* this.take();
  }
}

/** Sends the input, as long as the gate is open. A command may end before it has read everything. */
async function feed(
  channels: Channels,
  { stdin, gate }: { readonly stdin: NonNullable<ExecOptions["stdin"]>; readonly gate: WriteGate },
): Promise<void> {
  const encoder = new TextEncoder();
  const chunks = typeof stdin === "string" || stdin instanceof Uint8Array ? [stdin] : stdin;
  for await (const chunk of chunks) {
    if (gate.refused !== undefined) throw new WritesRefused(gate.refused);
    await channels.send(STDIN, typeof chunk === "string" ? encoder.encode(chunk) : chunk);
  }
  await channels.end(STDIN);
}

function queryOf({ command, container, stdin }: ExecCall): URLSearchParams {
  const query = new URLSearchParams({ stdout: "true", stderr: "true" });
  if (stdin !== undefined) query.set("stdin", "true");
  if (container !== undefined) query.set("container", container);
  for (const word of command) query.append("command", word);
  return query;
}

/** Reads the exit status. @throws Error when the command could not be started or its status is unknown. */
function exitCodeOf(result: string, pod: Key): number {
  const what = nameOf(pod);
  if (result === "") throw new Error(`Cannot tell how ${what} ended: the connection was closed before it did`);
  const status = JSON.parse(result) as Status;
  if (status.status === "Success") return 0;
  const code = status.details?.causes?.find(({ reason }) => reason === "ExitCode")?.message;
  if (status.reason === "NonZeroExitCode" && code !== undefined) return Number(code);
  throw new Error(`Cannot run ${what}: ${status.message ?? status.reason}`);
}

function nameOf({ namespace, name }: Key): string {
  return `the command in pod ${namespace === undefined ? "" : `${namespace}/`}${name}`;
}
