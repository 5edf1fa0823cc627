/** Computes the expected number of pods, by asking the controllers of the pods. */
import { type Client, isNotFound, type OwnerReference, resource } from "../../index.ts";
import { Deployment, type Pod, ReplicaSet, ReplicationController, StatefulSet } from "../../resource/builtin/index.ts";
import { controllerOf } from "../workload/owner.ts";

/** The kinds whose scale comes from the shared cache; for others the scale subresource is read. */
export const scaledKinds: readonly [
  typeof Deployment,
  typeof ReplicaSet,
  typeof ReplicationController,
  typeof StatefulSet,
] = [Deployment, ReplicaSet, ReplicationController, StatefulSet];

export interface Expected {
  readonly pods: number;
  /** The names of the pods without a controller. */
  readonly unmanaged: readonly string[];
}

interface Scaled {
  readonly uid: string;
  readonly replicas: number;
}

/** Sums up the scales of the pods' controllers. @throws Error when a pod's controller does not exist or has no scale */
export async function expectedPods(client: Client, pods: readonly Pod[]): Promise<Expected> {
  const controllers = new Set<string>();
  /** The scales by UID, because two ReplicaSets of one Deployment count once. */
  const scales = new Map<string, number>();
  const unmanaged: string[] = [];
  for (const pod of pods) {
    const { name, namespace } = pod.metadata;
    const controller = controllerOf(pod);
    if (controller === undefined) unmanaged.push(name);
    else if (!controllers.has(controller.uid)) {
      controllers.add(controller.uid);
      const scaled = await scaleOf(client, controller, namespace);
      if (scaled === undefined) throw new Error(`found no controllers for pod "${name}"`);
      scales.set(scaled.uid, scaled.replicas);
    }
  }
  return { pods: scales.values().reduce((sum, replicas) => sum + replicas, 0), unmanaged };
}

async function scaleOf(client: Client, owner: OwnerReference, namespace: string): Promise<Scaled | undefined> {
  const { apiVersion, kind, name, uid } = owner;
  const known = scaledKinds.find((one) => one.kind === kind && one.apiVersion === apiVersion);
  if (known === undefined) return askedScale(client, owner, namespace);
  const workload = await client.find(known as typeof ReplicaSet, { namespace, name });
  if (workload?.metadata.uid !== uid) return undefined;
  const above = kind === ReplicaSet.kind ? controllerOf(workload) : undefined;
  if (above?.kind === Deployment.kind) return scaleOf(client, above, namespace);
  return { uid, replicas: workload.spec?.replicas ?? 1 };
}

async function askedScale(client: Client, owner: OwnerReference, namespace: string): Promise<Scaled | undefined> {
  const { apiVersion, kind, name, uid } = owner;
  try {
    const { metadata, spec } = await client.subresource("scale").get(resource(apiVersion, kind), { namespace, name });
    return metadata?.uid === uid ? { uid, replicas: spec?.replicas ?? 0 } : undefined;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
