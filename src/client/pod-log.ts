/** The log of a container as an async iterable of lines. */
import type { HeaderValues } from "../kube/config/cluster-config.ts";
import { MOST_LOG_LINE_BYTES, MOST_UNREAD_BYTES } from "../kube/limits.ts";
import { LineSplitter } from "../kube/encoding/line-splitter.ts";
import { objectPath } from "../kube/api/mapper.ts";
import { Pod } from "../resource/builtin/core.ts";
import type { Key } from "../resource/meta.ts";
import { anySignal } from "../platform/abortable.ts";
import { Arrivals } from "./arrivals.ts";
import type { LogOptions } from "./client.ts";
import type { ClientScope } from "./client-scope.ts";
import { explained, reportUndeclared } from "./undeclared-call.ts";

export interface LogCall extends LogOptions {
  readonly headers?: HeaderValues | undefined;
  /** Aborts at the end of the run. */
  readonly stop?: AbortSignal | undefined;
}

/** Streams the log. @throws ApiError when the pod or container does not exist or has not started. */
export async function* podLog(scope: ClientScope, pod: Key, options: LogCall): AsyncGenerator<string> {
  const { mapper, transport } = scope;
  const call = { resource: Pod, verbs: ["get"], subresource: "log", headers: options.headers };
  reportUndeclared(scope, call);
  const mapping = mapper.known(Pod) ?? (await mapper.resolve(Pod, options.signal));
  const stop = new AbortController();
  const lines = new Arrivals<string>(MOST_UNREAD_BYTES);
  const splitter = new LineSplitter({
    what: `the log of pod ${pod.name}`,
    most: MOST_LOG_LINE_BYTES,
    onLine: (line) => lines.push(line),
  });
  transport
    .stream({
      method: "GET",
      path: objectPath(mapping, pod, "log"),
      query: queryOf(options),
      accept: "*/*",
      headers: options.headers,
      signal: anySignal(stop.signal, options.signal, options.stop),
      onFlow: (flow) => lines.follow(flow),
      onChunk: (chunk) => {
        splitter.push(chunk);
        lines.count(chunk.length);
      },
    })
    .then(
      () => {
        if (splitter.rest !== "") lines.push(splitter.rest);
        lines.end();
      },
      (error: unknown) => lines.end(explained(error, scope, call)),
    );
  try {
    while (await lines.more()) yield* lines.take();
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
