/** Cases about who may write which roles and bindings. */
import type { Case } from "../case.ts";
import type { Session } from "../session.ts";
import { Dice, type Selection } from "../sampling.ts";
import { apiGroup, as, makeWorld, of, type Person, rbac, ruleOf, type World } from "./world.ts";

/**
 * What each user may do besides the rules of the world: everything with roles, a part of it, or the verbs that bypass
 * the check.
 */
const extra = [
  { verbs: ["*"], apiGroups: [apiGroup], resources: ["roles", "clusterroles", "rolebindings", "clusterrolebindings"] },
];
const plain = ["get", "list", "watch", "create", "update", "patch", "delete"];

/** The number of worlds, which a selection multiplies. */
const COUNT = 2;

export function escalation({ more = 1 }: Selection): Case[] {
  const generated = Array.from({ length: Math.ceil(COUNT * more) }, (_, index): Case => {
    return { name: `escalation world ${index}`, run: (session) => playWorld(session, index) };
  });
  return [...generated, { name: "escalation of existing roles", run: existing }];
}

async function playWorld(session: Session, index: number): Promise<void> {
  const world = await makeWorld(session, index + 500);
  const dice = new Dice(2000 + index);
  const writers = await makeWriters(session, world, dice);
  for (let step = 0; step < 24; step++) await write(session, world, dice, { writers, step });
}

/** All of them may write roles; one may escalate and one may bind, by name or any. */
async function makeWriters(session: Session, { people }: World, dice: Dice): Promise<readonly Person[]> {
  const { slug } = session;
  const verbsOf = [plain, [...plain, "escalate"], [...plain, "bind"]];
  for (const [index, person] of people.entries()) {
    const verbs = verbsOf[index % verbsOf.length];
    const name = `${slug}-writer-${index}`;
    const resourceNames = dice.chance(0.4) ? { resourceNames: [`${slug}-new`, `${slug}-x`, "view"] } : {};
    const rules = [
      { ...extra[0], verbs: plain },
      { ...extra[0], verbs, ...resourceNames },
    ];
    await session.quietly("POST", `${rbac}/clusterroles`, { ...of("ClusterRole", { name }), rules });
    await session.quietly("POST", `${rbac}/clusterrolebindings`, {
      ...of("ClusterRoleBinding", { name }),
      roleRef: { apiGroup, kind: "ClusterRole", name },
      subjects: [{ kind: "User", name: person.name, apiGroup }],
    });
  }
  await session.noticed(600);
  return people;
}

interface Step {
  readonly writers: readonly Person[];
  readonly step: number;
}

async function write(session: Session, world: World, dice: Dice, { writers, step }: Step): Promise<void> {
  const { slug } = session;
  const person = dice.one(writers);
  const kind = dice.one(["Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"]);
  const isCluster = kind.startsWith("Cluster");
  const namespace = dice.one([world.namespace, world.other]);
  const name = dice.one([`${slug}-new`, `${slug}-newer`]);
  const metadata = { name, ...(isCluster ? {} : { namespace }) };
  const content = kind.endsWith("Role") ? roleOf(dice, isCluster) : bindingOf(dice, slug, isCluster);
  const object = { ...of(kind, metadata), ...content };
  const collection = `${rbac}/${isCluster ? "" : `namespaces/${namespace}/`}${kind.toLowerCase()}s`;
  const verb = dice.one(["create", "create", "update", "merge", "apply", "delete", "generate"]);
  const label = `step ${step}: ${person.name} ${verb} ${kind} ${name}`;
  const headers = as(person);
  const one = `${collection}/${name}`;
  if (verb === "create") await session.send(label, "POST", collection, { body: object, headers });
  else if (verb === "generate") {
    const generated = { ...object, metadata: { ...metadata, name: undefined, generateName: `${slug}-g-` } };
    await session.send(label, "POST", `${collection}?dryRun=All`, { body: generated, headers });
  } else if (verb === "update") await session.send(label, "PUT", one, { body: object, headers });
  else if (verb === "merge") {
    const body = dice.chance(0.3) ? { metadata: { finalizers: [`example.test/${step}`] } } : content;
    await session.send(label, "PATCH", one, {
      body,
      headers: { ...headers, "content-type": "application/merge-patch+json" },
    });
    await session.quietly("PATCH", one, [{ op: "remove", path: "/metadata/finalizers" }], {
      "content-type": "application/json-patch+json",
    });
  } else if (verb === "apply") {
    await session.send(label, "PATCH", `${one}?fieldManager=m&force=true`, {
      body: object,
      headers: { ...headers, "content-type": "application/apply-patch+yaml" },
    });
  } else await session.send(label, "DELETE", one, { headers });
  await session.noticed(150);
}

