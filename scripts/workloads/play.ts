/** Runs situations on a cluster, many at once, each in a namespace of its own. */
import { type Outcome, outcomeOf, type Played } from "./outcome.ts";
import { Recorder } from "./recorder.ts";
import type { Side } from "./side.ts";
import type { Situation } from "./situation.ts";
import { Stage } from "./stage.ts";

/** So many play at once: more would only wait for each other, and deadlines would pass meanwhile. */
const AT_ONCE = 16;

/** By the situation's name. */
export async function play(side: Side, situations: readonly Situation[]): Promise<Map<string, Outcome>> {
  await using recorder = new Recorder(side);
  await recorder.start();
  const waiting = [...situations];
  const played = new Map<Situation, Played>();
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      played.set(next, await playOne(next, { side, recorder }));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  // Events are sent one after the other, long after what they tell of.
  await recorder.quiet(700);
  return new Map([...played].map(([situation, one]) => [situation.name, outcomeOf(situation, one)]));
}

interface Theatre {
  readonly side: Side;
  readonly recorder: Recorder;
}

async function playOne(situation: Situation, { side, recorder }: Theatre): Promise<Played> {
  const namespace = situation.name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 60)
    .replace(/-$/, "");
  const stage = new Stage(side, { recorder, namespace });
  let failure: string | undefined;
  try {
    const body = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } };
    await stage.send("POST", "/api/v1/namespaces", body);
    await situation.run(stage);
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error);
    await stage.settle("failed", undefined, { quiet: 0 });
  }
  return { snapshots: stage.snapshots, happenings: stage.happenings, failure };
}
