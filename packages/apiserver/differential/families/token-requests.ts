/** Requests for tokens: every name, audience and bound object, valid and invalid. */
import type { Family, Probe } from "./family.ts";

type Fields = Readonly<Record<string, unknown>>;

const specs: readonly Fields[] = [
  {},
  { audiences: [] },
  { audiences: ["x", "y", "x", ""] },
  { audiences: "x" },
  { expirationSeconds: 3607 },
  { expirationSeconds: 600 },
  { expirationSeconds: 599 },
  { expirationSeconds: -1 },
  { expirationSeconds: 4294967297 },
  { expirationSeconds: "3600" },
  { expirationSeconds: null },
  { boundObjectRef: null },
  { wrong: true },
  ...[
    { apiVersion: "v1", kind: "Pod", name: "ours" },
    { apiVersion: "v1", kind: "Pod", name: "ours", uid: "other" },
    { apiVersion: "v1", kind: "Pod", name: "theirs" },
    { apiVersion: "v1", kind: "Pod", name: "placed" },
    { apiVersion: "v1", kind: "Pod", name: "lost" },
    { apiVersion: "v1", kind: "Pod", name: "nobody" },
    { apiVersion: "v1", kind: "Pod" },
    { kind: "Pod", name: "ours" },
    { apiVersion: "apps/v1", kind: "Pod", name: "ours" },
    { apiVersion: "v1", kind: "Secret", name: "secret" },
    { apiVersion: "v1", kind: "Secret", name: "nobody" },
    { apiVersion: "v1", kind: "Node", name: "token-node" },
    { apiVersion: "v1", kind: "Node", name: "nobody" },
    { apiVersion: "v1", kind: "ConfigMap", name: "x" },
    { apiVersion: "a/b/c", kind: "Pod", name: "ours" },
    {},
  ].map((boundObjectRef) => ({ boundObjectRef })),
];

const metadata: readonly Fields[] = [
  { name: "account" },
  { name: "other" },
  { namespace: "default" },
  { uid: "other" },
  { generateName: "x" },
  { labels: { a: "b" }, annotations: { c: "d" } },
  { labels: { "a b": "c d" } },
  { resourceVersion: "1", generation: 7, selfLink: "/x" },
];

const tokenRequest = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest" };

/** Returns the claims of a token that do not depend on the time. */
function claims(token: string): unknown {
  const text = Buffer.from(token.split(".")[1]!, "base64url").toString();
  const { exp, iat, nbf, jti: _, iss: __, ...rest } = JSON.parse(text) as Record<string, number>;
  return { ...rest, lasts: exp! - iat!, begins: nbf! - iat! };
}

class Requests {
  readonly #probe: Probe;
  readonly inside: string;
  readonly accounts: string;

  constructor(probe: Probe) {
    this.#probe = probe;
    this.inside = `/api/v1/namespaces/${probe.namespace}`;
    this.accounts = `${this.inside}/serviceaccounts`;
  }

  async prepare(): Promise<void> {
    await this.#probe.createNamespace();
    await this.#probe.quietly("POST", this.accounts, { metadata: { name: "account" } });
    await this.#probe.quietly("POST", "/api/v1/nodes", { metadata: { name: "token-node" } });
    await this.#probe.quietly("POST", `${this.inside}/secrets`, { metadata: { name: "secret" } });
    const pods: Readonly<Record<string, Fields>> = {
      ours: {},
      theirs: { serviceAccountName: "other" },
      placed: { nodeName: "token-node" },
      lost: { nodeName: "nobody" },
    };
    for (const [name, more] of Object.entries(pods)) {
      const spec = { serviceAccountName: "account", containers: [{ name: "c", image: "i" }], ...more };
      await this.#probe.quietly("POST", `${this.inside}/pods`, { metadata: { name }, spec });
    }
  }

  async ask(more: Fields, { query = "", account = "account" } = {}): Promise<void> {
    const body = { ...tokenRequest, ...more };
    const label = `${JSON.stringify(more)} for ${account}${query}`;
    const answer = await this.#probe.post(label, `${this.accounts}/${account}/token${query}`, body);
    const token: string | undefined = answer?.status?.token;
    if (token === undefined) return;
    this.#probe.session.note(label, claims(token));
    for (const audiences of [undefined, ["y", "https://kubernetes.default.svc", "z"]])
      await this.review(label, token, audiences);
  }

  /** Reviews a token on behalf of the server or of others. */
  async review(label: string, token: string, audiences: readonly string[] | undefined): Promise<void> {
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token, audiences } };
    const path = "/apis/authentication.k8s.io/v1/tokenreviews";
    await this.#probe.session.post(`${label}, reviewed for ${String(audiences)}`, path, body);
  }
}

async function tokens(probe: Probe): Promise<void> {
  const requests = new Requests(probe);
  await requests.prepare();
  for (const spec of specs) await requests.ask({ spec });
  for (const fields of metadata) await requests.ask({ metadata: fields, spec: {} });
  for (const query of ["?dryRun=All", "?fieldValidation=Strict"]) await requests.ask({ spec: { wrong: 1 } }, { query });
  const mistakes = { metadata: { name: "other", uid: "other" }, spec: { expirationSeconds: 1, boundObjectRef: {} } };
  for (const more of [mistakes, { apiVersion: "authentication.k8s.io/v1beta1" }, { kind: "TokenReview" }, {}])
    await requests.ask(more);
  await requests.ask({ metadata: { name: "x" } }, { account: "nobody" });
  for (const method of ["GET", "PUT", "PATCH", "DELETE"])
    await probe.send(`method ${method}`, method, `${requests.accounts}/account/token`, { body: tokenRequest });
}

/** Deletes the bound objects, or deletes and creates them again: one after the other, all of them or none. */
async function endings(probe: Probe): Promise<void> {
  const requests = new Requests(probe);
  await requests.prepare();
  const { inside, accounts } = requests;
  for (const [path, spec] of [
    [`${inside}/secrets/secret`, { boundObjectRef: { apiVersion: "v1", kind: "Secret", name: "secret" } }],
    [`${inside}/pods/ours`, { boundObjectRef: { apiVersion: "v1", kind: "Pod", name: "ours" } }],
    [`${accounts}/account`, {}],
  ] as const) {
    const answer = await probe.quietly("POST", `${accounts}/account/token`, { ...tokenRequest, spec });
    const token: string = answer?.status?.token;
    const before = await probe.quietly("GET", path);
    await probe.quietly("DELETE", `${path}?gracePeriodSeconds=0`);
    // The server remembers the user of a token for ten seconds.
    await requests.review(`${path} gone`, token, undefined);
    const again = { ...before, metadata: { name: before.metadata.name } };
    await probe.quietly("POST", path.slice(0, path.lastIndexOf("/")), again);
    await requests.review(`${path} come back`, token, ["https://kubernetes.default.svc", "again"]);
  }
}

export const tokenRequests: readonly Family[] = [
  { name: "token requests", run: tokens },
  { name: "token endings", run: endings },
];
