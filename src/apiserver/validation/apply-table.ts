/** Walks an object along its schema and calls what a table says of the structs it meets. */
import { builtInSchema } from "../tables/tables.ts";
import type { Fields, GroupVersionKind, KubeObject } from "../hooks.ts";
import type { Schema } from "../schema/schema.ts";
import { podDefaults } from "./default-pods.ts";
import { otherDefaults } from "./default-others.ts";
import { workloadDefaults } from "./default-workloads.ts";
import type { Default } from "./fill.ts";

const table = new Map<string, Default>(Object.entries({ ...podDefaults, ...workloadDefaults, ...otherDefaults }));

/** What is to be done at one place of a kind and below it; `undefined` where there is nothing. */
interface Step {
  readonly apply: Default | undefined;
  readonly fields: readonly (readonly [string, Step])[];
  readonly items: Step | undefined;
}

/** Fills in the defaults of a built-in kind. */
export function defaulting(row: GroupVersionKind): ((object: KubeObject) => void) | undefined {
  const schema = builtInSchema(row);
  const step = schema && plan(schema, row, new Set());
  return step && ((object) => walk(step, object));
}

function plan(schema: Schema, row: GroupVersionKind, above: Set<Schema>): Step | undefined {
  if (above.has(schema)) return undefined;
  above.add(schema);
  const struct = schema.go?.struct;
  const apply =
    struct === undefined
      ? undefined
      : (table.get(`${row.group}/${row.version}/${struct}`) ??
        table.get(`${row.group}/${struct}`) ??
        table.get(struct));
  const fields: [string, Step][] = [];
  for (const [name, field] of schema.properties ?? []) {
    const step = plan(field, row, above);
    if (step) fields.push([name, step]);
  }
  const below = schema.items ?? schema.additional;
  const items = below && plan(below, row, above);
  above.delete(schema);
  return apply || items || fields.length > 0 ? { apply, fields, items } : undefined;
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
