/** Creates, repairs and deletes the pods of a stateful set, and records Events. */
import { isAlreadyExists, isNotFound } from "../../index.ts";
import { Pod, type PodInput, type StatefulSet } from "../../resource/builtin/index.ts";
import { serverMessage } from "../workload/pod-control.ts";
import { areRetained, createClaims, retainClaims, type SetRun } from "./claims.ts";
import { hasIdentity, identityLabels, ordinalOf } from "./identity.ts";
import { hasVolumes, volumesFor } from "./volumes.ts";

type Step = "Create" | "Update" | "Delete";

/** Records an Event about a step, whether it succeeds or fails. @throws what the step throws. */
async function withEvents<T>(set: StatefulSet, name: string, { step, run, work }: StepWork<T>): Promise<T> {
  const what = `Pod ${name} in StatefulSet ${set.metadata.name}`;
  try {
    const result = await work();
    run.events.normal(`Successful${step}`, `${step} ${what} successful`);
    return result;
  } catch (error) {
    if (step !== "Create" || !isAlreadyExists(error)) {
      run.events.warning(`Failed${step}`, `${step} ${what} failed error: ${serverMessage(error)}`);
    }
    throw error;
  }
}

interface StepWork<T> {
  readonly step: Step;
  readonly run: SetRun;
  readonly work: () => Promise<T>;
}

/** Creates the claims, for which the pod waits, then the pod, then the claims' owners, which may be the pod. */
export function createPod(set: StatefulSet, pod: PodInput, run: SetRun): Promise<Pod> {
  const { name } = pod.metadata;
  const work = async () => {
    await createClaims(set, name, run);
    const created = await run.client.create(Pod, pod);
    await retainClaims(set, created, run);
    return created;
  };
  return withEvents(set, name, { step: "Create", run, work });
}

/** Creates the claims that a pending pod still lacks. */
export async function completeClaims(set: StatefulSet, pod: Pod, run: SetRun): Promise<void> {
  await createClaims(set, pod.metadata.name, run);
  await retainClaims(set, pod, run);
}

/** Restores a pod's identity, its claims and their owners, after somebody changed them. */
export async function mendPod(set: StatefulSet, pod: Pod, run: SetRun): Promise<void> {
  const { name, namespace } = pod.metadata;
  const ordinal = ordinalOf(pod);
  const [isItself, isMounted] = [hasIdentity(set, pod), hasVolumes(set, pod, ordinal)];
  const isRetained = await areRetained(set, pod, run);
  if (isItself && isMounted && isRetained) return;
  const work = async () => {
    if (!isMounted) await createClaims(set, name, run);
    if (!isRetained) await retainClaims(set, pod, run);
    await run.client.edit(Pod, { name, namespace }, (draft) => {
      draft.metadata.labels = { ...draft.metadata.labels, ...identityLabels(name) };
      if (!isMounted) Object.assign(draft.spec, { volumes: volumesFor(set, ordinal, pod.spec.volumes) });
    });
  };
  await withEvents(set, name, { step: "Update", run, work });
}

export function deletePod(set: StatefulSet, pod: Pod, run: SetRun): Promise<void> {
  const { name, namespace, uid } = pod.metadata;
  const work = async () => {
    try {
      await run.client.delete(Pod, { name, namespace }, { preconditions: { uid } });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  };
  return withEvents(set, name, { step: "Delete", run, work });
}
