// Runs one pod on every node that it fits. This controller shows objects that depend on objects that nobody owns
// (nodes), bounded change during an update, and a back-off per node.
import { allow, type Client, defineController, type Definition, type RunEvents, watch } from "../../index.ts";
import { ControllerRevision, DaemonSet, Node, Pod } from "../../resource/builtin/index.ts";
import { sameJson } from "../../resource/json.ts";
import type { Clock } from "../../platform/clock.ts";
import { byRevision, truncateHistory, historyOf } from "../revision/history.ts";
import { OwnedKind } from "../workload/owned-kind.ts";
import { isOrphan, selectedBy } from "../workload/owner.ts";
import { createPod, deletePod, podOf, type PodRun } from "../workload/pod-control.ts";
import { nextAvailableIn } from "../workload/pod-state.ts";
import { slowStart } from "../workload/slow-start.ts";
import { runIn } from "../workload/time.ts";
import { HASH_LABEL, templateFor } from "./daemon-pod.ts";
import { fitFor, groupByNode, placementOn, type PodsByNode, type Situation, strandedPods } from "./placement.ts";
import { nextStep, type Step } from "./rolling-update.ts";
import { statusOf } from "./status.ts";
import { templateHash } from "../revision/template-patch.ts";

const ownedPods = new OwnedKind({ owner: DaemonSet, kind: Pod, selects: ({ spec }) => selectedBy(spec.selector) });
const ownedRevisions = new OwnedKind({
  owner: DaemonSet,
  kind: ControllerRevision,
  selects: ({ spec }) => selectedBy(spec.selector),
});

/** The most pods that one run creates, and the most that it deletes. */
const BURST = 250;

/** @see https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/ */
export function daemonSetController(clock: Clock): Definition {
  const backOff = new FailureBackOff();
  return defineController({
    name: "daemonset-controller",
    for: DaemonSet,
    // A revision that somebody else makes waits for the next run.
    owns: [Pod, watch(ControllerRevision, { on: ({ type }) => type !== "create" })],
    reads: [Pod, ControllerRevision, Node],
    watches: [
      watch(Pod, { match: isOrphan, enqueue: (pod, { client }) => ownedPods.adopters(pod, client) }),
      watch(Node, {
        // Nodes report their health all the time; only these fields decide which pods they get.
        on: ({ type, object, old }) =>
          type === "update"
            ? !sameJson(object.metadata.labels, old?.metadata.labels) ||
              !sameJson(object.spec?.taints, old?.spec?.taints)
            : type === "create",
        enqueue: setsOn,
      }),
    ],
    uses: [allow(Pod, "create", "patch", "delete"), allow(ControllerRevision, "create", "update", "patch", "delete")],
    async reconcile(set, { client, events, status }) {
      if (sameJson(set.spec.selector, {})) {
        events.warning("SelectingAll", "This daemon set is selecting all pods. A non-empty selector is required.");
        return undefined;
      }
      const nodes = await client.list(Node);
      const history = (await ownedRevisions.claim(set, client)).sort(byRevision);
      const { hash, old, collisions } = await revisionsOf(set, history, {
        client,
        pods: await ownedPods.claim(set, client),
      });
      const run: SetRun = { client, events, hash, nodes, now: clock.now() };
      const look = async () => groupByNode(await ownedPods.claim(set, client));
      let wait = Infinity;
      try {
        wait = await placePods(set, await look(), { run, backOff });
        // Pods that were just created and deleted are visible here, because own writes reach the cache at once.
        if (set.spec.updateStrategy?.type === "RollingUpdate") {
          await take(nextStep(set, { ...run, byNode: await look() }), set, run);
        }
        await truncate(old, set, client);
      } finally {
        status.set({ ...statusOf(set, { ...run, byNode: await look() }), collisionCount: collisions });
      }
      const { minReadySeconds } = set.spec;
      const pods = await ownedPods.claim(set, client);
      return runIn(Math.min(wait, nextAvailableIn(pods, { minReadySeconds, now: run.now })));
    },
  });
}

interface SetRun extends PodRun, Omit<Situation, "byNode"> {}

interface Placing {
  readonly run: SetRun;
  readonly backOff: FailureBackOff;
}

/** Runs one pod on each node that fits, and none on others. @returns milliseconds until failed pods may be replaced */
async function placePods(set: DaemonSet, byNode: PodsByNode, { run, backOff }: Placing): Promise<number> {
  const { nodes, events, hash, now } = run;
  const create: string[] = [];
  const remove = strandedPods(byNode, nodes);
  let wait = Infinity;
  for (const node of nodes) {
    const { name } = node.metadata;
    const { isMissing, excess, ended } = placementOn(node, set, { byNode, hash, now });
    if (isMissing) create.push(name);
    remove.push(...excess);
    for (const pod of ended) {
      const place = `${set.metadata.uid}/${set.status?.observedGeneration ?? 0}/${name}`;
      const left = pod.status?.phase === "Failed" ? backOff.next(place, now) : 0;
      wait = Math.min(wait, left || wait);
      if (left > 0) continue;
      tellEnd(pod, name, events);
      remove.push(pod);
    }
  }
  await take({ create, remove }, set, run);
  return wait;
}

