/** Lists, deletions of collections and watches with random options, of kinds that are kept in different ways. */
import type { Loose } from "../session.ts";
import {
  collectionOf,
  configMap,
  deployment,
  gadget,
  gizmo,
  type Kind,
  objectOf,
  pod,
  service,
} from "../families/kinds.ts";
import { prepareKinds } from "../families/kinds.ts";
import { Probe } from "../families/family.ts";
import { accepts } from "./choices.ts";
import type { Stranger, Visit } from "./stranger.ts";

const event: Kind = {
  ...configMap,
  name: "event",
  kind: "Event",
  plural: "events",
  rest: { involvedObject: { kind: "Pod", name: "p", namespace: "$" }, reason: "R", message: "m", type: "Normal" },
};
const lease: Kind = {
  ...configMap,
  name: "lease",
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  plural: "leases",
  rest: {},
};

const kinds: readonly Kind[] = [configMap, deployment, gadget, gizmo, pod, service, event, lease];

/** `OLD`, `MIDDLE` and `NOW` stand for versions of the case. */
const options: readonly (readonly string[])[] = [
  ["", "", "limit=500", "limit=1", "limit=2", "limit=0", "limit=-1", "limit=3", "limit=x"],
  [
    "",
    "",
    "resourceVersion=0",
    "resourceVersion=0",
    "resourceVersion=OLD",
    "resourceVersion=MIDDLE",
    "resourceVersion=NOW",
    "resourceVersion=1",
    "resourceVersion=",
    "resourceVersion=x",
    "resourceVersion=-1",
    "resourceVersion=00",
    "resourceVersion=1.5",
  ],
  [
    "",
    "",
    "resourceVersionMatch=Exact",
    "resourceVersionMatch=NotOlderThan",
    "resourceVersionMatch=",
    "resourceVersionMatch=exact",
    "resourceVersionMatch=Nope",
  ],
  ["", "", "", "continue=", "continue=x", "continue=NEXT", "continue=NEXT", "continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ"],
  [
    "",
    "",
    "labelSelector=app%3Da",
    "labelSelector=app!%3Da",
    "labelSelector=app%20in%20(a,b)",
    "fieldSelector=metadata.name%3Dp1",
    "fieldSelector=metadata.name!%3Dp1",
    "fieldSelector=metadata.name%3Dp1,metadata.namespace%3DNAMESPACE",
    "fieldSelector=spec.color%3Dred",
    "fieldSelector=metadata.name%3Dnone",
  ],
  ["", "", "", "timeoutSeconds=5", "timeoutSeconds=0", "pretty=true", "allowWatchBookmarks=true", "includeObject=None"],
  ["", "", "", "", "sendInitialEvents=true", "sendInitialEvents=false"],
];

class Scene {
  readonly visit: Visit;
  readonly kind: Kind;
  readonly collection: string;
  readonly versions: Readonly<Record<string, string>>;
  readonly next: readonly string[];

  constructor(
    visit: Visit,
    { kind, versions, next }: { kind: Kind; versions: Readonly<Record<string, string>>; next: readonly string[] },
  ) {
    this.visit = visit;
    this.kind = kind;
    this.collection = collectionOf(kind, visit.namespace);
    this.versions = versions;
    this.next = next;
  }

  query(): string {
    const { dice, namespace } = this.visit;
    const own = this.kind.namespaced ? [] : [`labelSelector=case%3D${namespace}`];
    const chosen = options.map((list) => dice.one(list)).filter((option) => option !== "");
    const wanted = [...own, ...chosen.filter((option) => own.length === 0 || !option.startsWith("label"))];
    const text = wanted.join("&").replaceAll("NAMESPACE", namespace);
    const { next } = this;
    return text.replace(/OLD|MIDDLE|NOW|NEXT/, (name) => this.versions[name] ?? encodeURIComponent(dice.one(next)));
  }
}

