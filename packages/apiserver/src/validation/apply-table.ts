/** Walks an object along its schema, and calls the functions that a table has for the structs on the way. */
import { builtInSchema } from "../tables/tables.ts";
import type { Fields, GroupVersionKind, KubeObject } from "../hooks.ts";
import type { Schema } from "../schema/schema.ts";
import { podDefaults } from "./core/default-pods.ts";
import { otherDefaults } from "./default-others.ts";
import { workloadDefaults } from "./apps/default-workloads.ts";
import type { Default } from "./fill.ts";

const table = new Map<string, Default>(Object.entries({ ...podDefaults, ...workloadDefaults, ...otherDefaults }));

/** A field of a kind: the defaults that apply to it, and the fields below it that have any. */
interface Step {
  readonly apply: Default | undefined;
  readonly fields: readonly (readonly [string, Step])[];
  readonly items: Step | undefined;
}

/** The plans by kind, which are the same for every server of the process. */
const plans = new Map<string, Step | undefined>();

/** Returns a function that adds the defaults of a built-in kind. */
export function defaulting(row: GroupVersionKind): ((object: KubeObject) => void) | undefined {
  const id = `${row.group}/${row.version}/${row.kind}`;
  if (!plans.has(id)) plans.set(id, planOf(row));
  const step = plans.get(id);
  return step && ((object) => walk(step, object));
}

function planOf(row: GroupVersionKind): Step | undefined {
  const schema = builtInSchema(row);
  if (schema === undefined) return undefined;
  return plan(schema, { row, above: new Set(), worthwhile: worthwhile(schema, row) });
}

interface Planning {
  readonly row: GroupVersionKind;
  /** The schemas that enclose this one. Structs may contain themselves, and each is visited once. */
  readonly above: Set<Schema>;
  readonly worthwhile: ReadonlySet<Schema>;
}

function plan(schema: Schema, planning: Planning): Step | undefined {
  const { row, above, worthwhile } = planning;
  if (above.has(schema) || !worthwhile.has(schema)) return undefined;
  above.add(schema);
  const apply = entryOf(schema, row);
  const fields: [string, Step][] = [];
  for (const [name, field] of schema.properties ?? []) {
    const step = plan(field, planning);
    if (step) fields.push([name, step]);
  }
  const below = schema.items ?? schema.additional;
  const items = below && plan(below, planning);
  above.delete(schema);
  return apply || items || fields.length > 0 ? { apply, fields, items } : undefined;
}

/** Finds the schemas below which a function applies, because a recursive schema has too many paths to try. */
function worthwhile(root: Schema, row: GroupVersionKind): ReadonlySet<Schema> {
  const above = new Map<Schema, Schema[]>([[root, []]]);
  const pending = [root];
  const schemas: Schema[] = [];
  for (let schema = pending.pop(); schema !== undefined; schema = pending.pop()) {
    if (entryOf(schema, row)) schemas.push(schema);
    const below = schema.items ?? schema.additional;
    const children = [...(schema.properties?.values() ?? []), ...(below === undefined ? [] : [below])];
    for (const child of children) {
      const parents = above.get(child);
      if (parents) parents.push(schema);
      else {
        above.set(child, [schema]);
        pending.push(child);
      }
    }
  }
  const worth = new Set<Schema>();
  for (let schema = schemas.pop(); schema !== undefined; schema = schemas.pop()) {
    if (worth.has(schema)) continue;
    worth.add(schema);
    schemas.push(...(above.get(schema) ?? []));
  }
  return worth;
}

function entryOf(schema: Schema, row: GroupVersionKind): Default | undefined {
  const struct = schema.go?.struct;
  if (struct === undefined) return undefined;
  return table.get(`${row.group}/${row.version}/${struct}`) ?? table.get(`${row.group}/${struct}`) ?? table.get(struct);
}

function walk(step: Step, value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    if (step.items) for (const item of value) walk(step.items, item);
    return;
  }
  const fields = value as Fields;
  step.apply?.(fields);
  for (const [name, below] of step.fields) walk(below, fields[name]);
  if (step.items) for (const item of Object.values(fields)) walk(step.items, item);
}
