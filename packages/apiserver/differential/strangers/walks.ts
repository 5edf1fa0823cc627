/** Random walks: requests of any verb and with any options to a few objects of one kind, one after the other. */
import { apiVersionOf, pathOf, type Served } from "../discovery.ts";
import type { Loose } from "../session.ts";
import { sampleOf } from "../samples/samples.ts";
import { isUnvalidated } from "../tiers.ts";
import { type Fields, jsonPatch, mistaken, someOf, strategicPatch } from "./bodies.ts";
import { accepts, contentTypes, deleting, metadata, reading, writing } from "./choices.ts";
import type { Stranger, Visit } from "./stranger.ts";

class Walk {
  readonly #visit: Visit;
  readonly #served: Served;
  readonly #fields: Fields;
  readonly #collection: string;
  readonly #names: readonly string[];

  constructor(visit: Visit, served: Served, fields: Fields) {
    this.#visit = visit;
    this.#served = served;
    this.#fields = fields;
    this.#collection = pathOf(served, visit.namespace);
    const prefix = served.namespaced ? "p" : `${visit.namespace}-`;
    this.#names = [0, 1, 2].map((index) => `${prefix}${index}`);
  }

  /** Creates what the first steps may find. */
  async begin(): Promise<void> {
    for (const name of this.#names.slice(0, 2)) {
      const metadata = { name, labels: { app: "a", case: this.#visit.namespace } };
      const object = { apiVersion: apiVersionOf(this.#served), kind: this.#served.kind, metadata, ...this.#fields };
      await this.#visit.quietly("POST", this.#collection, this.#filled(object));
    }
  }

  async step(): Promise<void> {
    const { dice } = this.#visit;
    const path = `${this.#collection}/${dice.one(this.#names)}`;
    const step = dice.next();
    if (step < 0.22) await this.#create();
    else if (step < 0.3) await this.#read(path);
    else if (step < 0.38) await this.#list();
    else if (step < 0.52) await this.#put(path);
    else if (step < 0.82) await this.#patch(path);
    else if (step < 0.92) await this.#delete(path);
    else await this.#odd(path);
  }

  #headers(more: Readonly<Record<string, string>> = {}): Record<string, string> {
    const { dice } = this.#visit;
    return { ...more, accept: dice.chance(0.85) ? "application/json" : dice.one(accepts) };
  }

  #object(): Fields {
    const { dice, namespace } = this.#visit;
    const { kind } = this.#served;
    const own = { app: dice.one(["a", "b"]), case: namespace };
    let object: Fields = {
      apiVersion: apiVersionOf(this.#served),
      kind,
      metadata: {
        name: dice.one(this.#names),
        labels: own,
        ...(dice.chance(0.35) && dice.one(metadata)),
        ...(dice.chance(0.1) && dice.one(metadata)),
      },
      ...this.#fields,
    };
    if (dice.chance(0.4)) object = mistaken(dice, object);
    if (dice.chance(0.04)) object = { ...object, apiVersion: dice.one(["v1", "", "v9", "apps/v1", "a/b/c"]) };
    if (dice.chance(0.04)) object = { ...object, kind: dice.one(["", "Nope", kind.toLowerCase(), `${kind}List`]) };
    if (dice.chance(0.03)) object = { ...object, status: dice.one([null, {}, { x: 1 }, "x"]) };
    return this.#filled(object);
  }

  #filled<T>(value: T): T {
    const text = JSON.stringify(value).replaceAll("$NAMESPACE", this.#visit.namespace);
    return JSON.parse(text.replaceAll('"NAMESPACE"', JSON.stringify(this.#visit.namespace)));
  }

  async #create(): Promise<void> {
    const { dice } = this.#visit;
    const type = dice.chance(0.9) ? {} : { "content-type": dice.one(contentTypes) };
    const call = { body: this.#object(), headers: this.#headers(type) };
    await this.#visit.send("create", "POST", `${this.#collection}${this.#visit.query(writing, 2)}`, call);
  }

  async #read(path: string): Promise<void> {
    await this.#visit.send("read", "GET", `${path}${this.#visit.query(reading, 2)}`, { headers: this.#headers() });
  }

  async #list(): Promise<void> {
    const { dice } = this.#visit;
    // Elsewhere are the objects of other cases.
    const own = this.#served.namespaced ? [] : [`labelSelector=case%3D${this.#visit.namespace}`];
    const more = this.#visit.query(
      reading.filter((option) => own.length === 0 || !option.startsWith("labelSelector")),
      2,
    );
    const query = [...own, ...(more === "" ? [] : [more.slice(1)])].join("&");
    if (own.length > 0 && more.includes("=x")) return;
    const headers = this.#headers();
    await this.#visit.send("list", "GET", `${this.#collection}${dice.chance(0.03) ? "/" : ""}?${query}`, { headers });
  }

  async #put(path: string): Promise<void> {
    const { dice } = this.#visit;
    // What is chosen must not depend on the answers of a server.
    const present: Loose = await this.#visit.quietly("GET", path);
    const whole = this.#object();
    const changed = this.#filled(dice.chance(0.6) ? mistaken(dice, this.#fields) : this.#fields);
    const isNew = dice.chance(0.25) || present?.kind === "Status";
    let body: Loose = isNew ? whole : { ...present, ...changed };
    if (dice.chance(0.5)) body = { ...body, metadata: { ...body.metadata, ...this.#filled(dice.one(metadata)) } };
    const call = { body, headers: this.#headers() };
    await this.#visit.send("put", "PUT", `${path}${this.#part()}${this.#visit.query(writing, 2)}`, call);
  }

  /** Returns the path of a subresource, sometimes. */
  #part(): string {
    const { dice } = this.#visit;
    const parts = this.#served.subresources.map(({ name }) => name).filter((name) => /^(status|scale)$/.test(name));
    return parts.length > 0 && dice.chance(0.25) ? `/${dice.one(parts)}` : "";
  }

  async #patch(path: string): Promise<void> {
    const { dice } = this.#visit;
    const type = dice.one(["merge-patch+json", "strategic-merge-patch+json", "json-patch+json", "apply-patch+yaml"]);
    const { metadata: _, ...fields } = this.#object();
    let body: unknown;
    if (type.startsWith("json")) body = jsonPatch(dice, { ...fields, metadata: common });
    else if (type.startsWith("apply")) {
      body = this.#object();
      if (dice.chance(0.6))
        body = { ...(body as Fields), metadata: { name: path.slice(path.lastIndexOf("/") + 1), labels: { by: "m" } } };
    } else {
      body = type.startsWith("merge") ? someOf(dice, fields) : strategicPatch(dice, fields);
      if (dice.chance(0.4)) body = { ...(body as Fields), metadata: this.#filled(dice.one(metadata)) };
    }
    const query = this.#visit.query(writing, 2);
    const applied = type.startsWith("apply") ? `${query === "" ? "?" : `${query}&`}fieldManager=m` : query;
    const call = { body, headers: this.#headers({ "content-type": `application/${type}` }) };
    await this.#visit.send(type, "PATCH", `${path}${this.#part()}${dice.chance(0.95) ? applied : query}`, call);
  }

  async #delete(path: string): Promise<void> {
    const { dice, namespace } = this.#visit;
    const body = dice.chance(0.5) ? undefined : await this.#deletion(path);
    const call = { headers: this.#headers(), ...(body !== undefined && { body }) };
    const query = this.#visit.query(deleting, 2);
    if (!dice.chance(0.25)) {
      await this.#visit.send("delete", "DELETE", `${path}${query}`, call);
      return;
    }
    const own = `${query === "" ? "?" : `${query}&`}labelSelector=case%3D${namespace}`;
    await this.#visit.send("delete all", "DELETE", `${this.#collection}${own}${dice.one(["", "", "&limit=1"])}`, call);
  }

  async #deletion(path: string): Promise<unknown> {
    const { dice } = this.#visit;
    const present: Loose = await this.#visit.quietly("GET", path);
    const { uid = "x", resourceVersion = "1" } = present?.metadata ?? {};
    const parts: readonly object[] = [
      { preconditions: { uid } },
      { preconditions: { uid: "other" } },
      { preconditions: { resourceVersion } },
      { preconditions: { resourceVersion: "1" } },
      { preconditions: { uid, resourceVersion: "0" } },
      { preconditions: {} },
      { preconditions: null },
      { preconditions: { uid: "" } },
      { propagationPolicy: dice.one(["Foreground", "Background", "Orphan", "x", null]) },
      { orphanDependents: dice.one([true, false, null, "x"]) },
      { gracePeriodSeconds: dice.one([0, 1, 30, -1, null, "x"]) },
      { dryRun: dice.one([["All"], [], ["x"], "All", null]) },
      { unknown: true },
      {
        kind: dice.one(["DeleteOptions", "Nope", "Status", ""]),
        apiVersion: dice.one(["v1", "meta.k8s.io/v1", "v9", ""]),
      },
      { ignoreStoreReadErrorWithClusterBreakingPotential: dice.one([true, false]) },
    ];
    return Object.assign({}, ...dice.some(parts, 3));
  }

  /** Requests that the API does not offer. */
  async #odd(path: string): Promise<void> {
    const { dice } = this.#visit;
    const method = dice.one(["POST", "PUT", "PATCH", "DELETE", "GET", "HEAD", "OPTIONS"]);
    const tail = dice.one(["", "/status", "/scale", "/nope", "/", "//", "/status/x", "/%20", "/exec", "/status/"]);
    const place = dice.one([path, this.#collection, path.replace(/\d$/, "9")]);
    const given = ["GET", "HEAD"].includes(method) || dice.chance(0.3) ? {} : { body: this.#object() };
    // Otherwise everything would be deleted.
    if (method === "DELETE" && !place.startsWith(path.slice(0, -1))) return;
    await this.#visit.send(`odd ${method}`, method, `${place}${tail}`, { headers: this.#headers(), ...given });
  }
}

/** The metadata that a stored object has. */
const common: Fields = {
  name: "p0",
  namespace: "x",
  uid: "u",
  resourceVersion: "1",
  creationTimestamp: "2020-01-01T00:00:00Z",
  labels: { app: "a", case: "x" },
  managedFields: [{ manager: "m", operation: "Update", fieldsV1: { "f:metadata": { "f:labels": {} } } }],
};

async function walk(visit: Visit): Promise<void> {
  const fitting = visit.served.filter((served) => {
    const sample = isUnvalidated(served.group) ? undefined : sampleOf(served);
    return sample && !sample.name && !sample.settled && served.verbs.includes("create") && served.verbs.includes("get");
  });
  const served = fitting.filter(({ kind }) => kind !== "Namespace")[(visit.index * 7) % (fitting.length - 1)]!;
  await visit.createNamespace();
  const { minimal, full } = sampleOf(served)!;
  const taken = new Walk(visit, served, (visit.index % 3 === 0 ? full : undefined) ?? minimal);
  await taken.begin();
  for (let step = 0; step < 25; step++) await taken.step();
}

export const walks: Stranger = { name: "walk", count: 120, run: walk };
