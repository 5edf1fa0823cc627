/** The actions of the keys in `dev`. */
import type { Pause } from "../controller/pause.ts";
import type { RunningController } from "../controller/controller.ts";
import { LOG_LEVELS, type RootLog } from "../observe/log.ts";

export const KEYS = "r reconcile all, p pause, l log level, q quit";

export interface DevKeysOptions {
  readonly controllers: () => readonly RunningController[];
  readonly pause: Pause;
  readonly log: RootLog;
  /** Prints whatever the log level is. */
  readonly say: (text: string) => void;
  readonly quit: () => void;
}

/** @returns a function to call with each pressed key; keys other than {@link KEYS} print the list of keys. */
export function devKeys({ controllers, pause, log, say, quit }: DevKeysOptions): (key: string) => void {
  const reconcileAll = (): void => {
    const all = controllers();
    for (const controller of all) controller.reconcileAll();
    const names = all.map(({ name }) => name).join(", ");
    const waits = pause.isPaused ? "; nothing runs before p is pressed again" : "";
    say(all.length === 0 ? "No controller runs" : `Reconciling all objects of ${names}${waits}`);
  };
  const togglePause = (): void => {
    pause.isPaused = !pause.isPaused;
    say(
      pause.isPaused
        ? "Paused: no run begins, and what changes meanwhile is reconciled afterwards; p goes on"
        : "Goes on: what changed meanwhile is reconciled",
    );
  };
  const nextLevel = (): void => {
    log.level = LOG_LEVELS[(LOG_LEVELS.indexOf(log.level) + 1) % LOG_LEVELS.length]!;
    say(`Log level: ${log.level}`);
  };
  const actions: Readonly<Record<string, () => void>> = {
    r: reconcileAll,
    p: togglePause,
    l: nextLevel,
    q: quit,
  };
  return (key) => {
    if (Object.hasOwn(actions, key)) actions[key]!();
    else if (key === "\r" || key === "\n") say("");
    else if (/^[\w?]$/.test(key)) say(`Keys: ${KEYS}`);
  };
}
