/**
 * Other places at which the server consults its authorizer: expressions of policies, signers, the parameters of
 * policies, connections.
 */
import type { Case } from "../case.ts";
import { enforce, map, release } from "../sequences/policies.ts";
import type { Session } from "../session.ts";
import { bearing, makeAccount, makeOwnNamespace } from "./accounts.ts";

const expressions: Readonly<Record<string, string>> = {
  "the request's own": "authorizer.requestResource.check('create').allowed()",
  "another verb of it": "authorizer.requestResource.check('delete').allowed()",
  "a name of it": "authorizer.requestResource.name('one').check('update').allowed()",
  "a group": "authorizer.group('apps').resource('deployments').check('list').allowed()",
  "a subresource":
    "authorizer.group('').resource('pods').subresource('log').namespace('x').name('y').check('get').allowed()",
  "a namespace": "authorizer.group('').resource('secrets').namespace('kube-system').check('get').allowed()",
  "a path": "authorizer.path('/metrics').check('get').allowed()",
  "an open path": "authorizer.path('/healthz').check('get').allowed()",
  "an empty path": "authorizer.path('').check('get').allowed()",
  "a selector": "authorizer.group('').resource('pods').fieldSelector('a=b').labelSelector('c').check('list').allowed()",
  "an account": "authorizer.serviceAccount('default', 'default').group('').resource('pods').check('get').allowed()",
  "an open path for an account": "authorizer.serviceAccount('default', 'default').path('/api').check('get').allowed()",
  "a wrong account": "authorizer.serviceAccount('de fault', 'default').path('/api').check('get').allowed()",
  "no error": "!authorizer.path('/x').check('get').errored() && authorizer.path('/x').check('get').error() == ''",
  "a reason": "authorizer.path('/x').check('get').reason() == ''",
};

export const policyAuthorizer: Case = {
  name: "authorizer in policies",
  async run(session) {
    await makeOwnNamespace(session);
    const rules = [
      { verbs: ["create"], apiGroups: [""], resources: ["configmaps"] },
      { verbs: ["update"], apiGroups: [""], resources: ["configmaps"], resourceNames: ["one"] },
      { verbs: ["list"], apiGroups: ["apps"], resources: ["deployments"] },
      { verbs: ["get"], apiGroups: [""], resources: ["pods/log"] },
      { verbs: ["get"], nonResourceURLs: ["/x/*"] },
    ];
    const token = await makeAccount(session, "robot", rules);
    const policies = Object.fromEntries(
      Object.entries(expressions).map(([label, expression]) => [label, { spec: { validations: [{ expression }] } }]),
    );
    const paths = await enforce(session, "Validating", policies);
    for (const [label, path] of Object.entries(paths)) {
      const body = map("one");
      await session.send(`${label}: administrator`, "POST", `${path}/configmaps?dryRun=All`, { body });
      await session.send(`${label}: robot`, "POST", `${path}/configmaps?dryRun=All`, { body, ...bearing(token) });
    }
    await release(session, "Validating", Object.keys(policies).length);
  },
};

const signers = ["kubernetes.io/kube-apiserver-client", "example.test/one", "example.test/two", "other.test/one"];

export const signingRights: Case = {
  name: "who approves and signs",
  async run(session) {
    await makeOwnNamespace(session);
    const on = { apiGroups: ["certificates.k8s.io"], resources: ["signers"] };
    const requests = "certificatesigningrequests";
    const writes = {
      verbs: ["get", "update", "patch", "create"],
      apiGroups: ["certificates.k8s.io"],
      resources: [requests, `${requests}/approval`, `${requests}/status`],
    };
    const people = {
      none: [writes],
      one: [writes, { verbs: ["approve", "sign"], ...on, resourceNames: ["example.test/one"] }],
      domain: [writes, { verbs: ["approve"], ...on, resourceNames: ["example.test/*"] }],
      signs: [writes, { verbs: ["sign"], ...on }],
    };
    const tokens = new Map<string, string>();
    for (const [name, rules] of Object.entries(people)) tokens.set(name, await makeAccount(session, name, rules));
    await session.noticed(600);
    const path = `/apis/certificates.k8s.io/v1/${requests}`;
    for (const [index, signerName] of signers.entries()) {
      const name = `${session.slug}-${index}`;
      const spec = { request, signerName, usages: ["client auth"] };
      const body = {
        apiVersion: "certificates.k8s.io/v1",
        kind: "CertificateSigningRequest",
        metadata: { name },
        spec,
      };
      const made = await session.quietly("POST", path, body);
      if (made?.kind === "Status") session.note("the request", made.message);
      for (const [who, token] of tokens)
        await decide(session, { path: `${path}/${name}`, who: `${who} ${signerName}`, token });
    }
  },
};

