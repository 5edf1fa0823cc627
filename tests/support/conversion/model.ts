/** Random writes to an object of a random kind with several versions, next to what must come of them. */
import { expect } from "bun:test";
import { defineResource, z } from "binnacle";
import { isApiError } from "../../../src/kube/errors/api-error.ts";
import type { Transport } from "../../../src/kube/transport/transport.ts";
import type { Resource } from "../../../src/resource/handle.ts";
import { type Chance, type Fields, type Spelling, type Unit, unitsOf } from "./fields.ts";

const GROUP = "model.example.com";
const NOTE = `${GROUP}/note`;
/**
 * kube-apiserver 1.36 cannot read what it has removed all metadata from. With three versions that happens when somebody
 * gives up the only label, and only in one of the orders in which it goes through the versions, which it chooses anew
 * each time.
 */
const LOST_METADATA = "invalid metadata of type <nil> in input object";
const ATTEMPTS = 20;

const MANAGERS = ["kubectl", "argo", "flux"];

/** A kind, and how each of its versions spells each of its units. */
export interface Kind {
  readonly resource: Resource;
  readonly plural: string;
  readonly versions: readonly string[];
  readonly units: readonly Unit[];
  readonly spelling: (unit: number, version: string) => Spelling;
}

/** Makes a kind with two or three versions. A note that only the hub has is an annotation in the others. */
export function kindOf(chance: Chance, name: string): Kind {
  const versions = ["v1", "v2", "v3"].slice(0, 2 + chance.below(2));
  const hub = chance.of(versions);
  const units = unitsOf(chance, 3 + chance.below(4));
  const chosen = new Map(
    versions.map((version) => [
      version,
      units.map(({ spellings }) => spellings[version === hub ? 0 : chance.below(spellings.length)]!),
    ]),
  );
  const spelling = (unit: number, version: string) => chosen.get(version)![unit]!;
  const change = (spec: Fields, { from, to }: Readonly<Record<"from" | "to", string>>): Fields =>
    Object.assign(
      {},
      ...units.map((_, unit) => {
        const before = spelling(unit, from);
        if (Object.keys(before.shape).every((field) => spec[field] === undefined)) return {};
        const value = before.read(spec);
        return value === undefined ? {} : spelling(unit, to).write(value);
      }),
    ) as Fields;
  const declared = versions.map((version) => {
    const shape = Object.assign({}, ...chosen.get(version)!.map((one) => one.shape)) as z.ZodRawShape;
    if (version === hub) return [version, { spec: z.object({ ...shape, note: z.string().optional() }) }] as const;
    return [
      version,
      {
        spec: z.object(shape),
        toHub({ metadata, spec }: Converted) {
          const { [NOTE]: note, ...annotations } = metadata.annotations ?? {};
          return { metadata: { annotations }, spec: { ...change(spec, { from: version, to: hub }), note } };
        },
        fromHub({ metadata, spec: { note, ...spec } }: Converted) {
          const annotations = { ...metadata.annotations, ...(note !== undefined && { [NOTE]: note as string }) };
          return { metadata: { annotations }, spec: change(spec, { from: hub, to: version }) };
        },
      },
    ] as const;
  });
  const resource = defineResource({
    group: GROUP,
    kind: name,
    versions: Object.fromEntries(declared) as never,
    hub: hub as never,
    storage: chance.of(versions) as never,
  }) as unknown as Resource;
  return { resource, plural: `${name.toLowerCase()}s`, versions, units, spelling };
}

interface Converted {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: Fields;
}

interface Live {
  readonly metadata: { readonly resourceVersion: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: Fields;
}

/** One object, who has written which of its units, and the values that must be there. */
export class Model {
  readonly #kind: Kind;
  readonly #chance: Chance;
  readonly #transport: Transport;
  readonly #name: string;
  readonly #acts: string[] = [];
  /** By unit; `undefined` for one that is not there. */
  #values: unknown[] = [];
  /** The units that a manager has applied at some time, so that it would remove what it does not apply again. */
  readonly #applied = new Map<string, Set<number>>();

  constructor(kind: Kind, options: { readonly chance: Chance; readonly transport: Transport; readonly name: string }) {
    this.#kind = kind;
    this.#chance = options.chance;
    this.#transport = options.transport;
    this.#name = options.name;
  }