function roleOf(dice: Dice, isCluster: boolean): object {
  const rules = Array.from({ length: 1 + Math.floor(dice.next() * 2) }, () => ruleOf(dice, { cluster: isCluster }));
  const aggregates = isCluster && dice.chance(0.2);
  return {
    rules: dice.chance(0.1) ? [] : rules,
    ...(aggregates && { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: "b" } }] } }),
  };
}

function bindingOf(dice: Dice, slug: string, isCluster: boolean): object {
  const name = dice.one([`${slug}-x`, `${slug}-y`, "view", "system:discovery", "cluster-admin", `${slug}-nobody`]);
  const kind = !isCluster && dice.chance(0.4) ? "Role" : "ClusterRole";
  return {
    roleRef: { apiGroup, kind, name: kind === "Role" ? dice.one(["role-0", "role-1", "role-2"]) : name },
    subjects: [{ kind: "User", name: `${slug}-eve`, apiGroup }],
  };
}

/** Changes that only the garbage collector makes are never rejected; all others are. */
async function existing(session: Session): Promise<void> {
  const { slug } = session;
  const writer = { name: `${slug}-writer`, groups: [] };
  const all = ["roles", "clusterroles", "rolebindings", "clusterrolebindings"];
  await session.quietly("POST", `${rbac}/clusterroles`, {
    ...of("ClusterRole", { name: `${slug}-writer` }),
    rules: [{ verbs: plain, apiGroups: [apiGroup], resources: all }],
  });
  await session.quietly("POST", `${rbac}/clusterrolebindings`, {
    ...of("ClusterRoleBinding", { name: `${slug}-writer` }),
    roleRef: { apiGroup, kind: "ClusterRole", name: `${slug}-writer` },
    subjects: [{ kind: "User", name: writer.name, apiGroup }],
  });
  const rules = [{ verbs: ["get"], apiGroups: [""], resources: ["secrets"] }];
  const roleRef = { apiGroup, kind: "ClusterRole", name: `${slug}-target` };
  const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { a: "b" } }] };
  await session.quietly("POST", `${rbac}/clusterroles`, { ...of("ClusterRole", { name: `${slug}-target` }), rules });
  await session.quietly("POST", `${rbac}/clusterroles`, {
    ...of("ClusterRole", { name: `${slug}-sum` }),
    rules: [],
    aggregationRule,
  });
  await session.quietly("POST", `${rbac}/clusterrolebindings`, {
    ...of("ClusterRoleBinding", { name: `${slug}-target` }),
    roleRef,
    subjects: [],
  });
  await session.noticed(600);
  const changes: Readonly<Record<string, object>> = {
    finalizers: { metadata: { finalizers: ["example.test/one"] } },
    "no finalizers": { metadata: { finalizers: null } },
    owners: { metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "n", uid: "u" }] } },
    labels: { metadata: { labels: { a: "b" } } },
    "labels and finalizers": { metadata: { labels: { c: "d" }, finalizers: ["example.test/two"] } },
    "no finalizers again": { metadata: { finalizers: null } },
    subjects: { subjects: [{ kind: "User", name: "x", apiGroup }] },
    "fewer rules": { rules: [] },
    "own rules": { rules: [{ verbs: ["get"], apiGroups: [apiGroup], resources: ["roles"] }] },
    "an aggregation": { aggregationRule },
    "no aggregation": { aggregationRule: null },
    nothing: {},
  };
  const headers = { ...as(writer), "content-type": "application/merge-patch+json" };
  for (const path of [
    `clusterroles/${slug}-target`,
    `clusterroles/${slug}-sum`,
    `clusterrolebindings/${slug}-target`,
  ]) {
    for (const [label, body] of Object.entries(changes)) {
      await session.send(`${path} ${label}`, "PATCH", `${rbac}/${path}`, { body, headers });
      await session.noticed(100);
    }
    await session.send(`${path} delete`, "DELETE", `${rbac}/${path}`, { headers: as(writer) });
  }
}
