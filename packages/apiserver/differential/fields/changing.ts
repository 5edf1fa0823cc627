/** Dry-run changes of a stored object, one field at a time: by PUT, patches and apply. */
import type { Schema } from "../../src/schema/schema.ts";
import type { Subject } from "../generated/subject.ts";
import { type Loose, patchTypes } from "../session.ts";
import { absentFields, at, changedAt, type Path, pathsOf, schemaAt } from "../places.ts";
import { isChosen } from "../sampling.ts";
import { changedValue, newValues, plausible } from "./values.ts";

interface Fields {
  readonly schema: Schema;
  readonly base: Readonly<Record<string, unknown>>;
  readonly share: number;
}

export async function changing(subject: Subject, { schema, base, share }: Fields): Promise<void> {
  const { session, path: one, collection } = subject;
  await session.post("create", `${collection}?fieldManager=tester`, subject.object({}, base));
  const live: Loose = await session.quietly("GET", one);
  if (live?.kind !== subject.served.kind) return;
  const send: Send = async (label, method, { to = "?dryRun=All", type, body }) => {
    if (!isChosen(session.name, label, share)) return;
    const headers = { "content-type": type === undefined ? "application/json" : patchTypes[type] };
    await session.send(label, method, `${one}${to}`, { headers, body: body() });
  };
  const { apiVersion: _, kind: __, metadata: ___, status, ...fields } = live;
  for (const path of pathsOf(fields)) {
    const text = path.join(".");
    const value = at(fields, path);
    const patch = async (label: string, type: keyof typeof patchTypes, body: () => unknown): Promise<void> =>
      await send(label, "PATCH", { type, body });
    await send(`put ${text} changed`, "PUT", { body: () => changedAt(live, path, changedValue(value)) });
    await send(`remove ${text} by put`, "PUT", { body: () => changedAt(live, path, undefined) });
    await patch(`set ${text} by a json patch`, "json", () => [
      { op: "replace", path: pointer(path), value: changedValue(value) },
    ]);
    await patch(`remove ${text} by a json patch`, "json", () => [{ op: "remove", path: pointer(path) }]);
    if (!path.some((step) => typeof step === "number")) {
      await patch(`set ${text} to null by a merge patch`, "merge", () => objectAt(path, null));
      await patch(`set ${text} by a merge patch`, "merge", () => objectAt(path, changedValue(value)));
      await patch(`set ${text} to null by a strategic patch`, "strategic", () => objectAt(path, null));
    }
    await strategic(path, { value, schema, send });
    await applyAlone(path, { live: fields, schema, send, subject });
  }
  for (const { path, schema: field } of absentFields(schema, fields)) {
    if (path[0] === "status") continue;
    for (const [label, value] of newValues(field).slice(0, 3))
      await send(`put new ${path.join(".")} ${label}`, "PUT", { body: () => changedAt(live, path, value) });
  }
  const statusSchema = schemaAt(schema, ["status"]);
  const hasStatus = subject.served.subresources.some(({ name }) => name === "status");
  if (statusSchema?.properties && hasStatus) await statuses(statusSchema, { live, status, send });
  await subject.remove();
}

/** Writes the status, one field at a time. */
async function statuses(
  statusSchema: Schema,
  { live, status, send }: { readonly live: Loose; readonly status: Loose; readonly send: Send },
): Promise<void> {
  const to = "/status?dryRun=All";
  for (const [name, field] of statusSchema.properties ?? []) {
    for (const [label, value] of [["null", null] as const, ...newValues(field)]) {
      const body = () => ({ ...live, status: { ...status, [name]: value } });
      await send(`status.${name} ${label}`, "PUT", { to, body });
    }
    const inner = field.items ?? field;
    if (!inner.properties) continue;
    const whole = Object.fromEntries([...inner.properties].map(([key, each]) => [key, plausible(each)]));
    const wrap = (value: unknown) => ({ ...live, status: { ...status, [name]: field.items ? [value] : value } });
    await send(`status.${name} in full`, "PUT", { to, body: () => wrap(whole) });
    for (const [key, each] of inner.properties) {
      for (const [label, value] of newValues(each).slice(1))
        await send(`status.${name}.${key} ${label}`, "PUT", { to, body: () => wrap({ ...whole, [key]: value }) });
    }
  }
}

type Send = (
  label: string,
  method: string,
  rest: { readonly to?: string; readonly type?: keyof typeof patchTypes; readonly body: () => unknown },
) => Promise<void>;

