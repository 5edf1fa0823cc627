/** The keys of the controllers, as the debug listener shows them. */
import type { RunningController } from "../../controller/controller.ts";
import { causesText, type KeyState } from "../../queue/entries.ts";
import {
  KEY_STATES,
  type ControllerAnswer,
  type KeyAnswer,
  type KeysAnswer,
  type KeyStateName,
} from "../../server/debug/answers.ts";
import type { KeyFilter } from "../../server/debug/debug-app.ts";
import { kindAnswer } from "./kind-names.ts";

export type KeyCounts = Record<KeyStateName, number>;

export function noKeys(): KeyCounts {
  return { parked: 0, stuck: 0, failing: 0, running: 0, waiting: 0, delayed: 0 };
}

/** Counts the keys of a controller by state. Walks the queue. */
export function countKeys(controller: RunningController, counts: KeyCounts = noKeys()): KeyCounts {
  const stuck = stuckKeys(controller);
  for (const key of controller.queue.keys()) counts[stateOf(key, stuck)]++;
  return counts;
}

/** The reason of a key's last failure; `undefined` when nobody knows it any more. */
export type LastError = (controller: string, key: string) => string | undefined;

/** Returns the keys that match, ordered by state and then by time, and how many there are. Walks the queues. */
export function keyAnswers(
  controllers: readonly RunningController[],
  filter: KeyFilter,
  lastError: LastError,
): KeysAnswer {
  const matches: { readonly controller: RunningController; readonly key: KeyState; readonly state: KeyStateName }[] =
    [];
  for (const controller of controllers) {
    if (filter.controller !== undefined && filter.controller !== controller.name) continue;
    if (filter.module !== undefined && filter.module !== controller.module) continue;
    const stuck = stuckKeys(controller);
    for (const key of controller.queue.keys()) {
      const state = stateOf(key, stuck);
      if (filter.states?.includes(state) === false) continue;
      if (filter.text !== undefined && !key.key.includes(filter.text)) continue;
      matches.push({ controller, key, state });
    }
  }
  matches.sort((a, b) => KEY_STATES.indexOf(a.state) - KEY_STATES.indexOf(b.state) || a.key.at - b.key.at);
  return {
    keys: matches
      .slice(0, filter.limit)
      .map(({ controller, key, state }) => keyAnswer(controller, key, { state, lastError })),
    total: matches.length,
  };
}

export function controllerAnswer(controller: RunningController): ControllerAnswer {
  const { name, resource, state, concurrency } = controller;
  return {
    name,
    kind: resource && kindAnswer(resource),
    state: state.kind,
    message: state.message,
    concurrency,
    keys: countKeys(controller),
  };
}

function stuckKeys({ stuck }: RunningController): ReadonlySet<string> {
  return new Set(stuck.map(({ key }) => key));
}

function stateOf({ key, state }: KeyState, stuck: ReadonlySet<string>): KeyStateName {
  return state === "running" && stuck.has(key) ? "stuck" : state;
}

function keyAnswer(
  { name, module, resource }: RunningController,
  { key, at, attempt, priority, causes, reason, state: queued }: KeyState,
  { state, lastError }: { readonly state: KeyStateName; readonly lastError: LastError },
): KeyAnswer {
  const time = new Date(at).toISOString();
  const isLater = queued === "delayed" || queued === "failing";
  return {
    controller: name,
    module,
    kind: resource && kindAnswer(resource),
    key,
    state,
    since: isLater ? undefined : time,
    until: isLater ? time : undefined,
    failures: attempt - 1,
    reason: reason ?? (attempt > 1 ? lastError(name, key) : undefined),
    priority,
    causes: causes.map((cause) => causesText([cause])),
  };
}