/** A request for the common name `show`. */
const request = Buffer.from(
  `-----BEGIN CERTIFICATE REQUEST-----
MIHJMHECAQAwDzENMAsGA1UEAwwEc2hvdzBZMBMGByqGSM49AgEGCCqGSM49AwEH
A0IABOGXXpiQyiJPcwCkO/ELGpdi/SIQT90RRXCHFU753KssuZRtmbI46vy9Tada
q/1ZX1ZbjET6LpoVk24CboTtOEOgADAKBggqhkjOPQQDAgNIADBFAiEA7mKee8n1
b2C9Bg9ip7B0LJWG+zu7xXkcKY21ATQWAvUCIFbjQA3a6NGWTEoGzCgiNwA9LLDo
YDgxx42etxMAXUQK
-----END CERTIFICATE REQUEST-----
`,
).toString("base64");

interface Deciding {
  readonly path: string;
  readonly who: string;
  readonly token: string;
}

async function decide(session: Session, { path, who, token }: Deciding): Promise<void> {
  const sender = bearing(token);
  const headers = { ...sender.headers, "content-type": "application/merge-patch+json" };
  const call = (status: object) => ({ ...sender, headers, body: { status } });
  const approved = { type: "Approved", status: "True", reason: "x", message: "y" };
  const failed = { type: "Failed", status: "True", reason: "x", message: "y" };
  await session.send(`${who} approves`, "PATCH", `${path}/approval?dryRun=All`, call({ conditions: [approved] }));
  await session.send(`${who} fails`, "PATCH", `${path}/status?dryRun=All`, call({ conditions: [failed] }));
  await session.send(`${who} changes nothing`, "PATCH", `${path}/status?dryRun=All`, call({}));
}

const paramKinds: readonly (object | undefined)[] = [
  undefined,
  { apiVersion: "v1", kind: "ConfigMap" },
  { apiVersion: "v1", kind: "Secret" },
  { apiVersion: "absent.example.test/v1", kind: "Thing" },
  { apiVersion: "a/b/c", kind: "Thing" },
];
const paramRefs: readonly (object | undefined)[] = [
  undefined,
  { name: "one", namespace: "default", parameterNotFoundAction: "Allow" },
  { name: "two", namespace: "default", parameterNotFoundAction: "Allow" },
  { name: "one", parameterNotFoundAction: "Allow" },
  { selector: {}, namespace: "default", parameterNotFoundAction: "Allow" },
  { selector: {}, parameterNotFoundAction: "Allow" },
];
const admission = "admissionregistration.k8s.io";

export const policyParameters: Case = {
  name: "who may name parameters of policies",
  async run(session) {
    await makeOwnNamespace(session);
    const writes = { verbs: ["*"], apiGroups: [admission], resources: ["*"] };
    const people = {
      none: [writes],
      one: [writes, { verbs: ["get"], apiGroups: [""], resources: ["configmaps"], resourceNames: ["one"] }],
      maps: [writes, { verbs: ["get", "list"], apiGroups: [""], resources: ["configmaps"] }],
      all: [writes, { verbs: ["get", "list"], apiGroups: ["*"], resources: ["*"] }],
    };
    const tokens = new Map<string, string>();
    for (const [name, rules] of Object.entries(people)) tokens.set(name, await makeAccount(session, name, rules));
    await session.noticed(600);
    for (const kind of ["Validating", "Mutating"])
      for (const [who, token] of tokens) await name(session, { kind, who, token });
  },
};

const test = `[JSONPatch{op: "test", path: "/kind", value: "ConfigMap"}]`;

