/** The watch events of a kind as an async iterable. */
import { collectionPath } from "../kube/api/mapper.ts";
import { watch as openWatch } from "../kube/api/watch.ts";
import { MOST_UNREAD_BYTES } from "../kube/limits.ts";
import { anySignal } from "../platform/abortable.ts";
import type { AnyObject, Resource } from "../resource/handle.ts";
import { Arrivals } from "./arrivals.ts";
import type { WatchEvent } from "./client.ts";
import type { ListQuery } from "./object-reader.ts";
import type { ClientScope } from "./client-scope.ts";
import { explained } from "./undeclared-call.ts";

export interface WatchQuery extends ListQuery {
  /** The resource version to start from. @default the newest */
  readonly resourceVersion?: string | undefined;
  /** Aborts at the end of the run. */
  readonly stop?: AbortSignal | undefined;
}

/** Watches a kind. @throws ApiError 410 when the resource version is too old. */
export async function* watchEvents(
  scope: Pick<ClientScope, "mapper" | "transport" | "permissions" | "manager">,
  resource: Resource,
  queryOf: () => Promise<WatchQuery>,
): AsyncGenerator<WatchEvent<AnyObject>> {
  const { mapper, transport } = scope;
  const query = await queryOf();
  const { labels, fields, headers } = query;
  const call = { resource, verbs: ["list", "watch"], headers };
  const mapping = mapper.known(resource) ?? (await mapper.resolve(resource, query.signal));
  const path = collectionPath(mapping, query.namespace);
  const stop = new AbortController();
  const signal = anySignal(stop.signal, query.signal, query.stop);
  let { resourceVersion } = query;
  if (resourceVersion === undefined) {
    type List = { readonly metadata: { readonly resourceVersion: string } };
    const listing = transport.request<List>({ method: "GET", path, query: "limit=1", signal, headers });
    const list = await listing.catch((error: unknown) => {
      throw explained(error, scope, call);
    });
    resourceVersion = list.metadata.resourceVersion;
  }
  const events = new Arrivals<WatchEvent<AnyObject>>(MOST_UNREAD_BYTES);
  const pump = async (): Promise<void> => {
    while (!signal.aborted) {
      await openWatch(transport, {
        path,
        resourceVersion: resourceVersion!,
        labels,
        fields,
        headers,
        signal,
        onFlow: (flow) => events.follow(flow),
        onLine: (line) => events.count(line.length),
        onEvent: (type, object) => {
          resourceVersion = object.metadata.resourceVersion;
          if (type !== "BOOKMARK") events.push({ type, object });
        },
      });
    }
  };
  pump().then(
    () => events.end(),
    (error: unknown) => events.end(signal.aborted ? undefined : explained(error, scope, call)),
  );
  try {
    while ((await events.more()) && !signal.aborted) yield* events.take();
  } finally {
    stop.abort();
  }
}
