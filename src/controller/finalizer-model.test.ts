/**
 * Random acts of others on objects with finalizers, on the embedded server. After each round of acts holds:
 *
 * - `finalize` was called for no object that was a member all the time, and for none that was gone before the round;
 * - it succeeded at most once for each time that an object left, or was deleted;
 * - `reconcile` was called for no object that was no member all the time;
 * - members have the finalizer, nothing else has it, and nothing that was deleted is stuck.
 */
import { defineController, type ObjectOf, watch, type WatchOptions } from "binnacle";
import { createApiServer } from "binnacle-apiserver";
import { expect, test } from "bun:test";
import { ApiObjects, type Json } from "../../tests/support/cluster.ts";
import { FaultyProxy } from "../../tests/support/integration/faulty-proxy.ts";
import { InProcess } from "../../tests/support/integration/in-process.ts";
import { Box } from "../../tests/support/integration/lab.ts";
import { until } from "../../tests/support/until.ts";

const SEED = Number(process.env["FINALIZER_SEED"] ?? 1);
const ROUNDS = Number(process.env["FINALIZER_ROUNDS"] ?? 20);
const NAMES = ["a", "b", "c"];
const NAMESPACES = ["one", "two"];
const FOREIGN = "example.com/foreign";
/** The proxy holds watches back by so many milliseconds in some rounds. */
const BEHIND = 15;

/** Every so many rounds there is one of the faults that take a second each. */
const FAULTY = 20;

type Texts = Readonly<Record<string, string>>;

interface Kind {
  readonly name: string;
  readonly selector: WatchOptions<ObjectOf<typeof Box>>;
  readonly selects: (object: Json, namespace: Texts) => boolean;
}

const KINDS: readonly Kind[] = [
  { name: "plain", selector: {}, selects: () => true },
  {
    name: "labelled",
    selector: { labels: "team=a" },
    selects: ({ metadata }) => metadata.labels?.["team"] === "a",
  },
  { name: "named", selector: { fields: "metadata.name=a" }, selects: ({ metadata }) => metadata.name === "a" },
  {
    name: "spaced",
    selector: { namespaces: { labels: "team=a" } },
    selects: (_, namespace) => namespace["team"] === "a",
  },
  {
    name: "matching",
    selector: { match: ({ metadata }) => metadata.labels?.["kept"] === "yes" },
    selects: ({ metadata }) => metadata.labels?.["kept"] === "yes",
  },
];

const finalizerOf = (kind: string): string => `lab.binnacle.dev/${kind}`;
const boxes = (namespace: string): string => `/apis/lab.binnacle.dev/v1/namespaces/${namespace}/boxes`;

interface Call {
  readonly kind: string;
  readonly uid: string;
  readonly what: "reconcile" | "finalize" | "finalize that failed";
}

/** What was true of the objects after one of the acts: by `kind uid`, whether it is a member. */
type Truth = ReadonlyMap<string, boolean>;

class Model implements AsyncDisposable {
  readonly #stack = new AsyncDisposableStack();
  readonly #random = generator(SEED);
  readonly #failing = new Set<string>();
  #round = 0;
  #calls: Call[] = [];
  #truths: Truth[] = [];
  /** What the acts of the round were, for messages. */
  #acts: string[] = [];
  /** Whether an answer was lost: then a successful `finalize` may be called again. */
  #isLossy = false;
  /** Which of our finalizers the objects had at the beginning of the round. */
  #carried: ReadonlySet<string> = new Set();
  cluster!: ApiObjects;
  proxy!: FaultyProxy;
  operator!: InProcess;

  async start(): Promise<void> {
    const server = await createApiServer();
    this.cluster = this.#stack.use(
      new ApiObjects({
        request: (path, init) => server.fetch(new Request(`http://embedded${path}`, init)),
        stop: () => server.stop(),
      }),
    );
    this.proxy = this.#stack.use(await FaultyProxy.start(this.cluster.plane));
    for (const name of NAMESPACES)
      await this.cluster.send("POST", "/api/v1/namespaces", { body: { metadata: { name, labels: { team: "a" } } } });
    await this.#restart();
    this.#stack.defer(() => this.operator[Symbol.asyncDispose]());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }

