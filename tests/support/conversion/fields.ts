/** Fields of kinds with several versions: how each version spells a value, and honest functions from one to the other. */
import { z } from "binnacle";

export type Fields = Readonly<Record<string, unknown>>;

/** Chooses by chance, the same for the same seed. */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A whole number below the limit. */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  }

  is(share: number): boolean {
    return this.below(1_000) < share * 1_000;
  }

  of<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!;
  }
}

/** How a version spells a value. */
export interface Spelling {
  readonly shape: z.ZodRawShape;
  /** The fields of a value in this version. */
  readonly write: (value: unknown) => Fields;
  /** The value of fields that are all there. */
  readonly read: (fields: Fields) => unknown;
}

/** A value of a kind. */
export interface Unit {
  readonly presence: "required" | "defaulted" | "optional";
  readonly value: (chance: Chance) => unknown;
  /** The first is the hub's. */
  readonly spellings: readonly Spelling[];
}

type Presence = Unit["presence"];

/** Makes the schema of a field. */
function field(schema: z.ZodType, presence: Presence, initial: unknown): z.ZodType {
  if (presence === "required") return schema;
  return presence === "optional" ? schema.optional() : schema.default(initial as never);
}

/** A value under one name, as some other value. */
function named(name: string, presence: Presence, as: Spelled): Spelling {
  const { schema, initial, to = same, from = same } = as;
  return {
    shape: { [name]: field(schema, presence, to(initial as never)) },
    write: (value) => ({ [name]: to(value as never) }),
    read: (fields) => from(fields[name] as never),
  };
}

interface Spelled {
  readonly schema: z.ZodType;
  readonly initial: unknown;
  readonly to?: (value: never) => unknown;
  readonly from?: (value: never) => unknown;
}

/** The kinds of values that a unit may have; each has several spellings, of which each version has one. */
const MAKERS: readonly ((name: string, presence: Presence) => Unit)[] = [
  (name, presence) => ({
    presence,
    value: (chance) => chance.of([0, 1, 5, 1_000]),
    spellings: [
      named(name, presence, { schema: z.int(), initial: 0 }),
      named(`${name}Count`, presence, { schema: z.int(), initial: 0 }),
      named(`${name}Text`, presence, {
        schema: z.string(),
        initial: 0,
        to: (value: number) => `${value}s`,
        from: (text: string) => {
          if (!text.endsWith("s")) throw new Error(`no duration: '${text}'`);
          return Number(text.slice(0, -1));
        },
      }),
    ],
  }),
  (name, presence) => ({
    presence,
    value: (chance) => chance.is(0.5),
    spellings: [
      named(name, presence, { schema: z.boolean(), initial: false }),
      named(`${name}Off`, presence, { schema: z.boolean(), initial: false, to: not, from: not }),
      named(`${name}Mode`, presence, {
        schema: z.enum(["No", "Yes"]),
        initial: false,
        to: (value: boolean) => (value ? "Yes" : "No"),
        from: (text: string) => text === "Yes",
      }),
    ],
  }),
  (name) => ({
    presence: "required",
    value: (chance) => `${chance.of(["*", "0", "5"])} ${chance.of(["*", "3"])}`,
    spellings: [
      named(name, "required", { schema: z.string(), initial: "" }),
      {
        shape: { [name]: z.object({ minute: z.string(), hour: z.string() }) },
        write(value) {
          const [minute, hour, ...more] = (value as string).split(" ");
          if (hour === undefined || more.length > 0) throw new Error(`no schedule: '${String(value)}'`);
          return { [name]: { minute, hour } };
        },
        read(fields) {
          const { minute, hour } = fields[name] as Fields;
          return `${String(minute)} ${String(hour)}`;
        },
      },
    ],
  }),
  (name) => ({
    presence: "required",
    value: (chance) => ({ width: chance.of([0, 1, 7]), height: chance.of([0, 2, 9]) }),
    spellings: [
      named(name, "required", { schema: z.object({ width: z.int(), height: z.int() }), initial: {} }),
      {
        shape: { [`${name}Width`]: z.int(), [`${name}Height`]: z.int() },
        write(value) {
          const { width, height } = value as Fields;
          return { [`${name}Width`]: width, [`${name}Height`]: height };
        },
        read: (fields) => ({ width: fields[`${name}Width`], height: fields[`${name}Height`] }),
      },
      named(name, "required", {
        schema: z.string(),
        initial: {},
        to: ({ width, height }: Fields) => `${String(width)}x${String(height)}`,
        from(text: string) {
          const [width, height] = text.split("x").map(Number);
          return { width, height };
        },
      }),
    ],
  }),
  (name) => ({
    presence: "optional",
    // An empty list of keyed items has nothing that could be anybody's.
    value: (chance) =>
      ["a", "b", "c"].filter((key) => key === "b" || chance.is(0.6)).map((key) => ({ key, port: chance.of([0, 80]) })),
    spellings: [
      named(name, "optional", { schema: keyed("key", { port: z.int().default(0) }), initial: [] }),
      named(`${name}List`, "optional", {
        schema: keyed("id", { number: z.int().default(0), open: z.boolean().default(false) }),
        initial: [],
        to: (items: readonly { key: string; port: number }[]) =>
          items.map(({ key, port }) => ({ id: key, number: port, open: port > 0 })),
        from: (items: readonly { id: string; number: number }[]) =>
          items.map(({ id, number }) => ({ key: id, port: number })),
      }),
    ],
  }),
  (name) => ({
    presence: "optional",
    value: (chance) => ["", "x", "long"].slice(0, chance.below(4)),
    spellings: [
      named(name, "optional", { schema: z.array(z.string()), initial: [] }),
      named(`${name}Text`, "optional", {
        schema: z.string(),
        initial: [],
        to: (items: readonly string[]) => JSON.stringify(items),
        from: (text: string) => JSON.parse(text) as unknown,
      }),
    ],
  }),
  (name) => ({
    presence: "optional",
    value: (chance) => chance.of([0, 3]),
    spellings: [
      named(name, "optional", { schema: z.int(), initial: 0 }),
      {
        shape: { [`${name}s`]: z.object({ most: z.int().optional() }).optional() },
        write: (value) => ({ [`${name}s`]: { most: value } }),
        read: (fields) => (fields[`${name}s`] as Fields | undefined)?.["most"],
      },
    ],
  }),
];

function same(value: unknown): unknown {
  return value;
}

function not(value: boolean): boolean {
  return !value;
}

function keyed(key: string, shape: z.ZodRawShape): z.ZodType {
  return z.array(z.object({ [key]: z.string(), ...shape })).meta({ listType: "map", listMapKeys: [key] });
}

/** Makes units of every kind, each of them at least once in seven. */
export function unitsOf(chance: Chance, count: number): readonly Unit[] {
  const from = chance.below(MAKERS.length);
  return Array.from({ length: count }, (_, index) => {
    const make = MAKERS[(from + index) % MAKERS.length]!;
    return make(`f${index}`, chance.of<Presence>(["required", "defaulted", "optional"]));
  });
}
