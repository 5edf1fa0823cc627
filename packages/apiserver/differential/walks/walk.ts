/** Random walks: requests of any verb and with any options to a few objects of one kind, one after the other. */
import type { Case } from "../case.ts";
import { apiVersionOf, pathOf, type Served } from "../discovery.ts";
import { sampleOf } from "../samples/samples.ts";
import { Dice, type Selection } from "../sampling.ts";
import type { Loose, Session } from "../session.ts";
import { isUnvalidated } from "../tiers.ts";
import { deleting, metadata, reading, writing } from "./choices.ts";
import { type Fields, jsonPatch, mistaken, someOf, strategicPatch } from "./mistakes.ts";

/** The number of walks, which a selection multiplies; each takes another kind. */
const COUNT = 12;
const STEPS = 25;

export function walks(served: readonly Served[], { more = 1, seed = 0 }: Selection): Case[] {
  const kinds = served.filter((kind) => {
    const sample = sampleOf(kind);
    const isStored = kind.verbs.includes("create") && kind.verbs.includes("get");
    const isFree = sample && !sample.name && !sample.settled && !isUnvalidated(kind);
    return isFree && isStored && kind.kind !== "Namespace";
  });
  return Array.from({ length: Math.ceil(COUNT * more) }, (_, index) => ({
    name: `walk ${index}`,
    run: async (session) => {
      const kind = kinds[(index * 7) % kinds.length]!;
      const { minimal, full = minimal } = sampleOf(kind)!;
      const dice = new Dice(seed * 100_000 + 7000 + index);
      const walk = new Walk(session, dice, { kind, fields: index % 3 === 0 ? full : minimal });
      await walk.begin();
      for (let step = 0; step < STEPS; step++) await walk.step();
    },
  }));
}

class Walk {
  readonly #session: Session;
  readonly #dice: Dice;
  readonly #kind: Served;
  readonly #fields: Fields;
  readonly #collection: string;
  readonly #names: readonly string[];
  #count = 0;

  constructor(session: Session, dice: Dice, { kind, fields }: { readonly kind: Served; readonly fields: Fields }) {
    this.#session = session;
    this.#dice = dice;
    this.#kind = kind;
    this.#fields = fields;
    this.#collection = pathOf(kind, session.slug);
    const prefix = kind.namespaced ? "p" : `${session.slug}-`;
    this.#names = [0, 1, 2].map((index) => `${prefix}${index}`);
  }

  /** Creates the objects that the first steps meet. */
  async begin(): Promise<void> {
    await this.#session.createNamespace();
    for (const name of this.#names.slice(0, 2)) {
      const labels = { app: "a", case: this.#session.slug };
      await this.#session.quietly(
        "POST",
        this.#collection,
        this.#filled({ ...this.#whole, metadata: { name, labels } }),
      );
    }
  }

  async step(): Promise<void> {
    const path = `${this.#collection}/${this.#dice.one(this.#names)}`;
    const step = this.#dice.next();
    if (step < 0.25) await this.#send("create", "POST", `${this.#collection}${this.#query(writing)}`, this.#object());
    else if (step < 0.33) await this.#send("read", "GET", `${path}${this.#query(reading)}`);
    else if (step < 0.41) await this.#list();
    else if (step < 0.56) await this.#put(path);
    else if (step < 0.88) await this.#patch(path);
    else await this.#delete(path);
  }

