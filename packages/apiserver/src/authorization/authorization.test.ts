import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Fields, UserInfo } from "../hooks.ts";
import { type ApiServer, createApiServer } from "../server.ts";
import { Storage } from "../storage/storage.ts";
import { RbacAuthorizer } from "./authorizer.ts";

let server: ApiServer;
let rooms = 0;

beforeAll(async () => {
  server = await createApiServer();
});

afterAll(async () => {
  await server.stop();
});

interface Answer {
  readonly code: number;
  readonly body: Fields & { readonly message?: string; readonly status?: Fields };
}

const apiGroup = "rbac.authorization.k8s.io";
const rbac = `/apis/${apiGroup}/v1`;

/** Who calls and how; without a user it is the administrator. */
interface Call {
  readonly user?: UserInfo;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

async function call(method: string, path: string, { user, body, headers }: Call = {}): Promise<Answer> {
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const init = body === undefined ? {} : { body: JSON.stringify(body) };
  const sent = new Request(`http://server${path}`, { method, headers: { "content-type": type, ...headers }, ...init });
  const response = await (user === undefined ? server.fetch(sent) : server.fetch(sent, { certificate: user }));
  const text = await response.text();
  return {
    code: response.status,
    body: (text.startsWith("{") ? JSON.parse(text) : { message: text }) as Answer["body"],
  };
}

function person(username: string, ...groups: string[]): UserInfo {
  return { username, groups: [...groups, "system:authenticated"] };
}

interface Rule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

/** Creates a user and grants the rules, in a namespace when one is given. */
async function grant(name: string, rules: readonly Rule[], namespace?: string): Promise<UserInfo> {
  const [kind, place] = namespace === undefined ? ["ClusterRole", ""] : ["Role", `namespaces/${namespace}/`];
  const plural = `${kind.toLowerCase()}s`;
  const metadata = { name, ...(namespace !== undefined && { namespace }) };
  const subjects = [{ kind: "User", name, apiGroup }];
  expect((await call("POST", `${rbac}/${place}${plural}`, { body: { metadata, rules } })).code).toBe(201);
  const binding = { metadata, roleRef: { apiGroup, kind, name }, subjects };
  const bindings = `${rbac}/${place}${plural.replace("roles", "rolebindings")}`;
  expect((await call("POST", bindings, { body: binding })).code).toBe(201);
  return person(name);
}

test("a user whose name looks like that of another one with a group has nothing of the other's rights", async () => {
  const name = `admins-${(rooms += 1)}`;
  const metadata = { name };
  const rules = [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }];
  expect((await call("POST", `${rbac}/clusterroles`, { body: { metadata, rules } })).code).toBe(201);
  const subjects = [{ kind: "Group", name, apiGroup }];
  const binding = { metadata, roleRef: { apiGroup, kind: "ClusterRole", name }, subjects };
  expect((await call("POST", `${rbac}/clusterrolebindings`, { body: binding })).code).toBe(201);
  const nodes = (user: UserInfo) => call("GET", "/api/v1/nodes", { user });
  expect((await nodes({ username: "bob", groups: [name] })).code).toBe(200);
  for (const separator of ["\n", ",", " ", '","', "\u0000"])
    expect((await nodes({ username: `bob${separator}${name}`, groups: [] })).code).toBe(403);
  expect((await nodes({ username: `carol\n${name}`, groups: [] })).code).toBe(403);
  expect((await nodes({ username: "carol", groups: [name] })).code).toBe(200);
});

test("who asks for ever new namespaces and users has nothing of them remembered", () => {
  const authorizer = new RbacAuthorizer(new Storage({ now: () => 0 }));
  const asked = { isResource: true, verb: "get", path: "", group: "", resource: "pods", subresource: "", name: "" };
  const ask = (username: string, namespace: string) =>
    authorizer.authorize({ ...asked, user: { username, groups: [] }, namespace });
  const many = (letter: string, index: number): string => `${Buffer.alloc(1024 * 1024, letter).toString()}${index}`;
  Bun.gc(true);
  const before = process.memoryUsage().rss;
  for (let index = 0; index < 200; index++) {
    ask("bob", many("a", index));
    ask(many("b", index), "");
  }
  Bun.gc(true);
  expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024);
});