async function name(
  session: Session,
  { kind, who, token }: { kind: string; who: string; token: string },
): Promise<void> {
  const root = `/apis/${admission}/v1/${kind.toLowerCase()}admissionpolic`;
  const rule = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] };
  const mutation = { patchType: "JSONPatch", jsonPatch: { expression: test } };
  const does =
    kind === "Validating"
      ? { validations: [{ expression: "true" }] }
      : { mutations: [mutation], reinvocationPolicy: "Never" };
  const sender = bearing(token);
  const merge = { ...sender, headers: { ...sender.headers, "content-type": "application/merge-patch+json" } };
  const of = (suffix: string, metadata: object, spec: object): object => ({
    apiVersion: `${admission}/v1`,
    kind: `${kind}AdmissionPolicy${suffix}`,
    metadata,
    spec,
  });
  for (const [index, paramKind] of paramKinds.entries()) {
    const label = `${who} ${kind} ${JSON.stringify(paramKind)}`;
    const metadata = { name: `${session.slug}-${kind.toLowerCase()}-${index}` };
    const spec = { paramKind, matchConstraints: { resourceRules: [rule] }, ...does };
    await session.send(`${label} policy`, "POST", `${root}ies?dryRun=All`, { ...sender, body: of("", metadata, spec) });
    await session.quietly("POST", `${root}ies`, of("", metadata, spec));
    await session.noticed(150);
    await session.send(`${label} changes`, "PATCH", `${root}ies/${metadata.name}?dryRun=All`, {
      ...merge,
      body: { spec: { paramKind: { apiVersion: "v1", kind: "Pod" } } },
    });
    await session.send(`${label} keeps`, "PATCH", `${root}ies/${metadata.name}?dryRun=All`, {
      ...merge,
      body: { metadata: { labels: { a: "b" } } },
    });
    for (const paramRef of paramRefs) {
      const binding = {
        policyName: metadata.name,
        paramRef,
        ...(kind === "Validating" && { validationActions: ["Deny"] }),
      };
      await session.send(`${label} binding ${JSON.stringify(paramRef)}`, "POST", `${root}ybindings?dryRun=All`, {
        ...sender,
        body: of("Binding", metadata, binding),
      });
    }
    await session.quietly("DELETE", `${root}ies/${metadata.name}`);
  }
}

/** Updates and applies of missing objects create them, for users who may create. */
export const creatingByUpdate: Case = {
  name: "who creates by updates",
  async run(session) {
    await makeOwnNamespace(session);
    const rule = { apiGroups: ["", "coordination.k8s.io"], resources: ["leases", "configmaps"] };
    const people = {
      updates: [{ ...rule, verbs: ["get", "update", "patch"] }],
      creates: [{ ...rule, verbs: ["get", "update", "patch", "create"] }],
      named: [{ ...rule, verbs: ["get", "update", "patch", "create"], resourceNames: ["one"] }],
    };
    const tokens = new Map<string, string>();
    for (const [who, rules] of Object.entries(people)) tokens.set(who, await makeAccount(session, who, rules));
    await session.noticed(600);
    const kinds = [
      { kind: "Lease", apiVersion: "coordination.k8s.io/v1", path: "/apis/coordination.k8s.io/v1", plural: "leases" },
      { kind: "ConfigMap", apiVersion: "v1", path: "/api/v1", plural: "configmaps" },
    ];
    for (const { kind, apiVersion, path, plural } of kinds) {
      for (const [who, token] of tokens) {
        for (const name of ["one", "two", "Not Valid"]) {
          const sender = bearing(token);
          const one = `${path}/namespaces/${session.slug}/${plural}/${encodeURIComponent(name)}?dryRun=All`;
          const body = { apiVersion, kind, metadata: { name } };
          const typed = (type: string) => ({ ...sender, body, headers: { ...sender.headers, "content-type": type } });
          await session.send(`${who} puts ${kind} ${name}`, "PUT", one, { ...sender, body });
          await session.send(`${who} merges ${kind} ${name}`, "PATCH", one, typed("application/merge-patch+json"));
          const apply = `${one}&fieldManager=m`;
          await session.send(`${who} applies ${kind} ${name}`, "PATCH", apply, typed("application/apply-patch+yaml"));
        }
      }
    }
  },
};