async function made(visit: Visit, kind: Kind): Promise<Scene> {
  await prepareKinds(new Probe(visit.session, 1));
  const collection = collectionOf(kind, visit.namespace);
  const create = async (name: string, app: string): Promise<string> => {
    const text = JSON.stringify(objectOf(kind, { name, labels: { app, case: visit.namespace } }));
    const body = JSON.parse(text.replaceAll('"$"', JSON.stringify(visit.namespace)));
    return String((await visit.quietly("POST", collection, body))?.metadata?.resourceVersion);
  };
  const own = kind.namespaced ? "" : `${visit.namespace}-`;
  const mark = `labelSelector=case%3D${visit.namespace}`;
  const old = String((await visit.quietly("GET", `${collection}?limit=1`))?.metadata?.resourceVersion);
  const middle = await create(`${own}p0`, "a");
  await create(`${own}p1`, "a");
  await create(`${own}p2`, "b");
  const early: Loose = await visit.quietly("GET", `${collection}?limit=1&${mark}`);
  await create(`${own}p3`, "b");
  await visit.merge(`${collection}/${own}p1`, { metadata: { labels: { app: "b" } } });
  await visit.quietly("DELETE", `${collection}/${own}p2?gracePeriodSeconds=0`);
  const now = await create(`${own}p4`, "a");
  const late: Loose = await visit.quietly("GET", `${collection}?limit=2&${mark}`);
  const next = [early, late].map((list) => String(list?.metadata?.continue ?? "x"));
  // A list of version 0 is answered from a cache, which follows a moment later.
  await visit.session.noticed(300);
  return new Scene(visit, { kind, versions: { OLD: old, MIDDLE: middle, NOW: now }, next });
}

async function lists(visit: Visit): Promise<void> {
  const { dice } = visit;
  const scene = await made(visit, kinds[visit.index % kinds.length]!);
  for (let index = 0; index < 60; index++) {
    const query = scene.query();
    const headers = { accept: dice.chance(0.5) ? "application/json" : dice.one(accepts) };
    const everywhere = scene.kind.namespaced && query.includes("NAMESPACE");
    const path = everywhere ? scene.collection.replace(/namespaces\/[^/]+\//, "") : scene.collection;
    if (dice.chance(0.25)) await visit.send("delete", "DELETE", `${path}?${query}&dryRun=All`, { headers });
    else if (dice.chance(0.15)) await visit.send("one", "GET", `${path}/p1?${query}`, { headers });
    else await visit.send("list", "GET", `${path}?${query}`, { headers });
  }
  // Those that really delete, one after the other.
  for (let index = 0; index < 6; index++) {
    const query = scene.query();
    const { uid, resourceVersion } =
      (await visit.quietly("GET", `${scene.collection}/p1`))?.metadata ?? ({} as Record<string, string>);
    const body = dice.one([
      undefined,
      { preconditions: { uid } },
      { preconditions: { resourceVersion } },
      { preconditions: { uid: "x" } },
      { propagationPolicy: "Foreground" },
      { propagationPolicy: "Orphan" },
      { gracePeriodSeconds: 0 },
      { dryRun: ["All"] },
      { orphanDependents: true, propagationPolicy: "Orphan" },
    ]);
    await visit.send("delete really", "DELETE", `${scene.collection}?${query}`, body === undefined ? {} : { body });
    await visit.send("what is left", "GET", `${scene.collection}?labelSelector=case%3D${visit.namespace}`);
  }
}

const truths = ["true", "true", "1", "T", "TRUE", "", "yes"];

async function watches(visit: Visit): Promise<void> {
  const { dice } = visit;
  const scene = await made(visit, kinds[visit.index % kinds.length]!);
  const watched = Array.from({ length: 24 }, async (_, index) => {
    const query = scene.query().replace(/(timeoutSeconds=\d*|pretty=true)&?/, "");
    const one = dice.chance(0.15);
    const path = one ? `${scene.collection}/p1` : scene.collection;
    const headers = {
      accept: dice.chance(0.4) ? "application/json" : dice.one(accepts.filter((type) => !type.includes("as=Table"))),
    };
    const whole = `${path}?${query}&watch=${dice.one(truths)}&timeoutSeconds=2`;
    await visit.session.watch(whole, { label: `${index} watch`, headers, patience: 6000 });
  });
  await Promise.all(watched);
}

export const listsOfStrangers: readonly Stranger[] = [
  { name: "random lists", count: 24, run: lists },
  { name: "random watches", count: 8, run: watches },
];
