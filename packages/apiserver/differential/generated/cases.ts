/** The generated cases: for each served kind one with every verb. */
import type { Case } from "../case.ts";
import { apiVersionOf, type Served } from "../discovery.ts";
import { sampleOf } from "../samples/samples.ts";
import type { Selection } from "../sampling.ts";
import { deleting } from "./deleting.ts";
import { readAbsent, readPresent, watchAll } from "./reading.ts";
import { Subject } from "./subject.ts";
import { subresources } from "./subresources.ts";
import { apply, createInvalid, createValid, patch, update, writeAbsent } from "./writing.ts";

/** The share of the requests that a server answers alike for every kind; each kind sends other ones. */
const GENERAL = 0.2;

export function generatedCases(served: readonly Served[], { more = 1 }: Selection): Case[] {
  return served.flatMap((kind) => {
    const sample = sampleOf(kind);
    if (!sample) return [];
    const isStored = kind.verbs.includes("get");
    return {
      name: `${apiVersionOf(kind)}/${kind.kind}${isStored ? "" : " review"}`,
      run: async (session) => {
        const subject = new Subject(kind, sample, { session, general: GENERAL * more });
        await subject.prepare();
        await (isStored ? everyVerb(subject) : questions(subject));
      },
    };
  });
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
  if (subject.sample.settled) await subject.session.delete("delete", subject.path);
  else await deleting(subject);
  // A controller writes at any time, so what a watch shows of it cannot be compared.
  if (!subject.sample.settled) await watchAll(subject, version);
}

/** Sends requests for a kind that is answered and not stored, such as a review. */
async function questions(subject: Subject): Promise<void> {
  const { session, collection, sample } = subject;
  for (const method of ["GET", "PUT", "PATCH", "DELETE"])
    await session.send(`${method} the collection`, method, collection);
  await session.get("get one", `${collection}/x`);
  await session.post("ask", collection, subject.object({}, sample.minimal));
  await session.post("ask dry", `${collection}?dryRun=All`, subject.object({}, sample.minimal));
  if (sample.full) await session.post("ask the full one", collection, subject.object({}, sample.full));
  await session.post("ask nothing", collection, "");
  await session.post("ask empty", collection, { ...subject.object({}, {}), metadata: undefined });
}
