import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { defineResource, z } from "binnacle";
import { Secret } from "binnacle/resources";
import { type Fields, isFields, sameJson } from "../resource/json.ts";
import { schemaWithMarks } from "../resource/sensitive.ts";
import { compare } from "./changes.ts";
import type { Change } from "./run-answer.ts";

const clean = (text: string): string => text;

function changes(old: object, now: object): readonly Change[] {
  return compare(old as Fields, now as Fields, { clean }).changes;
}

describe("compare", () => {
  test("names fields as manifests write them, and those that need it in brackets", () => {
    const old = { spec: { replicas: 1, template: { metadata: { labels: { "a.b/c": "x", 'odd"] key': "x" } } } } };
    const now = { spec: { replicas: 2, template: { metadata: { labels: { "a.b/c": "y", 'odd"] key': "y" } } } } };
    expect(changes(old, now)).toEqual([
      { path: "spec.replicas", old: 1, new: 2 },
      { path: "spec.template.metadata.labels[a.b/c]", old: "x", new: "y" },
      { path: 'spec.template.metadata.labels["odd\\"] key"]', old: "x", new: "y" },
    ]);
  });

  test("tells the items of lists apart by name, type, port and protocol, otherwise by index", () => {
    const port = (containerPort: number, protocol: string, hostPort: number) => ({ containerPort, protocol, hostPort });
    const old = {
      spec: {
        containers: [
          { name: "web", image: "web:1", ports: [port(53, "TCP", 1), port(53, "UDP", 2)], args: ["a", "b"] },
          { name: "log", image: "log:1" },
        ],
        rules: [{ hosts: ["a"] }, { hosts: ["b"] }],
      },
      status: { conditions: [{ type: "Ready", status: "False" }] },
    };
    const now = {
      spec: {
        containers: [
          { name: "web", image: "web:2", ports: [port(53, "TCP", 1), port(53, "UDP", 3)], args: ["a", "b", "c"] },
          { name: "new", image: "new:1" },
        ],
        rules: [{ hosts: ["a"] }, { hosts: ["c"] }],
      },
      status: { conditions: [{ type: "Ready", status: "True" }] },
    };
    expect(changes(old, now)).toEqual([
      { path: "spec.containers[name=web].image", old: "web:1", new: "web:2" },
      { path: "spec.containers[name=web].ports[containerPort=53,protocol=UDP].hostPort", old: 2, new: 3 },
      { path: "spec.containers[name=web].args", old: ["a", "b"], new: ["a", "b", "c"] },
      { path: "spec.containers[name=new]", new: { name: "new", image: "new:1" } },
      { path: "spec.containers[name=log]", old: { name: "log", image: "log:1" } },
      { path: "spec.rules[1].hosts", old: ["b"], new: ["c"] },
      { path: "status.conditions[type=Ready].status", old: "False", new: "True" },
    ]);
  });

  test("takes the keys of lists from the schema of a kind", () => {
    const schema = {
      properties: {
        spec: { properties: { routes: { type: "array", "x-kubernetes-list-map-keys": ["host", "path"] } } },
      },
    } as const;
    const routes = (to: string) => [
      { host: "a", path: "/", to: "x" },
      { host: "a", path: "/b", to },
    ];
    const difference = compare({ spec: { routes: routes("y") } }, { spec: { routes: routes("z") } }, { schema, clean });
    expect(difference.changes).toEqual([{ path: "spec.routes[host=a,path=/b].to", old: "y", new: "z" }]);
  });

  test("says that items have changed their order", () => {
    const list = (...names: readonly string[]) => ({ spec: { steps: names.map((name) => ({ name })) } });
    expect(changes(list("a", "b", "c"), list("c", "a", "b"))).toEqual([
      { path: "spec.steps", old: ["name=a", "name=b", "name=c"], new: ["name=c", "name=a", "name=b"] },
    ]);
    expect(changes(list("a", "b"), list("b", "c"))).toEqual([
      { path: "spec.steps[name=c]", new: { name: "c" } },
      { path: "spec.steps[name=a]", old: { name: "a" } },
    ]);
  });

  test("leaves out what only repeats that something else has changed", () => {
    const object = (version: string) => ({
      metadata: {
        resourceVersion: version,
        generation: Number(version),
        managedFields: [{ manager: version }],
        annotations: { "kubectl.kubernetes.io/last-applied-configuration": version, mine: "same" },
      },
      data: { resourceVersion: version },
    });
    expect(changes(object("1"), object("2"))).toEqual([{ path: "data.resourceVersion", old: "1", new: "2" }]);
  });

  test("shows of a Secret and of sensitive fields where they have changed, and no value", () => {
    const Login = defineResource({
      group: "lab.example.com",
      version: "v1",
      kind: "Login",
      spec: z.object({
        user: z.string(),
        password: z.string().meta({ sensitive: true }),
        spare: z.array(z.object({ name: z.string(), key: z.string().meta({ sensitive: true }) })).default([]),
      }),
    });
    const secret = (value: string) => ({ kind: "Secret", data: { a: value, b: "same" }, type: "Opaque" });
    const schema = schemaWithMarks(Secret);
    expect(
      compare(secret("MARKER-1"), { ...secret("MARKER-2"), stringData: { x: "MARKER-3" } }, { schema, clean }).changes,
    ).toEqual([
      { path: "data.a", old: "[redacted]", new: "[redacted]", redacted: true },
      { path: "stringData.x", new: "[redacted]", redacted: true },
    ]);
    const login = (user: string, password: string, spare: readonly object[]) => ({ spec: { user, password, spare } });
    const difference = compare(
      login("a", "MARKER-4", [{ name: "one", key: "MARKER-5" }]),
      login("b", "MARKER-6", [
        { name: "one", key: "MARKER-7" },
        { name: "two", key: "MARKER-8" },
      ]),
      { schema: schemaWithMarks(Login), clean },
    );
    expect(difference.changes).toEqual([
      { path: "spec.user", old: "a", new: "b" },
      { path: "spec.password", old: "[redacted]", new: "[redacted]", redacted: true },
      { path: "spec.spare[name=one].key", old: "[redacted]", new: "[redacted]", redacted: true },
      { path: "spec.spare[name=two]", new: { name: "two", key: "[redacted]" }, redacted: true },
    ]);
  });

  test("bounds changes, values and paths, and says that there are more", () => {
    const many = (value: number) => ({
      data: Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`k${n}`, value])),
    });
    const difference = compare(many(1), many(2), { clean });
    expect(difference.changes).toHaveLength(32);
    expect(difference.more).toBe(68);
    const [long] = changes(
      { data: { [`k${"x".repeat(2_000)}`]: "a" } },
      { data: { [`k${"x".repeat(2_000)}`]: "y".repeat(10_000) } },
    );
    expect(long!.path.length).toBeLessThanOrEqual(512);
    expect(long).toMatchObject({ old: "a", new: `${"y".repeat(255)}…`, cut: true });
    const [whole] = changes({}, { spec: { list: [{ text: "z".repeat(1_000) }] } });
    expect(whole).toMatchObject({ path: "spec.list", cut: true });
    expect(String(whole!.new).length).toBe(256);
  });

  test("gives up soon on huge and on deep values", () => {
    const huge = (value: number) => ({
      spec: Array.from({ length: 200_000 }, (_, index) => ({ name: `n${index}`, value })),
    });
    const [old, now] = [huge(1), huge(2)];
    const began = performance.now();
    expect(compare(old, now, { clean }).more).toBeGreaterThan(0);
    expect(performance.now() - began).toBeLessThan(1_000);
    const deep = (value: number) => {
      let inner: unknown = value;
      for (let depth = 0; depth < 5_000; depth++) inner = depth % 2 === 0 ? { a: inner } : [inner];
      return { spec: inner };
    };
    expect(compare(deep(1), deep(2), { clean }).more).toBe(1);
  });

  test("without a clean, it names paths and reads no value", () => {
    expect(compare({ spec: { a: 1, b: 1 } }, { spec: { a: 2 } }).changes).toEqual([
      { path: "spec.a" },
      { path: "spec.b" },
    ]);
  });

  test("the changes applied to the old state give the new one, and each of them is needed", () => {
    fc.assert(
      fc.property(pairs, ([old, now]) => {
        const { changes: all, more } = compare(old, now, { clean });
        fc.pre(more === 0 && all.every(({ cut }) => cut === undefined));
        expect(applied(old, all)).toEqual(now);
        for (const one of all) {
          expect(
            sameJson(
              applied(
                old,
                all.filter((other) => other !== one),
              ),
              now,
            ),
          ).toBe(false);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

// The model: objects as controllers see them, and the meaning of a change.

const name = fc.constantFrom("a", "b", "c", "d.e/f", "0", "constructor", 'q"]');
const scalar = fc.oneof(fc.integer({ min: 0, max: 2 }), fc.constantFrom("x", "y", ""), fc.boolean(), fc.constant(null));
const { value } = fc.letrec<{ value: unknown; map: unknown; items: unknown }>((tie) => ({
  value: fc.oneof({ depthSize: "small" }, scalar, tie("map"), tie("items"), fc.array(scalar, { maxLength: 3 })),
  map: fc.dictionary(name, tie("value"), { maxKeys: 3 }),
  items: fc.oneof(
    fc.uniqueArray(
      fc.record({ name: fc.constantFrom("p", "q", "r"), value: tie("value") }, { requiredKeys: ["name"] }),
      {
        maxLength: 3,
        selector: (item) => item.name,
      },
    ),
    fc.array(tie("map"), { maxLength: 3 }),
  ),
}));
const object = fc.dictionary(fc.constantFrom("spec", "data", "status"), value, { maxKeys: 3 });
/** Two states, of which the second has some parts of the first one. */
const pairs: fc.Arbitrary<readonly [Fields, Fields]> = fc.oneof(
  fc.tuple(object, object),
  fc.tuple(object, object, fc.nat()).map(([old, other, seed]) => [old, edited(old, other, seed) as Fields] as const),
);

/** Takes some fields of a value from another one. */
function edited(old: unknown, other: unknown, seed: number): unknown {
  const isKept = (index: number): boolean => (Math.imul(seed + index, 2_654_435_761) >>> 0) % 3 > 0;
  if (Array.isArray(old))
    return old.filter((_, index) => isKept(index)).map((item, index) => edited(item, undefined, seed + index));
  if (!isFields(old)) return seed % 5 === 0 ? (other ?? "new") : old;
  const names = [...new Set([...Object.keys(old), ...(isFields(other) ? Object.keys(other) : [])])];
  return Object.fromEntries(
    names.flatMap((field, index): [string, unknown][] => {
      const theirs = isFields(other) && Object.hasOwn(other, field) ? other[field] : undefined;
      const ours = Object.hasOwn(old, field) ? edited(old[field], theirs, Math.imul(seed, 31) + index) : theirs;
      return ours === undefined || !isKept(index) ? [] : [[field, ours]];
    }),
  );
}

type Place = { readonly field: string } | { readonly index: number } | { readonly keys: string };

/** Reads a path. */
function placesOf(path: string): readonly Place[] {
  const places: Place[] = [];
  for (const [, plain, quoted, bracket] of path.matchAll(
    /(?:^|\.)([\w-]+)|\[("(?:[^"\\]|\\.)*")\]|\[((?:[^\]"]|"(?:[^"\\]|\\.)*")*)\]/g,
  )) {
    if (plain !== undefined) places.push({ field: plain });
    else if (quoted !== undefined) places.push({ field: JSON.parse(quoted) as string });
    else if (/^\d+$/.test(bracket!)) places.push({ index: Number(bracket) });
    else places.push(bracket!.includes("=") ? { keys: bracket! } : { field: bracket! });
  }
  return places;
}

function applied(old: Fields, all: readonly Change[]): unknown {
  let state: unknown = structuredClone(old);
  for (const change of all) state = changed(state, placesOf(change.path), change);
  return withoutGone(state ?? {});
}

/** Stands for an item that was removed, so that those behind it keep their index. */
const GONE = Symbol("gone");

function withoutGone(state: unknown): unknown {
  if (Array.isArray(state)) return state.filter((item) => item !== GONE).map(withoutGone);
  if (!isFields(state)) return state;
  return Object.fromEntries(Object.entries(state).map(([field, inner]) => [field, withoutGone(inner)]));
}

/** Applies a change at a place. @returns the new value; `undefined` for one that is no more. */
function changed(state: unknown, [place, ...rest]: readonly Place[], change: Change): unknown {
  if (place === undefined) {
    if (Array.isArray(state) && state.every(isFields) && isOrder(change))
      return ordered(state, change.new as readonly string[]);
    return structuredClone(change.new);
  }
  if ("field" in place) {
    const fields = isFields(state) ? { ...state } : {};
    const before = Object.hasOwn(fields, place.field) ? fields[place.field] : undefined;
    const after = changed(before, rest, change);
    if (after !== undefined)
      Object.defineProperty(fields, place.field, {
        value: after,
        enumerable: true,
        configurable: true,
        writable: true,
      });
    else delete fields[place.field];
    return Object.keys(fields).length === 0 && after === undefined ? undefined : fields;
  }
  const list = [...((state ?? []) as readonly unknown[])];
  const found = "index" in place ? place.index : list.findIndex((item) => keysOf(item, place.keys) === place.keys);
  const index = found < 0 ? list.length : found;
  const after = changed(list[index], rest, change);
  if (after !== undefined) list[index] = after;
  else if ("index" in place) list[index] = GONE;
  else list.splice(index, 1);
  return list;
}

function keysOf(item: unknown, like: string): string {
  const names = [...like.matchAll(/(?:^|,)(\w+)=/g)].map(([, key]) => key!);
  return names.map((key) => `${key}=${String((item as Fields)[key])}`).join(",");
}

/** Whether a change tells the order of a list of objects. */
function isOrder({ old, new: now }: Change): boolean {
  return [old, now].every(
    (side) => Array.isArray(side) && side.length > 0 && side.every((text) => /^\w+=/.test(String(text))),
  );
}

function ordered(list: readonly unknown[], keys: readonly string[]): unknown[] {
  const first = keys.flatMap((text) => list.filter((item) => keysOf(item, text) === text));
  return [...first, ...list.filter((item) => !first.includes(item))];
}
