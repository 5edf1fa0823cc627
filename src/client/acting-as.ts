/** A run that sends its requests in another user's or field manager's name. */
import type { ClientOptions } from "./client.ts";
import type { RequestContext } from "./client-scope.ts";

/** The same run in another's name. */
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
      return context.requestSignal; // comes to life with the context's signal
    },
    keep: (resource, object) => context.keep?.(resource, object),
    headers,
    manager,
  };
}