  async #send(label: string, method: string, path: string, body?: unknown, type = "json"): Promise<void> {
    const headers = { "content-type": `application/${type}` };
    const options = body === undefined ? {} : { body, headers };
    await this.#session.send(`${this.#count++} ${label}`, method, path, options);
  }

  get #whole(): Fields {
    return { apiVersion: apiVersionOf(this.#kind), kind: this.#kind.kind, ...this.#fields };
  }

  /** Makes an object with one of the names, often with a mistake. */
  #object(): Fields {
    const dice = this.#dice;
    const own = { app: dice.one(["a", "b"]), case: this.#session.slug };
    const odd = dice.chance(0.4) ? dice.one(metadata) : {};
    const object = { ...this.#whole, metadata: { name: dice.one(this.#names), labels: own, ...odd } };
    return this.#filled(dice.chance(0.4) ? mistaken(dice, object) : object);
  }

  #filled<T>(value: T): T {
    const { slug } = this.#session;
    const text = JSON.stringify(value).replaceAll("$NAMESPACE", slug);
    return JSON.parse(text.replaceAll('"NAMESPACE"', JSON.stringify(slug)));
  }

  /** Returns a query of at most two options, which begins with `?` unless it is empty. */
  #query(options: readonly string[]): string {
    const parts = Array.from({ length: Math.floor(this.#dice.next() * 3) }, () => this.#dice.one(options));
    return parts.length === 0 ? "" : `?${parts.join("&")}`;
  }

  async #list(): Promise<void> {
    // A list of a kind without namespaces contains objects of other cases.
    const options = reading.filter((option) => this.#kind.namespaced || !/Selector|=x/.test(option));
    const query = this.#query(options).slice(1);
    const own = this.#kind.namespaced ? [] : [`labelSelector=case%3D${this.#session.slug}`];
    await this.#send("list", "GET", `${this.#collection}?${[...own, query].join("&")}`);
  }

  async #put(path: string): Promise<void> {
    const dice = this.#dice;
    // Both servers must get the same requests, so no choice depends on an answer.
    const present: Loose = await this.#session.quietly("GET", path);
    const whole = this.#object();
    const fields = this.#filled(dice.chance(0.6) ? mistaken(dice, this.#fields) : this.#fields);
    const isNew = dice.chance(0.25) || present?.kind === "Status";
    let body: Loose = isNew ? whole : { ...present, ...fields };
    if (dice.chance(0.5)) body = { ...body, metadata: { ...body.metadata, ...this.#filled(dice.one(metadata)) } };
    await this.#send("put", "PUT", `${path}${this.#subresource()}${this.#query(writing)}`, body);
  }

  /** Returns the path of a subresource, or often nothing. */
  #subresource(): string {
    const names = this.#kind.subresources.map(({ name }) => name).filter((name) => /^(status|scale)$/.test(name));
    return names.length > 0 && this.#dice.chance(0.25) ? `/${this.#dice.one(names)}` : "";
  }

  async #patch(path: string): Promise<void> {
    const dice = this.#dice;
    const type = dice.one(["merge-patch+json", "strategic-merge-patch+json", "json-patch+json", "apply-patch+yaml"]);
    const object = this.#object();
    const { metadata: _, ...fields } = object;
    const more = dice.chance(0.4) ? { metadata: this.#filled(dice.one(metadata)) } : {};
    const name = path.slice(path.lastIndexOf("/") + 1);
    const bodies: Readonly<Record<string, () => unknown>> = {
      "merge-patch+json": () => ({ ...someOf(dice, fields), ...more }),
      "strategic-merge-patch+json": () => ({ ...strategicPatch(dice, fields), ...more }),
      "json-patch+json": () => jsonPatch(dice, { ...fields, metadata: storedMetadata }),
      "apply-patch+yaml": () => (dice.chance(0.6) ? { ...object, metadata: { name, labels: { by: "m" } } } : object),
    };
    const query = this.#query(writing);
    const manager = type.startsWith("apply") ? `${query === "" ? "?" : "&"}fieldManager=m` : "";
    await this.#send(type, "PATCH", `${path}${this.#subresource()}${query}${manager}`, bodies[type]!(), type);
  }

  async #delete(path: string): Promise<void> {
    const dice = this.#dice;
    const query = this.#query(deleting);
    const options = dice.chance(0.5) ? undefined : await this.#deleteOptions(path);
    if (dice.chance(0.75)) return await this.#send("delete", "DELETE", `${path}${query}`, options);
    const own = `${query === "" ? "?" : "&"}labelSelector=case%3D${this.#session.slug}`;
    return await this.#send("delete all", "DELETE", `${this.#collection}${query}${own}`, options);
  }

  async #deleteOptions(path: string): Promise<unknown> {
    const dice = this.#dice;
    const present: Loose = await this.#session.quietly("GET", path);
    const { uid = "x", resourceVersion = "1" } = present?.metadata ?? {};
    const options: readonly object[] = [
      { preconditions: dice.one([{ uid }, { uid: "other" }, { uid: "" }, {}, null]) },
      { preconditions: dice.one([{ resourceVersion }, { resourceVersion: "1" }, { uid, resourceVersion: "0" }]) },
      { propagationPolicy: dice.one(["Foreground", "Background", "Orphan", "x", null]) },
      { orphanDependents: dice.one([true, false, null, "x"]) },
      { gracePeriodSeconds: dice.one([0, 1, 30, -1, null, "x"]) },
      { dryRun: dice.one([["All"], [], ["x"], "All", null]) },
      { kind: dice.one(["DeleteOptions", "Nope", ""]), apiVersion: dice.one(["v1", "meta.k8s.io/v1", "v9", ""]) },
    ];
    return Object.assign({}, ...dice.some(options, 3));
  }
}

/** The metadata that a stored object has. */
const storedMetadata: Fields = {
  name: "p0",
  namespace: "x",
  uid: "u",
  resourceVersion: "1",
  creationTimestamp: "2020-01-01T00:00:00Z",
  labels: { app: "a", case: "x" },
  managedFields: [{ manager: "m", operation: "Update", fieldsV1: { "f:metadata": { "f:labels": {} } } }],
};
