/** The strategy Recreate: all old pods end before the first new one starts. */
import type { ObjectOf } from "../../index.ts";
import type { Pod } from "../../resource/builtin/index.ts";
import { isFinished } from "../workload/pod-state.ts";
import { create, syncRevision } from "./current.ts";
import { active, type DeploymentRun, type ReplicaSets, total } from "./run.ts";
import { replaced, resize } from "./scale.ts";

/** Takes the next step. @param oldPods pods of old ReplicaSets, including those that are being deleted */
export async function recreate(
  run: DeploymentRun,
  sets: ReplicaSets,
  oldPods: readonly ObjectOf<typeof Pod>[],
): Promise<ReplicaSets> {
  const running = active(sets.old);
  if (running.length > 0) {
    let result = sets;
    for (const set of running) result = replaced(result, await resize(run, set, 0));
    return result;
  }
  if (total(sets.old, ({ status }) => status?.replicas) > 0 || oldPods.some((pod) => !isFinished(pod))) return sets;
  const { current, old } = sets.current === undefined ? await create(run, sets) : await syncRevision(run, sets);
  const { replicas = 1 } = run.deployment.spec;
  return current!.spec.replicas === replicas
    ? { current, old }
    : { current: await resize(run, current!, replicas), old };
}
