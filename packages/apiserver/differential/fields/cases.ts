/**
 * Makes cases for each kind that vary one field at a time, over all fields of its schema; a share of them is played,
 * always the same one.
 */
import { typicalObjects } from "../../../../tests/support/integration/typical-objects.ts";
import { builtInSchema } from "../../src/tables/tables.ts";
import type { Case } from "../case.ts";
import { apiVersionOf, type Served } from "../discovery.ts";
import { Subject } from "../generated/subject.ts";
import { sampleOf } from "../samples/samples.ts";
import { changing } from "./changing.ts";
import { creating } from "./creating.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Returns the cases. @param share how many of them, 1 for all */
export function fieldCases(served: readonly Served[], share: number): Case[] {
  const cases: Case[] = [];
  for (const kind of served) {
    const sample = sampleOf(kind);
    const schema = builtInSchema(kind);
    if (!sample || !schema || !kind.verbs.includes("create")) continue;
    const name = `${apiVersionOf(kind)}/${kind.kind}`;
    const isStored = kind.verbs.includes("get");
    const typical = typicalFields(kind);
    const bases: [string, Fields][] = [["sample", sample.full ?? sample.minimal]];
    if (typical) bases.push(["typical", typical]);
    for (const [from, base] of bases) {
      const run = (act: typeof creating) => async (session: ConstructorParameters<typeof Subject>[2]) => {
        const subject = new Subject(kind, sample, session);
        await subject.prepare();
        await act(subject, { schema, base, share });
      };
      cases.push({ name: `${name} ${from} creates`, run: run(creating) });
      // What a controller of the server writes meanwhile is compared elsewhere.
      if (isStored && !sample.settled) cases.push({ name: `${name} ${from} changes`, run: run(changing) });
    }
  }
  return cases;
}

function typicalFields(kind: Served): Fields | undefined {
  const found = (typicalObjects as unknown as readonly Fields[]).find(
    (each) => each["kind"] === kind.kind && each["apiVersion"] === apiVersionOf(kind),
  );
  if (!found) return undefined;
  const { apiVersion: _, kind: __, metadata: ___, ...fields } = found;
  return fields;
}