export const connecting: Case = {
  name: "who connects to pods",
  async run(session) {
    await makeOwnNamespace(session);
    const { slug } = session;
    const resources = ["pods/exec", "pods/attach", "pods/portforward"];
    const people = {
      gets: [{ verbs: ["get"], apiGroups: [""], resources }],
      creates: [{ verbs: ["create"], apiGroups: [""], resources }],
      both: [{ verbs: ["get", "create"], apiGroups: [""], resources }],
      one: [
        { verbs: ["get"], apiGroups: [""], resources },
        { verbs: ["create"], apiGroups: [""], resources, resourceNames: ["one"] },
      ],
    };
    const pod = { containers: [{ name: "main", image: "example.test/main" }] };
    const body = { apiVersion: "v1", kind: "Pod", metadata: { name: "one", namespace: slug }, spec: pod };
    await session.quietly("POST", `/api/v1/namespaces/${slug}/pods`, body);
    for (const [who, rules] of Object.entries(people)) {
      const token = await makeAccount(session, who, rules);
      await session.noticed(500);
      for (const part of ["exec?command=ls&stdout=true", "attach?stdout=true", "portforward?ports=80"]) {
        for (const method of ["GET", "POST"]) {
          const path = `/api/v1/namespaces/${slug}/pods/one/${part}`;
          await session.send(`${who} ${method} ${part}`, method, path, bearing(token));
        }
      }
    }
  },
};

/** The statuses of claims: who may allocate them, and whose devices are reported. */
export const claims: Case = {
  name: "who writes the status of resource claims",
  async run(session) {
    await makeOwnNamespace(session);
    const { slug } = session;
    const group = "resource.k8s.io";
    const status = { verbs: ["get", "update", "patch"], apiGroups: [group], resources: ["resourceclaims/status"] };
    const people = {
      status: [status],
      binds: [status, { verbs: ["update", "patch"], apiGroups: [group], resources: ["resourceclaims/binding"] }],
      drives: [
        status,
        { verbs: ["arbitrary-node:patch"], apiGroups: [group], resources: ["resourceclaims/driver"] },
        { verbs: ["patch"], apiGroups: [group], resources: ["resourceclaims/binding"] },
      ],
      one: [
        status,
        {
          verbs: ["arbitrary-node:patch"],
          apiGroups: [group],
          resources: ["resourceclaims/driver"],
          resourceNames: ["driver.example.test"],
        },
      ],
    };
    const claim = {
      apiVersion: `${group}/v1`,
      kind: "ResourceClaim",
      metadata: { name: "one", namespace: slug },
      spec: { devices: { requests: [{ name: "one", exactly: { deviceClassName: "class.example.test" } }] } },
    };
    const root = `/apis/${group}/v1/namespaces/${slug}/resourceclaims`;
    await session.quietly("POST", root, claim);
    const at = { request: "one", pool: "pool", device: "device" };
    const results = ["driver.example.test", "other.example.test"].map((driver) => ({ ...at, driver }));
    const changes: Readonly<Record<string, object>> = {
      nothing: {},
      allocation: { allocation: { devices: { results } } },
      reservation: { reservedFor: [{ resource: "pods", name: "p", uid: "u" }] },
      "allocation and devices": {
        allocation: { devices: { results } },
        devices: [{ driver: "driver.example.test", pool: "pool", device: "device" }],
      },
    };
    const later: Readonly<Record<string, object>> = {
      "one driver": { devices: [{ driver: "driver.example.test", pool: "pool", device: "device" }] },
      "two drivers": {
        devices: results.map(({ driver }) => ({ driver, pool: "pool", device: "device" })),
      },
      "no allocation": { allocation: null },
    };
    const tokens = new Map<string, string>();
    for (const [who, rules] of Object.entries(people)) tokens.set(who, await makeAccount(session, who, rules));
    await session.noticed(600);
    for (const changed of [changes, later]) {
      for (const [who, token] of tokens) {
        const sender = bearing(token);
        const headers = { ...sender.headers, "content-type": "application/merge-patch+json" };
        for (const [label, body] of Object.entries(changed)) {
          const call = { ...sender, headers, body: { status: body } };
          await session.send(`${who} ${label}`, "PATCH", `${root}/one/status?dryRun=All`, call);
        }
      }
      const merge = { "content-type": "application/merge-patch+json" };
      const allocated = { status: changes["allocation"] };
      await session.send("the administrator allocates", "PATCH", `${root}/one/status`, {
        headers: merge,
        body: allocated,
      });
    }
  },
};
