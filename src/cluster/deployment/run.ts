/** The state that all parts of a Deployment's reconciliation share. */
import type { Client, RunEvents } from "../../index.ts";
import { Deployment, ReplicaSet, type ReplicaSetInput } from "../../resource/builtin/index.ts";
import { writeStatus } from "../workload/write-status.ts";

/** One run: the present Deployment, and the means of the run. */
export class DeploymentRun {
  /** The Deployment; each write replaces it. */
  deployment: Deployment;
  readonly client: Client;
  readonly events: RunEvents;
  /** Milliseconds since the epoch. */
  readonly now: number;

  constructor(deployment: Deployment, context: Pick<DeploymentRun, "client" | "events" | "now">) {
    this.deployment = deployment;
    this.client = context.client;
    this.events = context.events;
    this.now = context.now;
  }

  /** Writes the status together with annotations: that takes one request and does not change the spec. */
  async write(changed: Deployment): Promise<void> {
    this.deployment = await writeStatus(this.client, Deployment, changed);
  }
}

/**
 * Changes some fields of a ReplicaSet.
 *
 * It sends a patch, because an update would conflict again and again while the ReplicaSet's own controller writes its
 * status.
 */
export async function patchReplicaSet(
  { client }: DeploymentRun,
  set: ReplicaSet,
  fields: { readonly metadata?: Pick<ReplicaSetInput["metadata"], "annotations">; readonly spec: object },
): Promise<ReplicaSet> {
  const { namespace, name, uid } = set.metadata;
  const body = { ...fields, metadata: { ...fields.metadata, uid } };
  return client.patch(ReplicaSet, { namespace, name }, { type: "merge", body });
}

/** The ReplicaSets of a Deployment: the one with its template, if it exists, and all others. */
export interface ReplicaSets {
  readonly current: ReplicaSet | undefined;
  readonly old: readonly ReplicaSet[];
}

export function allOf({ current, old }: ReplicaSets): readonly ReplicaSet[] {
  return current === undefined ? old : [...old, current];
}

/** The desired number of pods of a ReplicaSet. */
export function sizeOf({ spec }: ReplicaSet): number {
  return spec.replicas ?? 1;
}

/** The ReplicaSets that should have pods. */
export function active(sets: readonly ReplicaSet[]): ReplicaSet[] {
  return sets.filter((set) => sizeOf(set) > 0);
}

export function total(sets: readonly ReplicaSet[], count: (set: ReplicaSet) => number | undefined): number {
  return sets.reduce((sum, set) => sum + (count(set) ?? 0), 0);
}
