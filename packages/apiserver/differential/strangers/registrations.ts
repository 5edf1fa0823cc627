/** Random APIServices, FlowSchemas and addresses, tried without storing them, and tokens with those who use them. */
import { sampleOf } from "../samples/samples.ts";
import type { Loose } from "../session.ts";
import { type Fields, jsonPatch, mistaken, someOf } from "./bodies.ts";
import { accepts, metadata, writing } from "./choices.ts";
import type { Stranger, Visit } from "./stranger.ts";

interface Registered {
  readonly collection: string;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly name: string;
  /** An object that the server made itself. */
  readonly present: string;
}

/** Kinds whose objects a controller of the server changes at once, or whose names say what they are. */
const kinds: readonly Registered[] = [
  {
    collection: "/apis/apiregistration.k8s.io/v1/apiservices",
    group: "apiregistration.k8s.io",
    version: "v1",
    kind: "APIService",
    name: "v1.g.example.test",
    present: "v1.apps",
  },
  {
    collection: "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas",
    group: "flowcontrol.apiserver.k8s.io",
    version: "v1",
    kind: "FlowSchema",
    name: "strange",
    present: "exempt",
  },
  {
    collection: "/apis/networking.k8s.io/v1/ipaddresses",
    group: "networking.k8s.io",
    version: "v1",
    kind: "IPAddress",
    name: "192.0.2.1",
    present: "10.96.0.1",
  },
];

async function registrations(visit: Visit): Promise<void> {
  const { dice } = visit;
  const kind = kinds[visit.index % kinds.length]!;
  const { collection, group, version, name, present } = kind;
  const { minimal } = sampleOf(kind)!;
  const object = (): Fields => ({
    apiVersion: `${group}/${version}`,
    kind: kind.kind,
    metadata: { name: dice.chance(0.9) ? name : "other", ...(dice.chance(0.3) && dice.one(metadata)) },
    ...(dice.chance(0.6) ? mistaken(dice, minimal) : minimal),
  });
  for (let step = 0; step < 30; step++) {
    const more = visit.query(
      writing.filter((option) => !option.startsWith("dryRun")),
      1,
    );
    const dry = `?dryRun=All${more === "" ? "" : `&${more.slice(1)}`}`;
    const headers = { accept: dice.chance(0.85) ? "application/json" : dice.one(accepts) };
    const chosen = dice.next();
    if (chosen < 0.5) {
      await visit.send("create", "POST", `${collection}${dry}`, { body: object(), headers });
    } else if (chosen < 0.85) {
      const type = dice.one(["merge-patch+json", "json-patch+json", "apply-patch+yaml"]);
      const applied = { ...object(), metadata: { name: present } };
      const body = type.startsWith("json")
        ? jsonPatch(dice, { metadata: { labels: { a: "b" } }, ...minimal })
        : type.startsWith("apply")
          ? applied
          : someOf(dice, minimal);
      const query = type.startsWith("apply") ? `${dry}&fieldManager=m` : dry;
      const sent = { body, headers: { ...headers, "content-type": `application/${type}` } };
      await visit.send(type, "PATCH", `${collection}/${dice.one([name, present])}${query}`, sent);
    } else if (chosen < 0.95) {
      await visit.send("delete", "DELETE", `${collection}/${dice.one([name, present])}?dryRun=All`, { headers });
    } else {
      await visit.send("read", "GET", `${collection}/${dice.one([name, present])}`, { headers });
    }
  }
}

const audiences = [undefined, undefined, ["a"], ["a", "b"], ["https://kubernetes.default.svc"], ["api"]];

async function tokens(visit: Visit): Promise<void> {
  const { dice, namespace, session } = visit;
  const root = await visit.createNamespace();
  await visit.quietly("POST", `${root}/serviceaccounts`, { metadata: { name: "sa" } });
  for (const name of ["p", "q"])
    await visit.quietly("POST", `${root}/pods`, {
      metadata: { name },
      spec: { containers: [{ name: "c", image: "i" }], serviceAccountName: "sa" },
    });
  await visit.quietly("POST", `${root}/secrets`, { metadata: { name: "s" } });
  await session.noticed(500);
  for (let index = 0; index < 8; index++) {
    const bound = dice.one<Fields | undefined>([
      undefined,
      { kind: "Pod", apiVersion: "v1", name: dice.one(["p", "q"]) },
      { kind: "Secret", apiVersion: "v1", name: "s" },
    ]);
    const asked = dice.one(audiences);
    const spec = { ...(asked && { audiences: asked }), ...(bound && { boundObjectRef: bound }) };
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec };
    const made: Loose = await visit.quietly("POST", `${root}/serviceaccounts/sa/token`, body);
    const token = dice.chance(0.85) ? String(made?.status?.token) : dice.one(["x", "", "a.b.c"]);
    const authorization = dice.chance(0.9) ? `Bearer ${token}` : dice.one([`bearer ${token}`, token, `Basic ${token}`]);
    const own = { credentials: "none" as const, headers: { authorization } };
    const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    if (dice.chance(0.8))
      await visit.send("who am I", "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {
        ...own,
        body: review,
      });
    const wanted = dice.one(audiences);
    await visit.send("whose is it", "POST", "/apis/authentication.k8s.io/v1/tokenreviews", {
      body: {
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenReview",
        spec: { token, ...(wanted && { audiences: wanted }) },
      },
    });
    const resourceAttributes = { verb: "get", resource: "pods", namespace };
    const access = {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: { resourceAttributes },
    };
    const path = dice.one([`${root}/pods`, "/api/v1/nodes", "/version", "/apis", `${root}/pods/p/log`]);
    if (dice.chance(0.5)) await visit.send("read as it", "GET", path, own);
    else
      await visit.send("may I", "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {
        ...own,
        body: access,
      });
  }
}

export const registrationsOfStrangers: readonly Stranger[] = [
  { name: "random registrations", count: 9, run: registrations },
  { name: "random tokens", count: 6, run: tokens },
];
