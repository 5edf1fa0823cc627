/** The recorded runs of one object, and the runs that lead to them. */
import type { RunningController } from "../../controller/controller.ts";
import type { InformerRegistry } from "../../cache/informer-registry.ts";
import { isStub } from "../../cache/object-transformer.ts";
import type { ObjectRef, RunAnswer } from "../../history/run-answer.ts";
import type { RunHistory } from "../../history/run-history.ts";
import { keyString } from "../../resource/meta.ts";
import type { HistoryAnswer } from "../../server/debug/answers.ts";
import { type HistoryQuery, NotKnown } from "../../server/debug/debug-app.ts";
import { keyAnswers, type LastError } from "./key-answers.ts";
import { isNamed } from "./kind-names.ts";
import { cachedObject, conditionsOf } from "./owner-tree.ts";

/** The most runs that a chain of causes leads to. */
const MOST_LINKED = 100;

export interface HistorySource {
  readonly informers: Pick<InformerRegistry, "all">;
  readonly controllers: readonly RunningController[];
  readonly history: RunHistory;
  readonly lastError: LastError;
  /** Removes what must not be shown from a text. */
  readonly clean: (text: string) => string;
}

/**
 * Returns the runs of an object, those of other objects that have written it, and all runs whose writes have caused
 * these.
 *
 * @throws NotKnown when neither a cache nor a run knows the object.
 */
export function historyAnswer(source: HistorySource, query: HistoryQuery): HistoryAnswer {
  const { informers, controllers, history, lastError, clean } = source;
  const { kind, name, namespace, controller, limit } = query;
  const cached = cachedObject(informers, query);
  const isMeant = (ref: ObjectRef | undefined): boolean =>
    ref !== undefined && ref.name === name && ref.namespace === namespace && isNamed(kind, ref);
  const runs: RunAnswer[] = [];
  const writers: RunAnswer[] = [];
  for (const run of history.runs({ controller })) {
    if (isMeant(run.object)) {
      if (runs.length < limit) runs.push(run);
    } else if (writers.length < limit && hasWritten(run, isMeant)) writers.push(run);
  }
  const subject =
    runs[0]?.object ?? writers.flatMap(({ requests }) => requests).find(({ object }) => isMeant(object))?.object;
  if (cached === undefined && subject === undefined) {
    const kinds = [...new Set(Array.from(informers.all(), ({ resource }) => resource.kind))].join(", ");
    throw new NotKnown(
      `no cache and no recorded run knows ${kind} ${keyString(query)}; the watched kinds are ${kinds || "none"}`,
    );
  }
  const responsible = controllers.filter(({ resource }) => resource !== undefined && isNamed(kind, resource));
  const key = keyString(query);
  const keys = keyAnswers(responsible, { text: key, limit: Infinity }, lastError).keys.filter((one) => one.key === key);
  return {
    object: subject ?? (cached && { ...refOf(cached.resource), name, namespace, uid: cached.object.metadata.uid }),
    present: cached && {
      resourceVersion: cached.object.metadata.resourceVersion,
      generation: cached.object.metadata.generation,
      isDeleting: cached.object.metadata.deletionTimestamp !== undefined,
      isWhole: !isStub(cached.object),
      conditions: conditionsOf(cached.object, clean),
    },
    controllers: responsible.map((one) => one.name),
    keys,
    runs,
    writers,
    linked: linkedRuns(history, [...runs, ...writers]),
  };
}

function refOf({ group, version, kind }: Omit<ObjectRef, "name">): Omit<ObjectRef, "name"> {
  return { group, version, kind };
}

function hasWritten({ requests }: RunAnswer, isMeant: (ref: ObjectRef) => boolean): boolean {
  return requests.some(
    ({ object, status, dryRun }) => status < 300 && status > 0 && dryRun !== true && isMeant(object),
  );
}

/** Follows the causes of runs to the runs whose writes they are. */
function linkedRuns(history: RunHistory, runs: readonly RunAnswer[]): readonly RunAnswer[] {
  const known = new Map(runs.map((run) => [run.id, run]));
  const linked: RunAnswer[] = [];
  const pending = [...runs];
  for (let run = pending.shift(); run !== undefined && linked.length < MOST_LINKED; run = pending.shift()) {
    for (const { run: ref } of run.causes) {
      if (ref === undefined || known.has(ref.id)) continue;
      const cause = history.run(ref.id);
      if (cause === undefined) continue;
      known.set(ref.id, cause);
      linked.push(cause);
      pending.push(cause);
    }
  }
  return linked;
}