/** Creates and deletes pods. @throws the first failure, after all others were tried. */
async function take({ create, remove }: Step, set: DaemonSet, run: SetRun): Promise<void> {
  const names = create.slice(0, BURST).values();
  const start = () => createPod(podOf(templateFor(set, names.next().value ?? "", run.hash), set), run);
  const results = await Promise.allSettled([
    slowStart(Math.min(create.length, BURST), start),
    ...remove.slice(0, BURST).map((pod) => deletePod(pod, run)),
  ]);
  for (const result of results) if (result.status === "rejected") throw result.reason;
}

function tellEnd({ metadata: { namespace, name }, status }: Pod, node: string, events: RunEvents): void {
  const pod = `daemon pod ${namespace}/${name} on node ${node}`;
  if (status?.phase === "Failed") events.warning("FailedDaemonPod", `Found failed ${pod}, will try to kill it`);
  else events.normal("SucceededDaemonPod", `Found succeeded ${pod}, will try to delete it`);
}

/** Returns the keys of the sets that a changed node affects. */
async function setsOn(node: Node, { client }: { readonly client: Pick<Client, "list"> }): Promise<DaemonSet[]> {
  const concerned: DaemonSet[] = [];
  for (const set of await client.list(DaemonSet)) {
    const pods = await ownedPods.controlled(set, client);
    const isThere = pods.some(({ spec }) => spec.nodeName === node.metadata.name);
    const { shouldRun, mayStay } = fitFor(set, node);
    const isMisplaced = isThere && (!mayStay || (set.status?.numberMisscheduled ?? 0) > 0);
    if (isMisplaced || (shouldRun && !isThere)) concerned.push(set);
  }
  return concerned;
}

/** Deletes the oldest revisions that no pod uses. */
async function truncate(old: readonly ControllerRevision[], set: DaemonSet, client: Client): Promise<void> {
  const live = new Set((await ownedPods.claim(set, client)).map(({ metadata }) => metadata.labels?.[HASH_LABEL]));
  const unused = old.filter((revision) => !live.has(hashOf(revision)));
  // Revisions in use count towards the limit and stay.
  const limit = (set.spec.revisionHistoryLimit ?? 10) - (old.length - unused.length);
  await truncateHistory(client, unused, Math.max(0, limit));
}

/** Milliseconds before a failed pod is replaced: at first, and at most. */
const FIRST = 1_000;
const LONGEST = 15 * 60_000;

interface Entry {
  delay: number;
  since: number;
}

/**
 * Delays the replacement of a daemon's failed pods more and more, because a kubelet that rejects one pod will reject
 * the next: the last replacement at each place, and how long the next one has to wait.
 */
class FailureBackOff {
  readonly #entries = new Map<string, Entry>();

  /** Returns the milliseconds until a failed pod may be replaced; when it returns 0, the replacement is counted. */
  next(place: string, now: number): number {
    for (const [key, { since }] of this.#entries) if (now - since > 2 * LONGEST) this.#entries.delete(key);
    const entry = this.#entries.get(place);
    if (entry === undefined) {
      this.#entries.set(place, { delay: FIRST, since: now });
      return 0;
    }
    if (now - entry.since < entry.delay) return entry.since + entry.delay - now;
    entry.delay = Math.min(2 * entry.delay, LONGEST);
    entry.since = now;
    return 0;
  }
}

interface Revisions {
  /** The revision of the present template. */
  readonly hash: string;
  /** The revisions of earlier templates, oldest first. */
  readonly old: readonly ControllerRevision[];
  /** The number of name collisions; `undefined` for none. */
  readonly collisions: number | undefined;
}

function hashOf({ metadata: { labels, name } }: ControllerRevision): string {
  return labels?.[HASH_LABEL] ?? name;
}

/** Finds or creates the revision. @param history oldest first */
async function revisionsOf(
  set: DaemonSet,
  history: readonly ControllerRevision[],
  { client, pods }: { readonly client: Client; readonly pods: readonly Pod[] },
): Promise<Revisions> {
  const names = { hashLabel: HASH_LABEL, hashOf: templateHash };
  const { newest, duplicates, others, collisions } = await historyOf(set, history, { client, ...names });
  for (const duplicate of duplicates) await replaceWith(newest, duplicate, { client, pods });
  return { hash: hashOf(newest), old: others, collisions };
}

/** Merges two revisions with the same template: the pods of the older one now belong to the newer. */
async function replaceWith(
  kept: ControllerRevision,
  { metadata: { name, namespace } }: ControllerRevision,
  { client, pods }: { readonly client: Client; readonly pods: readonly Pod[] },
): Promise<void> {
  const body = { metadata: { labels: { [HASH_LABEL]: hashOf(kept) } } };
  for (const { metadata } of pods) {
    if (metadata.labels?.[HASH_LABEL] === hashOf(kept)) continue;
    await client.patch(Pod, { name: metadata.name, namespace }, { type: "merge", body });
  }
  await client.delete(ControllerRevision, { name, namespace });
}