  /** Creates the object: by whoever keeps every field, or by the first who applies it. */
  async begin(): Promise<void> {
    const version = this.#chance.of(this.#kind.versions);
    this.#values = this.#kind.units.map((unit) => this.#valueOf(unit));
    const spec = this.#written(version, this.#kind.units.keys());
    if (this.#chance.is(0.5)) {
      this.#tell(`create ${version} ${JSON.stringify(spec)}`);
      await this.#send("POST", version, { body: this.#object(version, spec) });
    } else await this.#apply(MANAGERS[0]!, version, { spec, units: [...this.#kind.units.keys()], force: true });
    await this.#check();
  }

  async act(): Promise<void> {
    const version = this.#chance.of(this.#kind.versions);
    const die = this.#chance.below(10);
    if (die < 6) await this.#applySome(version);
    else if (die < 8) await this.#update(version);
    else await this.#mark(version);
    await this.#check();
  }

  /** Applies what a manager has to keep and some more, with new values, or with those that are there and without force. */
  async #applySome(version: string): Promise<void> {
    const manager = this.#chance.of(MANAGERS);
    const before = this.#applied.get(manager) ?? new Set<number>();
    const force = this.#chance.is(0.7);
    const units = [...this.#kind.units.keys()].filter(
      (unit) =>
        (this.#kind.units[unit]!.presence === "required" && before.has(unit)) ||
        (this.#chance.is(0.5) && (force || this.#values[unit] !== undefined)),
    );
    const spelled = units.map((unit) => {
      const { write, read } = this.#kind.spelling(unit, version);
      const old = this.#values[unit];
      const value = force ? this.#valueOf(this.#kind.units[unit]!, true) : old;
      const fields = write(value);
      this.#values[unit] = value;
      if (before.has(unit) || old === undefined) return fields;
      // What is left out keeps its value, and so do items that are not named.
      const part = this.#chance.is(0.4) ? partOf(fields, this.#chance) : fields;
      this.#values[unit] = read(merged(write(old), part) as Fields);
      return part;
    });
    await this.#apply(manager, version, { spec: Object.assign({}, ...spelled) as Fields, units, force });
    // What the manager gave up may be gone, and so may items of a list that it applied again.
    const open = [...before].filter((unit) => !units.includes(unit) || isKeyed(this.#values[unit]));
    if (open.length > 0) await this.#read(open);
  }

  async #apply(
    manager: string,
    version: string,
    { spec, units, force }: { readonly spec: Fields; readonly units: readonly number[]; readonly force: boolean },
  ): Promise<void> {
    const label = this.#chance.is(0.3) ? { labels: { [manager]: version } } : {};
    const body = this.#object(version, spec, label);
    this.#tell(`apply by ${manager}${force ? " with force" : ""} ${version} ${JSON.stringify({ ...label, spec })}`);
    this.#applied.set(manager, new Set([...(this.#applied.get(manager) ?? []), ...units]));
    const query = `fieldManager=${manager}&force=${force}`;
    const live = await this.#send("PATCH", version, { body, query, type: "application/apply-patch+yaml" });
    this.#expect(live.spec, version, { units, contains: spec });
  }

  /** Changes some units by a merge patch, or by a PUT of what was read. */
  async #update(version: string): Promise<void> {
    const units = [...this.#kind.units.keys()].filter(() => this.#chance.is(0.4));
    for (const unit of units) this.#values[unit] = this.#valueOf(this.#kind.units[unit]!, true);
    const spec = this.#written(version, units);
    if (this.#chance.is(0.5)) {
      this.#tell(`patch ${version} ${JSON.stringify(spec)}`);
      await this.#send("PATCH", version, { body: { spec }, type: "application/merge-patch+json" });
      return;
    }
    const live = await this.#send("GET", version);
    this.#tell(`put ${version} ${JSON.stringify(spec)}`);
    await this.#send("PUT", version, { body: { ...live, spec: { ...live.spec, ...spec } } });
  }

  /** Sets a label, which is all that `kubectl label` does through its version. */
  async #mark(version: string): Promise<void> {
    const labels = { marked: String(this.#chance.below(9)) };
    this.#tell(`label ${version} ${JSON.stringify(labels)}`);
    await this.#send("PATCH", version, { body: { metadata: { labels } }, type: "application/merge-patch+json" });
  }

  /** Every version shows the same values, and all that must be there are. */
  async #check(): Promise<void> {
    for (const version of this.#kind.versions) {
      const { spec } = await this.#send("GET", version);
      this.#expect(spec, version, { units: [...this.#kind.units.keys()] });
    }
  }

  /** Takes over what is there of units that a manager gave up: another one may hold them, or a default. */
  async #read(units: readonly number[]): Promise<void> {
    const version = this.#kind.versions[0]!;
    const { spec } = await this.#send("GET", version);
    for (const unit of units) this.#values[unit] = this.#valueIn(spec, unit, version);
  }

  #expect(spec: Fields, version: string, expected: { units: readonly number[]; contains?: Fields }): void {
    try {
      if (expected.contains !== undefined) expect(merged(spec, expected.contains)).toEqual(spec);
      else for (const unit of expected.units) this.#same(this.#valueIn(spec, unit, version), this.#values[unit]);
    } catch (error) {
      throw this.#failed(`${version} has ${JSON.stringify(spec)}: ${(error as Error).message}`);
    }
  }

