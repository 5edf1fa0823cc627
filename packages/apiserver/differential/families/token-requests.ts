/** Requests for tokens: every name, audience and bound object, valid and invalid. */
import type { Family, Probe } from "./family.ts";

type Fields = Readonly<Record<string, unknown>>;

const spec: Readonly<Record<string, Fields>> = {
  nothing: {},
  "no audience": { audiences: [] },
  "an audience": { audiences: ["x"] },
  audiences: { audiences: ["x", "y", "x", ""] },
  "audiences of null": { audiences: null },
  "audiences of text": { audiences: "x" },
  "an hour": { expirationSeconds: 3600 },
  "an hour and seven seconds": { expirationSeconds: 3607 },
  "ten minutes": { expirationSeconds: 600 },
  "less than ten minutes": { expirationSeconds: 599 },
  "no time": { expirationSeconds: 0 },
  "negative time": { expirationSeconds: -1 },
  "too long": { expirationSeconds: 4294967297 },
  "a fraction": { expirationSeconds: 3600.5 },
  "time as text": { expirationSeconds: "3600" },
  "time of null": { expirationSeconds: null },
  "bound to null": { boundObjectRef: null },
  "bound to text": { boundObjectRef: "x" },
  "an unknown field": { wrong: true },
};

const kinds: Readonly<Record<string, Fields>> = {
  pod: { apiVersion: "v1", kind: "Pod", name: "ours" },
  "pod of another account": { apiVersion: "v1", kind: "Pod", name: "theirs" },
  "pod on a node": { apiVersion: "v1", kind: "Pod", name: "placed" },
  "pod on a missing node": { apiVersion: "v1", kind: "Pod", name: "lost" },
  "missing pod": { apiVersion: "v1", kind: "Pod", name: "nobody" },
  "nameless pod": { apiVersion: "v1", kind: "Pod" },
  "pod without a version": { kind: "Pod", name: "ours" },
  "pod of another version": { apiVersion: "v2", kind: "Pod", name: "ours" },
  "pod of another group": { apiVersion: "apps/v1", kind: "Pod", name: "ours" },
  secret: { apiVersion: "v1", kind: "Secret", name: "secret" },
  "missing secret": { apiVersion: "v1", kind: "Secret", name: "nobody" },
  node: { apiVersion: "v1", kind: "Node", name: "token-node" },
  "missing node": { apiVersion: "v1", kind: "Node", name: "nobody" },
  "config map": { apiVersion: "v1", kind: "ConfigMap", name: "x" },
  "lower case": { apiVersion: "v1", kind: "pod", name: "ours" },
  "a broken version": { apiVersion: "a/b/c", kind: "Pod", name: "ours" },
  nothing: {},
};

const metadata: Readonly<Record<string, Fields>> = {
  "its name": { name: "account" },
  "another name": { name: "other" },
  "its namespace": { namespace: "$" },
  "another namespace": { namespace: "default" },
  "another uid": { uid: "other" },
  "a generated name": { generateName: "x" },
  labels: { labels: { a: "b" }, annotations: { c: "d" } },
  "bad labels": { labels: { "a b": "c d" } },
  finalizers: { finalizers: ["example.com/x"] },
  owners: { ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "x", uid: "y" }] },
  "a version": { resourceVersion: "1", generation: 7, selfLink: "/x" },
  times: { creationTimestamp: "2026-01-01T00:00:00Z", deletionTimestamp: "2026-01-01T00:00:00Z" },
  managers: { managedFields: [{ manager: "x", operation: "Update", apiVersion: "v1" }] },
};

const tokenRequest = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest" };

/** Returns the claims of a token that do not depend on the time. */
function claims(answer: Fields | undefined): unknown {
  const { token } = (answer?.["status"] ?? {}) as { token?: string };
  const part = token?.split(".")[1];
  if (part === undefined) return undefined;
  const {
    exp,
    iat,
    nbf,
    jti: _,
    iss: __,
    ...rest
  } = JSON.parse(Buffer.from(part, "base64url").toString()) as {
    [name: string]: unknown;
    exp: number;
    iat: number;
    nbf: number;
  };
  return { ...rest, lasts: exp - iat, begins: nbf - iat };
}

type Audiences = readonly string[] | undefined;

const everybody: readonly Audiences[] = [undefined, ["x"], ["y", "https://kubernetes.default.svc", "z"]];

class Requests {
  readonly #probe: Probe;
  readonly #accounts: string;

  constructor(probe: Probe) {
    this.#probe = probe;
    this.#accounts = `/api/v1/namespaces/${probe.namespace}/serviceaccounts`;
  }

