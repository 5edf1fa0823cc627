/** Dry-run creates of objects with one invalid field. */
import type { Schema } from "../../src/schema/schema.ts";
import type { Subject } from "../generated/subject.ts";
import { absentFields, at, changedAt, type Path, pathsOf, schemaAt } from "../places.ts";
import { isChosen } from "../sampling.ts";
import { newValues, otherValues } from "./values.ts";

interface Fields {
  readonly schema: Schema;
  readonly base: Readonly<Record<string, unknown>>;
  readonly share: number;
}

export async function creating(subject: Subject, { schema, base, share }: Fields): Promise<void> {
  const { session, collection } = subject;
  const send = async (label: string, query: string, fields: () => object) => {
    if (!isChosen(session.name, label, share)) return;
    const body = subject.object({}, fields() as Record<string, unknown>);
    await session.post(label, `${collection}?dryRun=All${query}`, body);
  };
  for (const path of pathsOf(base)) {
    const text = path.join(".");
    for (const [label, value] of otherValues(at(base, path)))
      await send(`create ${text} ${label}`, "", () => changedAt(base, path, value));
    if (path.some((step) => typeof step === "number") && typeof path.at(-1) !== "number")
      await send(`create ${text} absent`, "", () => changedAt(base, path, undefined));
  }
  for (const { path, schema: field } of absentFields(schema, base)) {
    for (const [label, value] of newValues(field))
      await send(`create new ${path.join(".")} ${label}`, "", () => changedAt(base, path, value));
  }
  for (const path of [[], ...pathsOf(base)] as Path[]) {
    const inner = at(base, path);
    if (typeof inner !== "object" || inner === null || Array.isArray(inner) || !schemaAt(schema, path)?.properties)
      continue;
    for (const validation of ["Strict", "Warn", "Ignore"])
      await send(`create unknown ${path.join(".")}.nope ${validation}`, `&fieldValidation=${validation}`, () =>
        changedAt(base, [...path, "nope"], { a: 1 }),
      );
  }
}