  #same(one: unknown, other: unknown): void {
    expect(settled(one)).toEqual(settled(other));
  }

  #valueIn(spec: Fields, unit: number, version: string): unknown {
    const { shape, read } = this.#kind.spelling(unit, version);
    return Object.keys(shape).every((name) => spec[name] === undefined) ? undefined : read(spec);
  }

  #valueOf({ presence, value }: Unit, isThere = false): unknown {
    return presence === "optional" && !isThere && this.#chance.is(0.5) ? undefined : value(this.#chance);
  }

  #written(version: string, units: Iterable<number>): Fields {
    const fields = [...units].map((unit) => {
      const value = this.#values[unit];
      return value === undefined ? {} : this.#kind.spelling(unit, version).write(value);
    });
    return Object.assign({}, ...fields) as Fields;
  }

  #object(version: string, spec: Fields, metadata: object = {}): object {
    const { kind } = this.#kind.resource;
    return { apiVersion: `${GROUP}/${version}`, kind, metadata: { name: this.#name, ...metadata }, spec };
  }

  async #send(
    method: "GET" | "POST" | "PUT" | "PATCH",
    version: string,
    { body, query, type }: { body?: object; query?: string; type?: string } = {},
  ): Promise<Live> {
    const collection = `/apis/${GROUP}/${version}/namespaces/default/${this.#kind.plural}`;
    const path = method === "POST" ? collection : `${collection}/${this.#name}`;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#transport.request<Live>({ method, path, query, body, contentType: type });
      } catch (error) {
        if (!isApiError(error)) throw error;
        if (attempt < ATTEMPTS && error.message.includes(LOST_METADATA)) continue;
        throw this.#failed(`${method} through ${version} is refused: ${error.message}`);
      }
    }
  }

  #tell(act: string): void {
    this.#acts.push(act);
  }

  #failed(what: string): Error {
    return new Error(`${what}\n${this.#acts.slice(-12).join("\n")}`);
  }
}

/** Lays a part over a whole, with the items of keyed lists at their keys. */
function merged(whole: unknown, part: unknown): unknown {
  if (isKeyed(whole) && isKeyed(part)) {
    const items = new Map(whole.map((item) => [idOf(item), item]));
    for (const item of part) items.set(idOf(item), merged(items.get(idOf(item)), item) as Fields);
    return [...items.values()];
  }
  if (!isFields(whole) || !isFields(part)) return part;
  return { ...whole, ...Object.fromEntries(Object.keys(part).map((name) => [name, merged(whole[name], part[name])])) };
}

/** Leaves out one of several fields. */
function partOf(fields: Fields, chance: Chance): Fields {
  const names = Object.keys(fields);
  if (names.length > 1) {
    const left = chance.of(names);
    return Object.fromEntries(Object.entries(fields).filter(([name]) => name !== left));
  }
  const [name = ""] = names;
  const inner = fields[name];
  return isFields(inner) && Object.keys(inner).length > 1 ? { [name]: partOf(inner, chance) } : fields;
}

/** An empty list is as good as none, and the order of keyed items does not matter. */
function settled(value: unknown): unknown {
  if (Array.isArray(value) && value.length === 0) return undefined;
  return isKeyed(value) ? value.toSorted((a, b) => (idOf(a) < idOf(b) ? -1 : 1)) : value;
}

function isKeyed(value: unknown): value is readonly Fields[] {
  return Array.isArray(value) && value.every(isFields);
}

function idOf(item: Fields): string {
  return String(item["key"] ?? item["id"]);
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
