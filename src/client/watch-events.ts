/** The watch events of a kind as an async iterable. */
import { collectionPath } from "../kube/api/mapper.ts";
import { watch as openWatch } from "../kube/api/watch.ts";
import { MOST_UNREAD_BYTES } from "../kube/limits.ts";
import type { StreamFlow } from "../kube/transport/kube-request.ts";
import type { AnyObject, Resource } from "../resource/handle.ts";
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
  const signal = AbortSignal.any([stop.signal, query.signal, query.stop].filter((one) => one !== undefined));
  let { resourceVersion } = query;
  if (resourceVersion === undefined) {
    type List = { readonly metadata: { readonly resourceVersion: string } };
    const listing = transport.request<List>({ method: "GET", path, query: "limit=1", signal, headers });
    const list = await listing.catch((error: unknown) => {
      throw explained(error, scope, call);
    });
    resourceVersion = list.metadata.resourceVersion;
  }
  const pending: WatchEvent<AnyObject>[] = [];
  /** The characters of unread events, including those that are being handed over. */
  let unread = 0;
  let flow: StreamFlow | undefined;
  let wake = Promise.withResolvers<void>();
  const pump = async (): Promise<void> => {
    while (!signal.aborted) {
      await openWatch(transport, {
        path,
        resourceVersion: resourceVersion!,
        labels,
        fields,
        headers,
        signal,
        onFlow: (control) => {
          flow = control;
          if (unread > MOST_UNREAD_BYTES) flow.pause();
        },
        onLine: (line) => {
          unread += line.length;
          if (unread > MOST_UNREAD_BYTES) flow?.pause();
        },
        onEvent: (type, object) => {
          resourceVersion = object.metadata.resourceVersion;
          if (type !== "BOOKMARK")
            pending.push({
              type,
              object,
            });
        },
        onBatch: () => wake.resolve(),
      });
    }
  };
  let end: { readonly error?: unknown } | undefined;
  pump().then(
    () => ((end = {}), wake.resolve()),
    (error: unknown) => ((end = { error: explained(error, scope, call) }), wake.resolve()),
  );
  try {
    while (true) {
      const chunk = unread;
      yield* pending.splice(0);
      unread -= chunk;
      if (unread <= MOST_UNREAD_BYTES) flow?.resume();
      if (signal.aborted) return;
      if (end?.error !== undefined) throw end.error;
      await wake.promise;
      wake = Promise.withResolvers();
    }
  } finally {
    stop.abort();
  }
}
