/** The annotations that a Deployment keeps on its ReplicaSets: revisions and desired sizes. */
import type { Deployment, ReplicaSet } from "../../resource/builtin/index.ts";
import { limitsOf } from "./limits.ts";

export const REVISION = "deployment.kubernetes.io/revision";
const HISTORY = "deployment.kubernetes.io/revision-history";
/** The desired replicas at the last change; a difference means that the Deployment was scaled. */
const DESIRED = "deployment.kubernetes.io/desired-replicas";
/** The desired replicas plus the surge. */
const MAX = "deployment.kubernetes.io/max-replicas";

const LONGEST_HISTORY = 2000;

/** These annotations are not copied from a Deployment to its ReplicaSets. */
const own: ReadonlySet<string> = new Set([
  "kubectl.kubernetes.io/last-applied-configuration",
  "deprecated.deployment.rollback.to",
  REVISION,
  HISTORY,
  DESIRED,
  MAX,
]);

type Annotated = { readonly metadata: { readonly annotations?: Readonly<Record<string, string>> | undefined } };

/** The revision of an object, which has 64 bits; 0 when it has none. */
export function revisionOf({ metadata }: Annotated): bigint {
  return readRevision(metadata.annotations?.[REVISION]) ?? 0n;
}

function readRevision(text = ""): bigint | undefined {
  if (!/^[-+]?\d+$/.test(text)) return undefined;
  const revision = BigInt(text.replace("+", ""));
  return BigInt.asIntN(64, revision) === revision ? revision : undefined;
}

export function desiredReplicas({ metadata }: Annotated): number | undefined {
  return wholeNumber(metadata.annotations?.[DESIRED]);
}

export function maxReplicas({ metadata }: Annotated): number | undefined {
  return wholeNumber(metadata.annotations?.[MAX]);
}

function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

/** Returns the Deployment's own annotations and the revision; an earlier revision goes into the history. */
export function revisionAnnotations(
  before: Readonly<Record<string, string>>,
  { metadata }: Deployment,
  revision: bigint,
): Readonly<Record<string, string>> {
  const annotations: Record<string, string> = { ...before };
  for (const [key, value] of Object.entries(metadata.annotations ?? {})) if (!own.has(key)) annotations[key] = value;
  const known = before[REVISION];
  const current = known ? readRevision(known) : 0n;
  if (current === undefined) return before; // somebody else's text: kube-controller-manager leaves it alone
  if (current >= revision) return annotations;
  annotations[REVISION] = String(revision);
  if (known === undefined) return annotations;
  const history = before[HISTORY] ? before[HISTORY].split(",") : [];
  while (history.length > 0 && [...history, known].join(",").length > LONGEST_HISTORY) history.shift();
  annotations[HISTORY] = [...history, known].join(",");
  return annotations;
}

/** Returns the sizes that a Deployment wants now. */
export function sizeAnnotations(deployment: Deployment): Readonly<Record<string, string>> {
  const { replicas = 1 } = deployment.spec;
  return { [DESIRED]: String(replicas), [MAX]: String(replicas + limitsOf(deployment).maxSurge) };
}

/** Whether the annotated sizes are up to date. */
export function isSizeAnnotated(set: ReplicaSet, deployment: Deployment): boolean {
  const { replicas = 1 } = deployment.spec;
  return desiredReplicas(set) === replicas && maxReplicas(set) === replicas + limitsOf(deployment).maxSurge;
}
