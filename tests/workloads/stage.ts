/** Where a situation plays: a namespace of one cluster, and what can be done there. */
import { pathOf } from "./kinds.ts";
import type { Happening, Loose, Recorder } from "./recorder.ts";
import type { Side } from "./side.ts";

/** A step's end: what was there when all was quiet. */
export interface Snapshot {
  readonly label: string;
  readonly objects: readonly Loose[];
  /** How much had happened. */
  readonly happened: number;
}

export interface SettleOptions {
  /** Milliseconds without an event. @default 300 */
  readonly quiet?: number;
  /** Milliseconds for the condition. @default 90_000 */
  readonly within?: number;
}

/** What must hold at the end of a step. */
export type Until = (stage: Stage) => boolean;

export interface DeleteOptions {
  readonly propagation?: "Background" | "Foreground" | "Orphan";
  readonly gracePeriodSeconds?: number;
}

const types = {
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  json: "application/json-patch+json",
} as const;

interface StageOptions {
  readonly recorder: Recorder;
  readonly namespace: string;
  readonly meeting: Meeting;
}

/** Where the stages of a situation meet. */
export interface Meeting {
  join(stage: Stage): void;
  meet(stage: Stage, label: string): Promise<Snapshot>;
}

export class Stage {
  readonly namespace: string;
  readonly side: Side;
  readonly snapshots: Snapshot[] = [];
  /** The step at whose end it waits for the other stage. */
  waitsAt: number | undefined;
  /** What was there when so much had happened. */
  #last: { readonly happened: number; readonly objects: readonly Loose[] } | undefined;
  readonly #recorder: Recorder;
  readonly #meeting: Meeting;

  constructor(side: Side, options: StageOptions) {
    this.side = side;
    this.namespace = options.namespace;
    this.#recorder = options.recorder;
    this.#meeting = options.meeting;
    this.#meeting.join(this);
  }

  /** Creates or changes objects by server-side apply; `metadata.namespace` is filled in. */
  async apply(...objects: readonly Loose[]): Promise<void> {
    for (const object of objects) {
      const path = pathOf(object.kind, this.namespace, object.metadata.name);
      await this.send("PATCH", `${path}?fieldManager=situation&force=true`, object, "application/apply-patch+yaml");
    }
  }

  /** Creates an object, also one with `generateName`. */
  async create(object: Loose): Promise<Loose> {
    return this.send("POST", pathOf(object.kind, this.namespace), object);
  }

  /** Changes an object. @param subresource such as `scale` or `status` */
  async patch(kind: string, name: string, body: object, options: PatchOptions = {}): Promise<Loose> {
    const { type = "merge", subresource } = options;
    const path = `${pathOf(kind, this.namespace, name)}${subresource === undefined ? "" : `/${subresource}`}`;
    return this.send("PATCH", path, body, types[type]);
  }

  async delete(kind: string, name: string, options: DeleteOptions = {}): Promise<void> {
    const { propagation, gracePeriodSeconds } = options;
    const body = { kind: "DeleteOptions", apiVersion: "v1", propagationPolicy: propagation, gracePeriodSeconds };
    await this.send("DELETE", pathOf(kind, this.namespace, name), body);
  }

  /** The objects of a kind as they were last seen, in the order of their creation. */
  list(kind: string, labels: Readonly<Record<string, string>> = {}): readonly Loose[] {
    return this.#present().filter(
      (object) =>
        object.kind === kind && Object.entries(labels).every(([key, value]) => object.metadata.labels?.[key] === value),
    );
  }

  /** An object as it was last seen. */
  find(kind: string, name: string): Loose {
    return this.list(kind).find(({ metadata }) => metadata.name === name);
  }

  /** The pods of an owner, or all; those on their way out are left out. */
  pods(owner?: string): readonly Loose[] {
    return this.list("Pod").filter(
      ({ metadata }) =>
        metadata.deletionTimestamp === undefined &&
        (owner === undefined || metadata.ownerReferences?.some((one: Loose) => one.name === owner)),
    );
  }

  #present(): readonly Loose[] {
    const { happenings } = this;
    if (this.#last?.happened !== happenings.length) {
      this.#last = { happened: happenings.length, objects: present(happenings) };
    }
    return this.#last.objects;
  }

  /** Everything that happened so far. */
  get happenings(): readonly Happening[] {
    return this.#recorder.of(this.namespace);
  }

  /** Waits for a condition alone. @throws after 30 seconds, with what is there */
  async until(what: string, holds: Until, within = 90_000): Promise<void> {
    const deadline = performance.now() + within;
    for (let seen = -1, looked = 0; ; await Bun.sleep(10)) {
      const now = performance.now();
      // Looking is dear, and most conditions are about what has happened.
      if (this.happenings.length === seen && now < looked + 200) continue;
      [seen, looked] = [this.happenings.length, now];
      if (holds(this)) return;
      if (now > deadline) throw new Error(`${this.side.name}: not within ${within} ms: ${what}`);
    }
  }

  /** Waits for a condition, for quiet, and for the other cluster to be as far; then takes a snapshot. */
  async settle(label: string, holds: Until = () => true, options: SettleOptions = {}): Promise<void> {
    const { quiet = 300, within = 90_000 } = options;
    const begin = performance.now();
    await this.until(label, holds, within);
    for (;;) {
      const last = Math.max(begin, this.happenings.findLast(({ object }) => object.kind !== "Event")?.at ?? 0);
      const left = last + quiet - performance.now();
      if (left <= 0 && holds(this)) break;
      if (performance.now() - begin > within + 10_000) throw new Error(`${this.side.name}: never quiet: ${label}`);
      await Bun.sleep(Math.max(left, 10));
    }
    this.snapshots.push(await this.#meeting.meet(this, label));
  }

  /** What is there now. */
  snapshot(label: string): Snapshot {
    const { happenings } = this;
    return { label, objects: this.#present(), happened: happenings.length };
  }

  /** Any request; paths begin with `/`. @throws when it is refused */
  async send(method: string, path: string, body?: object, type = "application/json"): Promise<Loose> {
    const init: RequestInit = { method, headers: { "content-type": type } };
    if (body !== undefined) init.body = JSON.stringify(body);
    const response = await this.side.fetch(path, init);
    const answer: Loose = await response.json();
    if (response.ok) return answer;
    throw new Error(`${this.side.name}: ${method} ${path}: ${response.status} ${answer.message}`);
  }
}

export interface PatchOptions {
  /** @default "merge" */
  readonly type?: keyof typeof types;
  readonly subresource?: string;
}

/** The last state of what is there, in the order of creation. */
function present(happenings: readonly Happening[]): Loose[] {
  const objects = new Map<string, Loose>();
  for (const { type, object } of happenings) {
    if (type === "DELETED") objects.delete(object.metadata.uid);
    else objects.set(object.metadata.uid, object);
  }
  return [...objects.values()].filter(({ kind }) => kind !== "Event");
}