async function room(): Promise<string> {
  const name = `room-${(rooms += 1)}`;
  expect((await call("POST", "/api/v1/namespaces", { body: { metadata: { name } } })).code).toBe(201);
  return name;
}

test("who was granted nothing is refused in the server's words, whether or not there is anything", async () => {
  const user = person("nobody");
  const said = async (method: string, path: string): Promise<string | undefined> => {
    const { code, body } = await call(method, path, { user });
    expect(code).toBe(403);
    expect(body["reason"]).toBe("Forbidden");
    return body.message;
  };
  expect(await said("GET", "/api/v1/pods")).toBe(
    'pods is forbidden: User "nobody" cannot list resource "pods" in API group "" at the cluster scope',
  );
  expect(await said("GET", "/apis/apps/v1/namespaces/a/deployments/web/scale")).toBe(
    'deployments.apps "web" is forbidden: User "nobody" cannot get resource "deployments/scale" in API group "apps" in the namespace "a"',
  );
  expect(await said("DELETE", "/apis/absent.example.test/v1/namespaces/a/things")).toBe(
    'things.absent.example.test is forbidden: User "nobody" cannot deletecollection resource "things" in API group "absent.example.test" in the namespace "a"',
  );
  expect(await said("GET", "/api/v1/pods?watch=true")).toContain("cannot watch resource");
  expect(await said("GET", "/metrics")).toBe('forbidden: User "nobody" cannot get path "/metrics"');
});

test("everybody who is somebody may ask for discovery and for himself", async () => {
  const user = person("anybody");
  for (const path of ["/api", "/apis/apps/v1", "/openapi/v3", "/version"]) {
    expect((await call("GET", path, { user })).code).toBe(200);
  }
  const self = await call("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", { user, body: {} });
  expect(self.body.status).toMatchObject({ userInfo: { username: "anybody" } });
});

test("a rule permits its verbs, groups, resources, subresources and names, and nothing else", async () => {
  const user = await grant("exact", [
    { verbs: ["get", "watch"], apiGroups: [""], resources: ["configmaps"], resourceNames: ["one"] },
    { verbs: ["list"], apiGroups: ["apps"], resources: ["deployments"] },
    { verbs: ["patch"], apiGroups: [""], resources: ["*/status"] },
    { verbs: ["get"], nonResourceURLs: ["/metrics/*"] },
  ]);
  const may = async (asked: object): Promise<boolean> => {
    const body = { spec: { user: "exact", resourceAttributes: { namespace: "default", ...asked } } };
    return (await call("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", { body })).body.status![
      "allowed"
    ] as boolean;
  };
  expect(await may({ verb: "get", resource: "configmaps", name: "one" })).toBe(true);
  expect(await may({ verb: "get", resource: "configmaps", name: "two" })).toBe(false);
  expect(await may({ verb: "list", resource: "configmaps" })).toBe(false);
  expect(await may({ verb: "list", resource: "deployments", group: "apps" })).toBe(true);
  expect(await may({ verb: "list", resource: "deployments" })).toBe(false);
  expect(await may({ verb: "patch", resource: "pods", subresource: "status" })).toBe(true);
  expect(await may({ verb: "patch", resource: "pods" })).toBe(false);
  // A watch of one object selects it by a field selector.
  const one = "/api/v1/namespaces/default/configmaps?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3D";
  expect((await call("GET", `${one}one`, { user })).code).toBe(200);
  expect((await call("GET", `${one}two`, { user })).code).toBe(403);
});