/** Sends the directives of strategic merge patches for a place. */
async function strategic(
  path: Path,
  { value, schema, send }: { readonly value: unknown; readonly schema: Schema; readonly send: Send },
): Promise<void> {
  if (path.some((step) => typeof step === "number") || typeof value !== "object" || value === null) return;
  const text = path.join(".");
  const patch = async (label: string, body: () => unknown) =>
    await send(`${label} ${text} by a strategic patch`, "PATCH", { type: "strategic", body });
  const here = schemaAt(schema, path);
  if (!Array.isArray(value)) {
    await patch("replace", () => objectAt(path, { ...value, $patch: "replace" }));
    await patch("delete", () => objectAt(path, { $patch: "delete" }));
    await patch("retain keys of", () => objectAt(path, { $retainKeys: Object.keys(value).toSorted().slice(0, 1) }));
    return;
  }
  const key = here?.patchMergeKey;
  const parent = path.slice(0, -1);
  const last = String(path.at(-1));
  const first: unknown = value[0];
  if (key === undefined) {
    await patch("delete primitives of", () => objectAt(parent, { [`$deleteFromPrimitiveList/${last}`]: [first] }));
    await patch("add primitives to", () => objectAt(path, [first, "z"]));
    await patch("order primitives of", () =>
      objectAt(parent, { [`$setElementOrder/${last}`]: ["z", first], [last]: ["z"] }),
    );
    return;
  }
  const name = (first as Record<string, unknown> | undefined)?.[key];
  await patch("delete an item of", () => objectAt(path, [{ $patch: "delete", [key]: name }]));
  await patch("replace all items of", () => objectAt(path, [{ $patch: "replace" }, { ...(first as object) }]));
  await patch("add an item to", () => objectAt(path, [{ ...(first as object), [key]: changedValue(name) }]));
  await patch("change an item of", () => objectAt(path, [{ [key]: name, nope: "x", name: "other" }]));
  await patch("an item without its key in", () => objectAt(path, [{ a: "b" }]));
  await patch("order items of", () =>
    objectAt(parent, {
      [`$setElementOrder/${last}`]: [{ [key]: changedValue(name) }, { [key]: name }],
      [last]: [{ ...(first as object), [key]: changedValue(name) }],
    }),
  );
}

interface Applied {
  readonly live: Record<string, unknown>;
  readonly schema: Schema;
  readonly send: Send;
  readonly subject: Subject;
}

/** Sends applies by another manager, of one place and the keys that lead to it. */
async function applyAlone(path: Path, { live, schema, send, subject }: Applied): Promise<void> {
  const text = path.join(".");
  const apply = async (label: string, query: string, value: unknown) =>
    await send(`apply ${text} ${label}`, "PATCH", {
      to: `?dryRun=All&fieldManager=other${query}`,
      type: "apply",
      body: () => subject.object({ labels: undefined }, alone(live, { path, schema, value })),
    });
  const value = at(live, path);
  await apply("as it is", "", value);
  await apply("changed", "", changedValue(value));
  await apply("changed by force", "&force=true", changedValue(value));
}

/** Returns an object that has this place only; items of lists keep their keys. */
function alone(
  live: unknown,
  { path, schema, value }: { readonly path: Path; readonly schema: Schema | undefined; readonly value: unknown },
): Record<string, unknown> {
  const [step, ...rest] = path;
  const inner = rest.length === 0 ? value : undefined;
  const below = (next: Schema | undefined, from: unknown): unknown =>
    rest.length === 0 ? inner : alone(from, { path: rest, schema: next, value });
  if (typeof step !== "number") {
    const next = schemaAt(schema, [step!]);
    return { [step!]: below(next, (live as Record<string, unknown>)[step!]) };
  }
  const item = (live as unknown[])[step];
  const part = below(schema?.items, item);
  if (typeof part !== "object" || part === null || Array.isArray(part) || typeof item !== "object")
    return [part] as unknown as Record<string, unknown>;
  const keys = Object.fromEntries(
    (schema?.listKeys ?? [])
      .filter((key) => Object.hasOwn(item as object, key))
      .map((key) => [key, (item as Record<string, unknown>)[key]]),
  );
  return [{ ...keys, ...part }] as unknown as Record<string, unknown>;
}

function objectAt(path: Path, value: unknown): unknown {
  return path.toReversed().reduce<unknown>((inner, step) => ({ [step]: inner }), value);
}

function pointer(path: Path): string {
  return path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
