/** What users may do in generated worlds, by reviews and by their requests. */
import type { Case } from "../case.ts";
import type { Loose, Session } from "../session.ts";
import { Dice, type Selection } from "../sampling.ts";
import { as, makeWorld, type Person, type World } from "./world.ts";

const authorization = "/apis/authorization.k8s.io/v1";

/** The number of worlds, which a selection multiplies. */
const COUNT = 2;

export function worlds({ more = 1 }: Selection): Case[] {
  return Array.from({ length: Math.ceil(COUNT * more) }, (_, index) => ({
    name: `access world ${index}`,
    run: async (session) => {
      const world = await makeWorld(session, index + 1);
      const dice = new Dice(1000 + index);
      await reviews(session, world, dice);
      await requests(session, world, dice);
    },
  }));
}

const choices = {
  verb: ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "*", "", "approve"],
  group: ["", "apps", "batch", "example.test", "*"],
  resource: ["configmaps", "secrets", "pods", "deployments", "jobs", "namespaces", "nodes", "tigers", "*"],
  subresource: ["", "", "", "log", "status", "scale", "exec"],
  name: ["", "", "one", "two", "nine"],
};

async function reviews(session: Session, { namespace, other, people }: World, dice: Dice): Promise<void> {
  for (let index = 0; index < 40; index++) {
    const person = dice.one(people);
    const resourceAttributes = {
      namespace: dice.one([namespace, namespace, other, "", "default"]),
      verb: dice.one(choices.verb),
      group: dice.one(choices.group),
      resource: dice.one(choices.resource),
      subresource: dice.one(choices.subresource),
      name: dice.one(choices.name),
    };
    const path = dice.one(["/healthz", "/healthz/ping", "/metrics", "/api/v1", "/apis", "/openapi/v3", "/logs/x", "/"]);
    const what = dice.chance(0.2)
      ? { nonResourceAttributes: { path, verb: dice.one(["get", "head", "post", "*"]) } }
      : { resourceAttributes };
    const self = dice.chance(0.3);
    const kind = self ? "SelfSubjectAccessReview" : "SubjectAccessReview";
    const spec = self ? what : { ...what, user: person.name, groups: person.groups };
    const body = { apiVersion: "authorization.k8s.io/v1", kind, spec };
    const headers = self ? as(person) : {};
    const call = { body, headers };
    const answer: Loose = await ask(session, `${authorization}/${kind.toLowerCase()}s`, call);
    session.note(`review ${index}: ${person.name} ${JSON.stringify(what)}`, answer);
  }
  for (const person of people) {
    for (const place of [namespace, other, "absent"]) {
      const body = {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SelfSubjectRulesReview",
        spec: { namespace: place },
      };
      await session.send(`rules of ${person.name} in ${place}`, "POST", `${authorization}/selfsubjectrulesreviews`, {
        body,
        headers: as(person),
      });
    }
  }
}

/** Where several bindings permit a request, the server names any of them. */
async function ask(
  session: Session,
  path: string,
  call: { readonly body: object; readonly headers: Record<string, string> },
): Promise<Loose> {
  const answer: Loose = await session.quietly("POST", path, call.body, call.headers);
  if (typeof answer?.status?.reason === "string" && answer.status.allowed === true)
    answer.status.reason = "<a binding>";
  return answer;
}

const methods: readonly (readonly [string, "all" | "one", string?])[] = [
  ["GET", "all"],
  ["GET", "all", "?watch=1&timeoutSeconds=1&labelSelector=a%3Db"],
  ["GET", "all", "?fieldSelector=metadata.name%3Done"],
  ["GET", "all", "?labelSelector=a%3Db"],
  ["GET", "one"],
  ["HEAD", "one"],
  ["POST", "all", "?dryRun=All"],
  ["PUT", "one", "?dryRun=All"],
  ["PATCH", "one", "?dryRun=All"],
  ["DELETE", "one", "?dryRun=All"],
  ["DELETE", "all", "?dryRun=All&labelSelector=a%3Db"],
  ["OPTIONS", "one"],
];

async function requests(session: Session, { namespace, other, people }: World, dice: Dice): Promise<void> {
  for (let index = 0; index < 50; index++) {
    const person: Person = dice.one(people);
    const [method, which, choices = ""] = dice.one(methods);
    const place = dice.one([namespace, namespace, other, ""]);
    const resource = dice.one([
      "configmaps",
      "secrets",
      "pods",
      "deployments",
      "jobs",
      "nodes",
      "tigers",
      "namespaces",
    ]);
    // Permissions from other cases in the whole cluster do not matter here.
    const query = method === "GET" && which === "all" && choices === "" ? "?labelSelector=a%3Db" : choices;
    const name = which === "all" ? "" : `/${dice.one(["one", "two", "nine"])}`;
    const part = name !== "" && dice.chance(0.25) ? `/${dice.one(["status", "scale", "log"])}` : "";
    const where = place === "" ? "" : `namespaces/${place}/`;
    const path = `${rootOf(resource)}/${where}${resource}${name}${part}${query}`;
    const type = method === "PATCH" ? { "content-type": "application/merge-patch+json" } : {};
    const body = ["POST", "PUT", "PATCH"].includes(method) ? { body: {} } : {};
    const label = `request ${index}: ${person.name} ${method} ${path}`;
    await session.send(label, method, path, { ...body, headers: { ...type, ...as(person) } });
  }
}

function rootOf(resource: string): string {
  if (resource === "deployments") return "/apis/apps/v1";
  if (resource === "jobs") return "/apis/batch/v1";
  return resource === "tigers" ? "/apis/example.test/v1" : "/api/v1";
}