test("a Role permits in its namespace alone, for accounts as for users, and a change counts at once", async () => {
  const [here, there] = [await room(), await room()];
  const account: UserInfo = {
    username: `system:serviceaccount:${here}:robot`,
    groups: ["system:serviceaccounts", `system:serviceaccounts:${here}`, "system:authenticated"],
  };
  const rules = [{ verbs: ["list"], apiGroups: [""], resources: ["secrets"] }];
  const role = { metadata: { name: "read", namespace: here }, rules };
  const list = (namespace: string): Promise<Answer> =>
    call("GET", `/api/v1/namespaces/${namespace}/secrets`, { user: account });
  expect((await list(here)).code).toBe(403);
  const binding = {
    metadata: { name: "read", namespace: here },
    roleRef: { apiGroup, kind: "Role", name: "read" },
    subjects: [{ kind: "ServiceAccount", name: "robot" }],
  };
  await call("POST", `${rbac}/namespaces/${here}/rolebindings`, { body: binding });
  expect((await list(here)).body.message).toEndWith(
    `in the namespace "${here}": RBAC: role.rbac.authorization.k8s.io "read" not found`,
  );
  await call("POST", `${rbac}/namespaces/${here}/roles`, { body: role });
  expect((await list(here)).code).toBe(200);
  expect((await list(there)).code).toBe(403);
  await call("PATCH", `${rbac}/namespaces/${here}/roles/read`, { body: { rules: [] } });
  expect((await list(here)).code).toBe(403);
  await call("PATCH", `${rbac}/namespaces/${here}/roles/read`, { body: { rules } });
  await call("DELETE", `${rbac}/namespaces/${here}/rolebindings/read`);
  expect((await list(here)).code).toBe(403);
});

test("reviews tell through which binding, and what rules there are", async () => {
  await grant("reader", [{ verbs: ["get"], apiGroups: [""], resources: ["nodes"] }]);
  const user = person("reader");
  const body = { spec: { resourceAttributes: { verb: "get", resource: "nodes", name: "one" } } };
  const review = await call("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", { user, body });
  expect(review.body.status).toEqual({
    allowed: true,
    reason: 'RBAC: allowed by ClusterRoleBinding "reader" of ClusterRole "reader" to User "reader"',
  });
  const rules = await call("POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", {
    user,
    body: { spec: { namespace: "default" } },
  });
  expect(rules.body.status!["resourceRules"]).toContainEqual({ verbs: ["get"], apiGroups: [""], resources: ["nodes"] });
  expect(rules.body.status!["resourceRules"]).not.toContainEqual({ verbs: ["*"], apiGroups: ["*"], resources: ["*"] });
});

const roles = ["roles", "clusterroles", "rolebindings", "clusterrolebindings"];
const writes: Rule = { verbs: ["create", "update", "patch"], apiGroups: [apiGroup], resources: roles };
const secrets: Rule = { verbs: ["get", "list"], apiGroups: [""], resources: ["secrets"] };

test("nobody gives away what he has not, unless he may escalate", async () => {
  const plain = await grant("plain", [writes]);
  const body = { metadata: { name: "secret-reader" }, rules: [secrets] };
  const refused = await call("POST", `${rbac}/clusterroles`, { user: plain, body });
  expect(refused.code).toBe(403);
  expect(refused.body.message).toBe(
    'clusterroles.rbac.authorization.k8s.io "secret-reader" is forbidden: user "plain" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n' +
      '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}',
  );
  const holder = await grant("holder", [writes, secrets]);
  expect((await call("POST", `${rbac}/clusterroles?dryRun=All`, { user: holder, body })).code).toBe(201);
  const escalates = await grant("escalates", [
    writes,
    { verbs: ["escalate"], apiGroups: [apiGroup], resources: ["clusterroles"] },
  ]);
  expect((await call("POST", `${rbac}/clusterroles`, { user: escalates, body })).code).toBe(201);
  const path = `${rbac}/clusterroles/secret-reader`;
  expect((await call("PATCH", path, { user: plain, body: { metadata: { labels: { a: "b" } } } })).code).toBe(403);
  const finalizers = { metadata: { finalizers: ["example.test/one"] } };
  expect((await call("PATCH", path, { user: plain, body: finalizers })).code).toBe(200);
  expect((await call("PATCH", path, { user: plain, body: { rules: [] } })).code).toBe(200);
});

test("an update that makes an object takes what a create takes", async () => {
  const rule = { apiGroups: ["coordination.k8s.io"], resources: ["leases"] };
  const updates = await grant("updates", [{ ...rule, verbs: ["get", "update", "patch"] }]);
  const creates = await grant("creates", [{ ...rule, verbs: ["get", "update", "patch", "create"] }]);
  const path = "/apis/coordination.k8s.io/v1/namespaces/default/leases/one?dryRun=All";
  const body = { metadata: { name: "one" }, spec: {} };
  const refused = await call("PUT", path, { user: updates, body });
  expect(refused).toMatchObject({ code: 403, body: { details: { name: "one", kind: "leases" } } });
  expect(refused.body.message).toContain('User "updates" cannot create resource "leases"');
  expect((await call("PUT", path, { user: creates, body })).code).toBe(201);
  const headers = { "content-type": "application/apply-patch+yaml" };
  const applied = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", ...body };
  const apply = (user: UserInfo): Promise<Answer> =>
    call("PATCH", `${path}&fieldManager=m`, { user, headers, body: applied });
  expect((await apply(updates)).code).toBe(403);
  expect((await apply(creates)).code).toBe(201);
});

