/** Runs situations on a cluster, all at once, each in a namespace of its own. */
import { type Outcome, outcomeOf } from "./outcome.ts";
import { Recorder } from "./recorder.ts";
import type { Side } from "./side.ts";
import type { Situation } from "./situation.ts";
import { Stage } from "./stage.ts";

/** By the situation's name. */
export async function play(side: Side, situations: readonly Situation[]): Promise<Map<string, Outcome>> {
  await using recorder = new Recorder(side);
  await recorder.start();
  const outcomes = await Promise.all(situations.map((one) => playOne(one, { side, recorder })));
  return new Map(situations.map(({ name }, index) => [name, outcomes[index]!]));
}

interface Theatre {
  readonly side: Side;
  readonly recorder: Recorder;
}

async function playOne(situation: Situation, { side, recorder }: Theatre): Promise<Outcome> {
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
    const objects = [...new Map(stage.happenings.map(({ object }) => [object.metadata.uid, object])).values()];
    stage.snapshots.push({ label: "failed", objects: objects.filter(({ kind }) => kind !== "Event") });
  }
  return outcomeOf(situation, { snapshots: stage.snapshots, happenings: stage.happenings, failure });
}
