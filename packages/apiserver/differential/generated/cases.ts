/** The generated cases: for each served kind one with every verb, and one with every field made wrong. */
import { apiVersionOf, type Served } from "../discovery.ts";
import { sampleOf } from "../samples/samples.ts";
import type { Case } from "../case.ts";
import { deleting } from "./deleting.ts";
import { mutations } from "./mutations.ts";
import { readAbsent, readPresent, watchAll } from "./reading.ts";
import { Subject } from "./subject.ts";
import { subresources } from "./subresources.ts";
import { apply, createInvalid, createValid, patch, update, writeAbsent } from "./writing.ts";

export interface GeneratedShares {
  /** How many of the exchanges with one wrong field are made, 1 for each of them. */
  readonly wrong: number;
  /** How many of those that a server answers alike for each kind. */
  readonly general: number;
}

export function generatedCases(served: readonly Served[], { wrong, general }: GeneratedShares): Case[] {
  const cases: Case[] = [];
  for (const kind of served) {
    const sample = sampleOf(kind);
    if (!sample) continue;
    const name = `${apiVersionOf(kind)}/${kind.kind}`;
    const stored = kind.verbs.includes("get");
    cases.push({
      name: stored ? name : `${name} review`,
      run: async (session) => {
        const subject = new Subject(kind, sample, session, general);
        await subject.prepare();
        await (stored ? everyVerb(subject) : questions(subject));
      },
    });
    cases.push({
      name: `${name} fields`,
      run: async (session) => {
        const subject = new Subject(kind, sample, session);
        await subject.prepare();
        await mutations(subject, wrong);
      },
    });
  }
  return cases;
}

async function everyVerb(subject: Subject): Promise<void> {
  const version = String(
    (await subject.session.quietly("GET", `${subject.collection}?limit=1`))?.metadata?.resourceVersion,
  );
  await readAbsent(subject);
  await writeAbsent(subject);
  await createInvalid(subject);
  await createValid(subject);
  await readPresent(subject);
  await update(subject);
  await patch(subject);
  await apply(subject);
  await subresources(subject);
  if (subject.sample.settled) await subject.session.send("delete", "DELETE", subject.path);
  else await deleting(subject);
  // When a controller writes is not ours to say, so neither is what a watch shows of it.
  if (!subject.sample.settled) await watchAll(subject, version);
}

/** Kinds that are asked, not kept. */
async function questions(subject: Subject): Promise<void> {
  const { session, collection, sample } = subject;
  for (const method of ["GET", "PUT", "PATCH", "DELETE"])
    await session.send(`${method} the collection`, method, collection);
  await session.send("get one", "GET", `${collection}/x`);
  await session.send("ask", "POST", collection, { body: subject.object({}, sample.minimal) });
  await session.send("ask dry", "POST", `${collection}?dryRun=All`, { body: subject.object({}, sample.minimal) });
  if (sample.full)
    await session.send("ask the full one", "POST", collection, { body: subject.object({}, sample.full) });
  await session.send("ask nothing", "POST", collection, { body: "" });
  await session.send("ask empty", "POST", collection, { body: { ...subject.object({}, {}), metadata: undefined } });
}
