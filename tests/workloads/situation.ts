/**
 * Situations: short scripts that run on a real cluster and on the embedded one, with the same outcome.
 *
 * A situation lives in a file of `situations/`, which exports an array of them, and `all-situations.ts` lists the files.
 *
 *     situation("deployment: a rollout replaces all pods", async (stage) => {
 *       await stage.apply(deployment("web", { replicas: 3 }));
 *       await stage.settle("rolled out", isComplete("web"));
 *       await stage.patch("Deployment", "web", { spec: { … } });
 *       await stage.settle("rolled out again", isComplete("web"));
 *     })
 *
 * Each runs in a namespace of its own, many at once. `settle` waits for a condition, until nothing has happened in the
 * namespace for a while, and until the other cluster has come to the same place and shows the same, or 6 seconds have
 * passed; then it takes a snapshot of all objects. What differs from run to run on the real
 * cluster alone is replaced or dropped (`normalize.ts`). At the end, these are compared:
 *
 * * the snapshots;
 * * the Events that controllers recorded, as a set of object, type, reason and message (`events: "reasons"` leaves out
 *   the messages where they depend on timing, `false` compares none);
 * * the turning points of each workload's replica counts, and the conditions that each object had, in their order,
 *   except those that may pass too quickly to be written at all (`sequence: "conditions"` leaves out the
 *   counts where timing decides how many steps they take, `false` compares none of this);
 * * with `order: true` the order in which objects were created and deleted. Adjacent ones of the same owner are one.
 *
 * Pods behave as their annotations say: `pods.binnacle.dev/exit-code` and the others of `src/cluster/pods/script.ts`.
 * Situations that need nodes of their own give them a label and a taint with the namespace's name, and delete them.
 *
 *     bun tests/workloads/run.ts --only 'deployment: a rollout'
 */
import type { Stage } from "./stage.ts";

export interface SituationOptions {
  /** Compare the order of creations and deletions. @default false */
  readonly order?: boolean;
  /** Compare turning points and conditions, only conditions, or neither. @default true */
  readonly sequence?: boolean | "conditions";
  /** Compare Events: whole, without their messages, or not. @default true */
  readonly events?: boolean | "reasons";
  /** Chance says which node is concerned: those named `<letter>.<namespace>` stand for each other. @default false */
  readonly nodesAlike?: boolean;
}

export interface Situation extends Required<SituationOptions> {
  /** `<kind>: <what happens>`, unique. */
  readonly name: string;
  readonly run: (stage: Stage) => Promise<void>;
}

export function situation(
  name: string,
  run: (stage: Stage) => Promise<void>,
  options: SituationOptions = {},
): Situation {
  return { name, run, order: false, sequence: true, events: true, nodesAlike: false, ...options };
}
