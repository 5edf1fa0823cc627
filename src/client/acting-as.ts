/** A run that sends its requests in another user's or field manager's name. */
import type { ClientOptions } from "./client.ts";
import type { RunScope } from "./scope.ts";

/** The same run in another's name. */
export function actingAs(run: RunScope, { manager = run.manager, as }: ClientOptions): RunScope {
  const headers =
    as === undefined
      ? run.headers
      : {
          "Impersonate-User": as.user,
          ...(as.groups === undefined || as.groups.length === 0 ? {} : { "Impersonate-Group": as.groups }),
          ...(as.uid === undefined ? {} : { "Impersonate-Uid": as.uid }),
        };
  return {
    gate: run.gate,
    origin: run.origin,
    get requestSignal() {
      return run.requestSignal; // comes to life with the run's signal
    },
    keep: (resource, object) => run.keep?.(resource, object),
    headers,
    manager,
  };
}
