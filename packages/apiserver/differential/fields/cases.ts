/**
 * Cases that vary one field at a time, over all fields of the schemas of operators' kinds; a share of them is played.
 */
import { typicalObjects } from "../../../../tests/support/integration/typical-objects.ts";
import { builtInSchema } from "../../src/tables/tables.ts";
import type { Case } from "../case.ts";
import { apiVersionOf, pathOf, type Served } from "../discovery.ts";
import { Subject } from "../generated/subject.ts";
import { sampleOf } from "../samples/samples.ts";
import type { Selection } from "../sampling.ts";
import type { Session } from "../session.ts";
import { tierOf } from "../tiers.ts";
import { changing } from "./changing.ts";
import { creating } from "./creating.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The share of the requests that is played. */
const SHARE = 0.025;

export function fieldCases(served: readonly Served[], { more = 1 }: Selection): Case[] {
  const share = SHARE * more;
  const cases: Case[] = [];
  for (const kind of served) {
    const sample = sampleOf(kind);
    const schema = builtInSchema(kind);
    if (!sample || !schema || !kind.verbs.includes("create")) continue;
    if (tierOf(pathOf(kind, "n")) !== "words") continue;
    const name = `${apiVersionOf(kind)}/${kind.kind}`;
    const isStored = kind.verbs.includes("get");
    const typical = typicalFields(kind);
    const bases: [string, Fields][] = [["sample", sample.full ?? sample.minimal]];
    if (typical) bases.push(["typical", typical]);
    for (const [from, base] of bases) {
      const run = (act: typeof creating) => async (session: Session) => {
        const subject = new Subject(kind, sample, { session });
        await subject.prepare();
        await act(subject, { schema, base, share });
      };
      cases.push({ name: `${name} ${from} creates`, run: run(creating) });
      // Where a controller of the server writes too, the generated cases wait for it.
      if (isStored && !sample.settled) cases.push({ name: `${name} ${from} changes`, run: run(changing) });
    }
  }
  return cases;
}

function typicalFields(kind: Served): Fields | undefined {
  const object = (typicalObjects as unknown as readonly Fields[]).find(
    (each) => each["kind"] === kind.kind && each["apiVersion"] === apiVersionOf(kind),
  );
  if (!object) return undefined;
  const { apiVersion: _, kind: __, metadata: ___, ...fields } = object;
  return fields;
}
