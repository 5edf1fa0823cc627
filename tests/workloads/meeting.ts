/** Two stages of one situation wait for each other at the end of each step. */
import { snapshotOf } from "./outcome.ts";
import type { Situation } from "./situation.ts";
import type { Snapshot, Stage } from "./stage.ts";

/** Milliseconds that they get to become alike. */
const PATIENCE = 6_000;

/**
 * The step ends when both clusters show the same, or after a while: a busy machine, a refused write that is tried again
 * make one of them later than the other, and no fixed pause would be long enough for all.
 */
export class Meeting {
  readonly #situation: Situation;
  readonly #stages: Stage[] = [];
  readonly #gone = new Set<Stage>();
  /** By step. */
  readonly #decided: Map<Stage, Snapshot>[] = [];
  /** `performance.now()` when both had come, by step. */
  readonly #since: number[] = [];
  /** How much had happened on each when they were last compared. */
  #compared = "";

  constructor(situation: Situation) {
    this.#situation = situation;
  }

  join(stage: Stage): void {
    this.#stages.push(stage);
  }

  /** The stage has come to its end: nobody waits for it. */
  leave(stage: Stage): void {
    this.#gone.add(stage);
  }

  /** The snapshot of the stage at the end of its step. */
  async meet(stage: Stage, label: string): Promise<Snapshot> {
    const step = stage.snapshots.length;
    stage.waitsAt = step;
    for (;;) {
      const decided = this.#decided[step]?.get(stage);
      if (decided !== undefined) return decided;
      if (this.#gone.size > 0) return stage.snapshot(label);
      if (this.#stages.every((one) => one.waitsAt === step)) this.#decide(step, label);
      if (this.#decided[step] === undefined) await Bun.sleep(50);
    }
  }

  #decide(step: number, label: string): void {
    const since = (this.#since[step] ??= performance.now());
    const isLate = performance.now() - since > PATIENCE;
    const happened = `${step} ${this.#stages.map(({ happenings }) => happenings.length).join(" ")}`;
    if (happened === this.#compared && !isLate) return;
    this.#compared = happened;
    const snapshots = new Map(this.#stages.map((stage) => [stage, stage.snapshot(label)]));
    const texts = [...snapshots].map(([stage, snapshot]) =>
      JSON.stringify(snapshotOf(this.#situation, { snapshot, happenings: stage.happenings })),
    );
    const isSame = texts.every((text) => text === texts[0]);
    if (isSame || isLate) this.#decided[step] = snapshots;
  }
}
