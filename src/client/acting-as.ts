/** Sends the requests of a run as another user or field manager. */
import type { ClientOptions } from "./client.ts";
import type { RequestContext } from "./client-scope.ts";

/** Makes the context of the same run that impersonates a user, or writes with another field manager. */
export function actingAs(context: RequestContext, { manager = context.manager, as }: ClientOptions): RequestContext {
  const headers =
    as === undefined
      ? context.headers
      : {
          "Impersonate-User": as.user,
          ...(as.groups === undefined || as.groups.length === 0 ? {} : { "Impersonate-Group": as.groups }),
          ...(as.uid === undefined ? {} : { "Impersonate-Uid": as.uid }),
        };
  return {
    gate: context.gate,
    origin: context.origin,
    get requestSignal() {
      return context.requestSignal; // read on each use, because it is created with the run's signal
    },
    keep: (resource, object) => context.keep?.(resource, object),
    headers,
    manager,
  };
}
