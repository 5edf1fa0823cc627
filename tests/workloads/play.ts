/** Runs situations on two clusters, many at once, each in a namespace of its own. */
import { type Outcome, outcomeOf, type Played } from "./outcome.ts";
import { Meeting } from "./meeting.ts";
import { Recorder } from "./recorder.ts";
import type { Side } from "./side.ts";
import type { Situation } from "./situation.ts";
import { Stage } from "./stage.ts";

/** So many play at once: more would only wait for each other, and deadlines would pass meanwhile. */
const AT_ONCE = 28;
/** So many when what differs is played for the third time. */
const FEW_AT_ONCE = 4;

/** By the situation's name, for each cluster. @param attempt each one after the first needs other namespaces */
export async function play(
  sides: readonly [Side, Side],
  situations: readonly Situation[],
  attempt = 1,
): Promise<[Map<string, Outcome>, Map<string, Outcome>]> {
  await using one = new Recorder(sides[0]);
  await using other = new Recorder(sides[1]);
  const recorders = [one, other] as const;
  await Promise.all(recorders.map((recorder) => recorder.start()));
  const waiting = [...situations];
  const played = new Map<Situation, readonly Played[]>();
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const situation = next;
      const meeting = new Meeting(situation);
      const stages = recorders.map(
        (recorder) => new Stage(recorder.side, { recorder, meeting, namespace: namespaceOf(situation, attempt) }),
      );
      played.set(situation, await Promise.all(stages.map((stage) => playOn(stage, { situation, meeting }))));
    }
  };
  await Promise.all(Array.from({ length: attempt > 2 ? FEW_AT_ONCE : AT_ONCE }, worker));
  // Events are sent one after the other, long after what they tell of.
  await Promise.all(recorders.map((recorder) => recorder.quiet(700)));
  const outcomes = (side: 0 | 1): Map<string, Outcome> =>
    new Map([...played].map(([situation, both]) => [situation.name, outcomeOf(situation, both[side]!)]));
  return [outcomes(0), outcomes(1)];
}

function namespaceOf({ name }: Situation, attempt: number): string {
  const slug = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 60)
    .replace(/-$/, "");
  return attempt === 1 ? slug : `${slug}-${attempt}`;
}

interface Play {
  readonly situation: Situation;
  readonly meeting: Meeting;
}

async function playOn(stage: Stage, { situation, meeting }: Play): Promise<Played> {
  let failure: string | undefined;
  try {
    const body = { apiVersion: "v1", kind: "Namespace", metadata: { name: stage.namespace } };
    await stage.send("POST", "/api/v1/namespaces", body);
    await situation.run(stage);
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error);
    stage.snapshots.push(stage.snapshot("failed"));
  }
  meeting.leave(stage);
  return { snapshots: stage.snapshots, happenings: stage.happenings, failure };
}