  async #restart(): Promise<void> {
    await (this.operator as InProcess | undefined)?.[Symbol.asyncDispose]();
    const controllers = KINDS.map(({ name, selector }) =>
      defineController({
        name,
        for: watch(Box, selector),
        retry: { first: "2ms", max: "10ms" },
        reconcile: async ({ metadata: { uid } }) => void this.#calls.push({ kind: name, uid, what: "reconcile" }),
        finalize: async ({ metadata: { uid } }) => {
          const isFailing = this.#failing.has(name);
          this.#calls.push({ kind: name, uid, what: isFailing ? "finalize that failed" : "finalize" });
          if (isFailing) throw new Error("not now");
        },
      }),
    );
    this.operator = await InProcess.start({
      cluster: this.proxy.cluster,
      definitions: [Box, ...controllers],
      grace: 500,
    });
  }

  /** Some acts of others, and then silence. */
  async round(): Promise<void> {
    this.#round++;
    this.#calls = [];
    this.#acts = [];
    this.#truths = [];
    this.#isLossy = false;
    this.proxy.delay = this.#chance(0.3) ? BEHIND : 0;
    const carried = await this.#note();
    this.#carried = new Set(
      carried.flatMap((object) =>
        KINDS.flatMap(({ name }) => (has(object, name) ? [`${name} ${object.metadata.uid}`] : [])),
      ),
    );
    for (const { name } of KINDS) {
      if (this.#failing.has(name) ? this.#chance(0.6) : this.#chance(0.1)) this.#toggle(name);
    }
    for (let act = 0, acts = 1 + this.#below(4); act < acts; act++) {
      await this.#act(
        acts > 1 && act === 0 && this.#round % FAULTY === FAULTY - 1 ? this.#one(FAULTS) : this.#one(ACTS),
      );
      if (this.#chance(0.4)) await Bun.sleep(this.#below(6));
    }
    await this.#settled();
    await this.#check();
  }

  #toggle(name: string): void {
    if (!this.#failing.delete(name)) this.#failing.add(name);
    this.#acts.push(`${name} ${this.#failing.has(name) ? "fails" : "works"}`);
  }

  async #act(act: (typeof ACTS | typeof FAULTS)[number]): Promise<void> {
    const namespace = this.#one(NAMESPACES);
    const name = this.#one(NAMES);
    const path = `${boxes(namespace)}/${name}`;
    const tell = (what: string): void => void this.#acts.push(`${what} ${namespace}/${name}`);
    const team = this.#one(["a", "b", null]);
    const kept = this.#one(["yes", "no", null]);
    switch (act) {
      case "create": {
        tell(`create team=${team} kept=${kept}`);
        const labels = Object.fromEntries(Object.entries({ team, kept }).filter(([, value]) => value !== null));
        await this.#try("POST", boxes(namespace), {
          apiVersion: Box.apiVersion,
          kind: "Box",
          metadata: { name, labels },
          spec: {},
        });
        break;
      }
      case "delete":
        tell("delete");
        await this.#try("DELETE", path);
        break;
      case "replace":
        tell("delete and create");
        await this.#try("DELETE", path);
        await this.#note();
        await this.#try("PATCH", path, { metadata: { finalizers: null } });
        await this.#note();
        await this.#try("POST", boxes(namespace), {
          apiVersion: Box.apiVersion,
          kind: "Box",
          metadata: { name, labels: { team: "a", kept: "yes" } },
          spec: {},
        });
        break;
      case "label":
        tell(`team=${team} kept=${kept}`);
        await this.#try("PATCH", path, { metadata: { labels: { team, kept } } });
        break;
      case "leave and return":
        tell("leave and return");
        await this.#try("PATCH", path, { metadata: { labels: { team: "b", kept: "no" } } });
        await this.#note();
        await this.#try("PATCH", path, { metadata: { labels: { team: "a", kept: "yes" } } });
        break;
      case "namespace":
        tell(`namespace team=${team}`);
        await this.#try("PATCH", `/api/v1/namespaces/${namespace}`, { metadata: { labels: { team } } });
        break;
      case "strip":
        tell("strip");
        await this.#try("PATCH", path, { metadata: { finalizers: null } });
        break;
      case "hold": {
        const isHeld = (await this.cluster.get(path))?.metadata.finalizers?.includes(FOREIGN) === true;
        tell(isHeld ? "let go" : "hold");
        await this.#others(path, (finalizers) =>
          isHeld ? finalizers.filter((one) => one !== FOREIGN) : [FOREIGN, ...finalizers],
        );
        break;
      }
      case "spec":
        tell("spec");
        await this.#try("PATCH", path, { spec: { turn: this.#below(100) } });
        break;
      case "restart":
        this.#acts.push("restart");
        await this.#restart();
        break;
      case "cut":
        this.#acts.push("cut");
        this.#isLossy = true;
        if (this.#chance(0.5)) {
          this.proxy.cut({ expire: true });
          await Bun.sleep(20);
        }
        this.proxy.cut();
        break;
      case "lose":
        this.#acts.push("lose the answer to a write");
        this.#isLossy = true;
        this.proxy.fault = ({ method, path: asked }) => {
          if (method !== "PATCH" || !asked.includes("/boxes/")) return undefined;
          this.proxy.fault = () => undefined;
          return { kind: "lose" };
        };
        break;
      case "meanwhile":
        this.#acts.push("act while a finalizer is written");
        this.proxy.before = async ({ method, path: asked, body }) => {
          if (method !== "PATCH" || !body.includes("/metadata/finalizers")) return;
          this.proxy.before = async () => {};
          this.#acts.push(`meanwhile on ${asked}:`);
          const change = this.#one([
            { metadata: { labels: { team: "b", kept: "no" } } },
            { metadata: { labels: { team: "a", kept: "yes" } } },
            { metadata: { annotations: { turn: String(this.#below(1_000)) } } },
            { metadata: { finalizers: [FOREIGN] } },
          ]);
          this.#acts.push(JSON.stringify(change));
          await this.#try("PATCH", asked, change);
          await this.#note();
        };
        break;
    }
    await this.#note();
  }

  /** Changes the list of finalizers as a client does that respects those of others. */
  async #others(path: string, change: (finalizers: readonly string[]) => readonly string[]): Promise<void> {
    const object = await this.cluster.get(path);
    if (object === undefined) return;
    const { resourceVersion, finalizers = [] } = object.metadata;
    await this.#try("PATCH", path, { metadata: { resourceVersion, finalizers: change(finalizers) } });
  }

  /** Acts that the server refuses have no effect. */
  async #try(method: string, path: string, body?: unknown): Promise<void> {
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    await this.cluster.send(method, path, { body, type }).catch(() => {});
  }

  async #objects(): Promise<{ readonly objects: readonly Json[]; readonly labels: ReadonlyMap<string, Texts> }> {
    const namespaces = await this.cluster.exists("/api/v1/namespaces");
    const lists = await Promise.all(NAMESPACES.map((namespace) => this.cluster.exists(boxes(namespace))));
    const labels = new Map(namespaces.items!.map(({ metadata }) => [metadata.name, metadata.labels ?? {}]));
    return { objects: lists.flatMap(({ items }) => items!), labels };
  }

  /** Takes down what is true now. */
  async #note(): Promise<readonly Json[]> {
    const { objects, labels } = await this.#objects();
    const truth = new Map<string, boolean>();
    for (const object of objects) {
      for (const kind of KINDS) truth.set(`${kind.name} ${object.metadata.uid}`, isMember(kind, object, labels));
    }
    this.#truths.push(truth);
    return objects;
  }

  /** Waits until everything is as it has to be, and nothing runs. */
  async #settled(): Promise<void> {
    let wrong = "";
    const what = (): string => `${this.#told}\n${wrong}\n${this.operator.text.slice(-3_000)}`;
    await until(
      async () => {
        const { objects, labels } = await this.#objects();
        wrong = objects.flatMap((object) => this.#wrongWith(object, labels)).join("\n");
        return wrong === "";
      },
      { within: 10_000, every: 2, what },
    );
    await this.operator.idle(this.proxy.delay + 10);
    this.proxy.before = async () => {};
    this.proxy.fault = () => undefined;
  }

  #wrongWith(object: Json, labels: ReadonlyMap<string, Texts>): readonly string[] {
    const { name, namespace, deletionTimestamp, finalizers = [] } = object.metadata;
    const found: string[] = [];
    for (const kind of KINDS) {
      const isHeld = has(object, kind.name);
      const isMine = isMember(kind, object, labels);
      if (isMine && !isHeld) found.push(`${namespace}/${name} is a member of ${kind.name} without its finalizer`);
      if (!isMine && isHeld && !this.#failing.has(kind.name))
        found.push(`${namespace}/${name} is no member of ${kind.name} and has its finalizer`);
    }
    if (deletionTimestamp !== undefined && finalizers.length === 0) found.push(`${namespace}/${name} is stuck`);
    return found;
  }

  async #check(): Promise<void> {
    await this.#note();
    const succeeded = new Map<string, number>();
    for (const { kind, uid, what } of this.#calls) {
      const id = `${kind} ${uid}`;
      const states = this.#truths.map((truth) => truth.get(id));
      const problem = (text: string): string => `${what} of ${id} ${text}: ${this.#told}`;
      if (what === "reconcile") {
        if (!states.includes(true)) throw new Error(problem("which was no member all the time"));
        continue;
      }
      if (states.every((state) => state === undefined)) throw new Error(problem("which was gone before"));
      const first = states.findIndex((state) => state !== undefined);
      if (states.slice(first).every((state) => state === true))
        throw new Error(problem("which was a member all the time"));
      if (what === "finalize") succeeded.set(id, (succeeded.get(id) ?? 0) + 1);
    }
    if (this.#isLossy) return;
    for (const [id, times] of succeeded) {
      const states = this.#truths.map((truth) => truth.get(id));
      const left = states.filter((state, index) => state !== true && states[index - 1] === true).length;
      // One that left in an earlier round has been waiting for a `finalize` that works.
      const most = left + (states[0] === false && this.#carried.has(id) ? 1 : 0);
      if (times > most)
        throw new Error(`finalize of ${id} succeeded ${times} times, and it left ${most} times: ${this.#told}`);
    }
  }

  get #told(): string {
    return `seed ${SEED}, after ${this.#acts.join("; ")}, with ${JSON.stringify(this.#calls)}`;
  }

  #below(most: number): number {
    return Math.floor(this.#random() * most);
  }

  #chance(share: number): boolean {
    return this.#random() < share;
  }

  #one<T>(of: readonly T[]): T {
    return of[this.#below(of.length)]!;
  }
}

const ACTS = [
  "create",
  "create",
  "create",
  "create",
  "delete",
  "delete",
  "replace",
  "label",
  "label",
  "label",
  "leave and return",
  "namespace",
  "strip",
  "hold",
  "hold",
  "spec",
  "restart",
  "meanwhile",
  "meanwhile",
] as const;
/** What the operator recovers from after a second, by design. */
const FAULTS = ["cut", "lose"] as const;

function isMember(kind: Kind, object: Json, labels: ReadonlyMap<string, Texts>): boolean {
  const { deletionTimestamp, namespace = "" } = object.metadata;
  return deletionTimestamp === undefined && kind.selects(object, labels.get(namespace) ?? {});
}

function has({ metadata }: Json, kind: string): boolean {
  return metadata.finalizers?.includes(finalizerOf(kind)) === true;
}

function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

test("finalize is called once for each object that leaves, and never for a member or after the end", async () => {
  await using model = new Model();
  await model.start();
  for (let round = 0; round < ROUNDS; round++) await model.round();
  expect(model.operator.lines("error").filter(({ msg }) => msg !== "Reconcile failed")).toEqual([]);
}, 120_000);