  async prepare(): Promise<void> {
    const { namespace } = this.#probe;
    await this.#probe.createNamespace();
    const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "account" } };
    await this.#probe.quietly("POST", this.#accounts, account);
    const node = { apiVersion: "v1", kind: "Node", metadata: { name: "token-node" } };
    await this.#probe.quietly("POST", "/api/v1/nodes", node);
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "secret" } };
    await this.#probe.quietly("POST", `/api/v1/namespaces/${namespace}/secrets`, secret);
    for (const [name, more] of Object.entries({
      ours: {},
      theirs: { serviceAccountName: "other" },
      placed: { nodeName: "token-node" },
      lost: { nodeName: "nobody" },
    })) {
      const containers = [{ name: "c", image: "i" }];
      await this.#probe.quietly("POST", `/api/v1/namespaces/${namespace}/pods`, {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name },
        spec: { serviceAccountName: "account", containers, ...more },
      });
    }
  }

  async ask(label: string, body: unknown, { query = "", account = "account" } = {}): Promise<void> {
    if (!this.#probe.isChosen(label)) return;
    const answer = await this.#probe.send(label, "POST", `${this.#accounts}/${account}/token${query}`, { body });
    this.#probe.session.note(label, claims(answer as Fields));
    await this.review(label, answer as Fields);
  }

  /** Reviews the token on behalf of the server and of others. */
  async review(label: string, answer: Fields | undefined, forWhom: readonly Audiences[] = everybody): Promise<void> {
    const { token } = (answer?.["status"] ?? {}) as { token?: string };
    if (token === undefined) return;
    for (const audiences of forWhom) {
      const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token, audiences } };
      const path = "/apis/authentication.k8s.io/v1/tokenreviews";
      await this.#probe.session.send(`${label}, reviewed for ${String(audiences)}`, "POST", path, { body });
    }
  }

  async get(method: string): Promise<void> {
    await this.#probe.send(`method ${method}`, method, `${this.#accounts}/account/token`, { body: tokenRequest });
  }
}

async function tokens(probe: Probe): Promise<void> {
  const requests = new Requests(probe);
  await requests.prepare();
  const named = (fields: Fields): Fields =>
    fields["namespace"] === "$" ? { ...fields, namespace: probe.namespace } : fields;
  for (const query of ["", "?dryRun=All", "?fieldValidation=Strict"]) {
    for (const [label, fields] of Object.entries(spec))
      await requests.ask(`spec of ${label}${query}`, { ...tokenRequest, spec: fields }, { query });
    for (const [label, fields] of Object.entries(metadata)) {
      const body = { ...tokenRequest, metadata: named(fields), spec: {} };
      await requests.ask(`metadata with ${label}${query}`, body, { query });
    }
    for (const [label, reference] of Object.entries(kinds)) {
      for (const [with_, more] of Object.entries({ "": {}, " of another uid": { uid: "other" } })) {
        const body = { ...tokenRequest, spec: { boundObjectRef: { ...reference, ...more } } };
        await requests.ask(`bound to ${label}${with_}${query}`, body, { query });
      }
    }
  }
  const several = { metadata: { name: "other", uid: "other" }, spec: { expirationSeconds: 1, boundObjectRef: {} } };
  await requests.ask("several mistakes", { ...tokenRequest, ...several });
  await requests.ask("a missing account", tokenRequest, { account: "nobody" });
  await requests.ask("a missing account, named", { ...tokenRequest, metadata: { name: "x" } }, { account: "nobody" });
  await requests.ask("no kind", {});
  await requests.ask("no spec", tokenRequest);
  await requests.ask("an older version", { ...tokenRequest, apiVersion: "authentication.k8s.io/v1beta1" });
  await requests.ask("another kind", { ...tokenRequest, kind: "TokenReview" });
  await requests.ask("a status", { ...tokenRequest, status: { token: "x" } });
  for (const body of ["", "null", "[]", "{"]) await requests.ask(`body ${JSON.stringify(body)}`, body);
  for (const method of ["GET", "PUT", "PATCH", "DELETE"]) await requests.get(method);
}

/** Deletes the bound objects, or deletes and creates them again: one after the other, all of them or none. */
async function endings(probe: Probe): Promise<void> {
  const requests = new Requests(probe);
  await requests.prepare();
  const inside = `/api/v1/namespaces/${probe.namespace}`;
  const ends: Readonly<Record<string, readonly [string, Fields]>> = {
    secret: [`${inside}/secrets/secret`, { boundObjectRef: kinds["secret"] }],
    pod: [`${inside}/pods/ours`, { boundObjectRef: kinds["pod"] }],
    account: [`${inside}/serviceaccounts/account`, {}],
  };
  for (const [label, [path, asked]] of Object.entries(ends)) {
    const body = { ...tokenRequest, spec: asked };
    const answer = await probe.quietly("POST", `${inside}/serviceaccounts/account/token`, body);
    const before = (await probe.quietly("GET", path)) as { metadata: { name: string } };
    await probe.quietly("DELETE", `${path}?gracePeriodSeconds=0`);
    // The server caches the user of a token for ten seconds.
    await requests.review(`${label} gone`, answer as Fields, [undefined]);
    const again = { ...before, metadata: { name: before.metadata.name } };
    await probe.quietly("POST", path.slice(0, path.lastIndexOf("/")), again);
    await requests.review(`${label} come back`, answer as Fields, [["https://kubernetes.default.svc", "again"]]);
  }
}

export const tokenEndings: Family = { name: "token endings", run: endings };

export const tokenRequests: Family = { name: "token requests", run: tokens };