test("who binds a role has what it permits, or may bind it by name", async () => {
  const here = await room();
  await grant("any-secrets", [secrets]);
  const binding = {
    metadata: { name: "given", namespace: here },
    roleRef: { apiGroup, kind: "ClusterRole", name: "any-secrets" },
    subjects: [{ kind: "User", name: "friend", apiGroup }],
  };
  const path = `${rbac}/namespaces/${here}/rolebindings?dryRun=All`;
  const bind = async (user: UserInfo): Promise<number> => (await call("POST", path, { user, body: binding })).code;
  const may = (...resourceNames: string[]): Rule => ({
    verbs: ["bind"],
    apiGroups: [apiGroup],
    resources: ["clusterroles"],
    resourceNames,
  });
  expect(await bind(await grant("binds-nothing", [writes]))).toBe(403);
  expect(await bind(await grant("binds-this", [writes, may("any-secrets")]))).toBe(201);
  expect(await bind(await grant("binds-that", [writes, may("other")]))).toBe(403);
  const local = await grant("binds-here", [writes], here);
  await grant("binds-here-too", [secrets], here);
  expect(await bind(local)).toBe(403);
});

test("who aggregates roles has everything", async () => {
  const user = await grant("aggregates", [writes]);
  const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { a: "b" } }] };
  const body = { metadata: { name: "sum" }, rules: [], aggregationRule };
  const { code, body: refused } = await call("POST", `${rbac}/clusterroles`, { user, body });
  expect(code).toBe(403);
  expect(refused.message).toEndWith("must have cluster-admin privileges to use the aggregationRule");
});

test("acting as somebody else has to be allowed, for each part of him", async () => {
  const user = await grant("actor", [
    { verbs: ["impersonate"], apiGroups: [""], resources: ["users"], resourceNames: ["ann"] },
    { verbs: ["impersonate"], apiGroups: [""], resources: ["groups"], resourceNames: ["dev"] },
  ]);
  const whoami = (headers: Record<string, string>): Promise<Answer> =>
    call("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", { user, body: {}, headers });
  expect((await whoami({ "impersonate-user": "ann", "impersonate-group": "dev" })).body.status).toMatchObject({
    userInfo: { username: "ann", groups: ["dev", "system:authenticated"] },
  });
  expect((await whoami({ "impersonate-user": "bob" })).code).toBe(403);
  expect((await whoami({ "impersonate-user": "ann", "impersonate-group": "system:masters" })).code).toBe(403);
  expect((await whoami({ "impersonate-user": "ann", "impersonate-uid": "1" })).code).toBe(403);
  const asNode = await call("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {
    body: {},
    headers: { "impersonate-user": "system:node:one" },
  });
  expect(asNode.body.status).toMatchObject({ userInfo: { groups: ["system:nodes", "system:authenticated"] } });
});

test("a token ends with its account and is good for its audiences alone", async () => {
  const here = await room();
  const accounts = `/api/v1/namespaces/${here}/serviceaccounts`;
  await call("POST", accounts, { body: { metadata: { name: "robot" } } });
  const tokenOf = async (audiences?: string[]): Promise<string> => {
    const made = await call("POST", `${accounts}/robot/token`, { body: { spec: { audiences } } });
    return made.body.status!["token"] as string;
  };
  const [own, foreign] = [await tokenOf(), await tokenOf(["elsewhere"])];
  const ask = async (token: string): Promise<number> => {
    const headers = { authorization: `Bearer ${token}` };
    return (await server.fetch(new Request("http://server/api", { headers }), {})).status;
  };
  expect(await ask(own)).toBe(200);
  expect(await ask(foreign)).toBe(401);
  await call("DELETE", `${accounts}/robot`);
  expect(await ask(own)).toBe(401);
  await call("POST", accounts, { body: { metadata: { name: "robot" } } });
  expect(await ask(own)).toBe(401);
});
