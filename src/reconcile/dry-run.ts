/** Makes the writes of a run dry runs, which the server checks and does not store. */
import { AppliedMemory } from "../client/applied-memory.ts";
import type { ObjectRunState } from "./run.ts";

/** The same run with dry writes; their responses are not remembered. */
export function dryRunOf(run: ObjectRunState): ObjectRunState {
  const { environment, gate, origin, item, deleting, log } = run;
  return {
    environment: { ...environment, memory: new AppliedMemory() },
    gate,
    origin,
    item,
    deleting,
    log,
    dryRun: true,
    object: run.object,
    get requestSignal() {
      return run.requestSignal;
    },
    latest: () => run.latest(),
    keep: (resource, object) => run.keep(resource, object),
  };
}
