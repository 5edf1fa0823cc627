/** Finds the ReplicaSet that has the Deployment's template, gives it its revision, or creates it. */
import { edit, isAlreadyExists, RetryError } from "../../index.ts";
import { type PodTemplateSpec, ReplicaSet, type ReplicaSetInput } from "../../resource/builtin/index.ts";
import { sameJson } from "../../resource/json.ts";
import { byAge, controlledBy, isControlledBy } from "../workload/owner.ts";
import { isNamespaceTerminating, serverMessage } from "../workload/pod-control.ts";
import { templateHash } from "../revision/template-patch.ts";
import { REVISION, revisionAnnotations, revisionOf, sizeAnnotations } from "./annotations.ts";
import { conditionOf, hasDeadline, type NewCondition, withCondition } from "./conditions.ts";
import { newSize } from "./limits.ts";
import { type DeploymentRun, patchReplicaSet, type ReplicaSets } from "./run.ts";

const HASH = "pod-template-hash";
const LONGEST_NAME = 253;

/** Returns the current ReplicaSet; of several with the same template it is the oldest. */
export function sorted(run: DeploymentRun, sets: readonly ReplicaSet[]): ReplicaSets {
  const { template } = run.deployment.spec;
  const inOrder = [...sets].sort(byAge);
  const current = inOrder.find((set) => isSameTemplate(set.spec.template, template));
  return { current, old: inOrder.filter((set) => set !== current) };
}

/** Updates annotations, revision and `minReadySeconds` of the current ReplicaSet. */
export async function syncRevision(run: DeploymentRun, { current, old }: ReplicaSets): Promise<ReplicaSets> {
  if (current === undefined) return { current, old };
  const { deployment } = run;
  const { minReadySeconds = 0 } = deployment.spec;
  const before = current.metadata.annotations ?? {};
  const annotations = revisionAnnotations(before, deployment, nextRevision(old));
  if (!sameJson(annotations, before) || (current.spec.minReadySeconds ?? 0) !== minReadySeconds) {
    return {
      current: await patchReplicaSet(run, current, { metadata: { annotations }, spec: { minReadySeconds } }),
      old,
    };
  }
  const message = `Found new replica set "${current.metadata.name}"`;
  const isFirst = conditionOf(deployment.status?.conditions, "Progressing") === undefined;
  await note(run, {
    revision: revisionOf(current),
    condition: isFirst ? { type: "Progressing", status: "True", reason: "FoundNewReplicaSet", message } : undefined,
  });
  return { current, old };
}

/** Creates the current ReplicaSet. @throws the server's error, after the status reports it */
export async function create(run: DeploymentRun, { old }: ReplicaSets): Promise<ReplicaSets> {
  const { client, events } = run;
  const wanted = replicaSetFor(run, old);
  const { name } = wanted.metadata;
  let current: ReplicaSet;
  try {
    current = await client.create(ReplicaSet, wanted);
  } catch (error) {
    if (isAlreadyExists(error)) return { current: await known(run, name), old };
    if (isNamespaceTerminating(error)) throw error;
    const message = `Failed to create new replica set "${name}": ${serverMessage(error)}`;
    await note(run, { condition: { type: "Progressing", status: "False", reason: "ReplicaSetCreateError", message } });
    events.warning("ReplicaSetCreateError", message);
    throw error;
  }
  const { replicas = 0 } = current.spec;
  if (replicas > 0) events.normal("ScalingReplicaSet", `Scaled up replica set ${name} from 0 to ${replicas}`);
  const message = `Created new replica set "${name}"`;
  await note(run, {
    revision: revisionOf(current),
    condition: { type: "Progressing", status: "True", reason: "NewReplicaSetCreated", message },
  });
  return { current, old };
}

/** Takes the existing ReplicaSet of a name if it is ours; after a collision of hashes it tries the next name. */
async function known(run: DeploymentRun, name: string): Promise<ReplicaSet> {
  const { deployment, client } = run;
  const { namespace } = deployment.metadata;
  const existing = await client.get(ReplicaSet, { namespace, name });
  if (isControlledBy(existing, deployment) && isSameTemplate(existing.spec.template, deployment.spec.template))
    return existing;
  const collisionCount = (deployment.status?.collisionCount ?? 0) + 1;
  await run.write({ ...deployment, status: { ...deployment.status, collisionCount } });
  throw new RetryError(`The name ${name} is taken: another one is tried`, { after: 0 });
}

interface Note {
  readonly revision?: bigint | undefined;
  /** Sets the condition, which exists only when there is a deadline. */
  readonly condition?: NewCondition | undefined;
}

/** Writes the revision and the condition when they differ. */
async function note(run: DeploymentRun, { revision, condition }: Note): Promise<void> {
  const { deployment, now } = run;
  const changed = edit(deployment, (draft) => {
    if (revision !== undefined) (draft.metadata.annotations ??= {})[REVISION] = String(revision);
    if (condition === undefined || !hasDeadline(deployment)) return;
    draft.status = { ...draft.status, conditions: withCondition(deployment.status?.conditions, condition, now) };
  });
  if (!sameJson(changed, deployment)) await run.write(changed);
}

function replicaSetFor(run: DeploymentRun, old: readonly ReplicaSet[]): ReplicaSetInput {
  const { deployment } = run;
  const { metadata, spec, status } = deployment;
  const hash = templateHash(spec.template, status?.collisionCount);
  const labels = { ...spec.template.metadata?.labels, [HASH]: hash };
  const template = { ...spec.template, metadata: { ...spec.template.metadata, labels } };
  const selector = { ...spec.selector, matchLabels: { ...spec.selector.matchLabels, [HASH]: hash } };
  return {
    metadata: {
      name: `${metadata.name.slice(0, LONGEST_NAME - 1 - hash.length)}-${hash}`,
      namespace: metadata.namespace,
      labels,
      annotations: { ...revisionAnnotations({}, deployment, nextRevision(old)), ...sizeAnnotations(deployment) },
      ownerReferences: [controlledBy(deployment)],
    },
    spec: { replicas: newSize(deployment, old, 0), minReadySeconds: spec.minReadySeconds, selector, template },
  };
}

function nextRevision(old: readonly ReplicaSet[]): bigint {
  let last = 0n;
  for (const set of old) if (revisionOf(set) > last) last = revisionOf(set);
  return last + 1n;
}

/** Compares templates without their hash label. */
function isSameTemplate(one: PodTemplateSpec, other: PodTemplateSpec): boolean {
  return sameJson(withoutHash(one), withoutHash(other));
}

function withoutHash({ metadata, spec }: PodTemplateSpec): PodTemplateSpec {
  const { [HASH]: _, ...labels } = metadata?.labels ?? {};
  return { metadata: { ...metadata, labels }, spec };
}
