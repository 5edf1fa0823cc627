/** The log of a container as an async iterable of lines. */
import type { HeaderValues } from "../kube/config/cluster-config.ts";
import { MOST_LOG_LINE_BYTES, MOST_UNREAD_BYTES } from "../kube/limits.ts";
import type { StreamFlow } from "../kube/transport/kube-request.ts";
import { LineSplitter } from "../kube/encoding/line-splitter.ts";
import { objectPath } from "../kube/api/mapper.ts";
import { Pod } from "../resource/builtin/core.ts";
import type { Key } from "../resource/meta.ts";
import type { LogOptions } from "./client.ts";
import type { ClientScope } from "./client-scope.ts";
import { explained } from "./undeclared-call.ts";

export interface LogCall extends LogOptions {
  readonly headers?: HeaderValues | undefined;
  /** Aborts at the end of the run. */
  readonly stop?: AbortSignal | undefined;
}

/** Streams the log. @throws ApiError when the pod or container does not exist or has not started. */
export async function* podLog(scope: ClientScope, pod: Key, options: LogCall): AsyncGenerator<string> {
  const { mapper, transport, permissions, onUndeclared } = scope;
  const call = { resource: Pod, verbs: ["get"], subresource: "log", headers: options.headers };
  if (options.headers === undefined && !permissions.allows(Pod, "get", "log")) onUndeclared?.(Pod, "get", "log");
  const mapping = mapper.known(Pod) ?? (await mapper.resolve(Pod, options.signal));
  const stop = new AbortController();
  const signal = AbortSignal.any([stop.signal, options.signal, options.stop].filter((one) => one !== undefined));
  const lines: string[] = [];
  /** The bytes of unread lines, including those that are being handed over. */
  let unread = 0;
  let flow: StreamFlow | undefined;
  let wake = Promise.withResolvers<void>();
  const splitter = new LineSplitter({
    what: `the log of pod ${pod.name}`,
    most: MOST_LOG_LINE_BYTES,
    onLine: (line) => void lines.push(line),
  });
  let end: { readonly error?: unknown } | undefined;
  transport
    .stream({
      method: "GET",
      path: objectPath(mapping, pod, "log"),
      query: queryOf(options),
      accept: "*/*",
      headers: options.headers,
      signal,
      onFlow: (control) => (flow = control),
      onChunk: (chunk) => {
        splitter.push(chunk);
        unread += chunk.length;
        if (unread > MOST_UNREAD_BYTES) flow?.pause();
        wake.resolve();
      },
    })
    .then(
      () => {
        if (splitter.rest !== "") lines.push(splitter.rest);
        end = {};
        wake.resolve();
      },
      (error: unknown) => ((end = { error: explained(error, scope, call) }), wake.resolve()),
    );
  try {
    while (true) {
      const chunk = unread;
      yield* lines.splice(0);
      unread -= chunk;
      if (unread <= MOST_UNREAD_BYTES) flow?.resume();
      if (end !== undefined && lines.length === 0) {
        if (end.error !== undefined) throw end.error;
        return;
      }
      await wake.promise;
      wake = Promise.withResolvers();
    }
  } finally {
    stop.abort();
  }
}

function queryOf(options: LogOptions): URLSearchParams {
  const query = new URLSearchParams();
  for (const name of ["container", "follow", "previous", "sinceSeconds", "tailLines", "timestamps"] as const) {
    const value = options[name];
    if (value !== undefined) query.set(name, String(value));
  }
  return query;
}
