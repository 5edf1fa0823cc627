/**
 * Authorization beside that of requests: expressions of policies, signers, parameters of policies, connections to pods.
 */
import type { Case } from "../case.ts";
import { enforce, map, release } from "../sequences/policies.ts";
import { signingRequest } from "../samples/cluster.ts";
import { pairs } from "../sampling.ts";
import type { Requests, Session } from "../session.ts";
import { makeAccount, makePeople } from "./accounts.ts";

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
    await session.createNamespace();
    const rules = [
      { verbs: ["create"], apiGroups: [""], resources: ["configmaps"] },
      { verbs: ["update"], apiGroups: [""], resources: ["configmaps"], resourceNames: ["one"] },
      { verbs: ["list"], apiGroups: ["apps"], resources: ["deployments"] },
      { verbs: ["get"], apiGroups: [""], resources: ["pods/log"] },
      { verbs: ["get"], nonResourceURLs: ["/x/*"] },
    ];
    const robot = session.by(await makeAccount(session, "robot", rules));
    const policies = Object.fromEntries(
      Object.entries(expressions).map(([label, expression]) => [label, { spec: { validations: [{ expression }] } }]),
    );
    const paths = await enforce(session, "Validating", policies);
    for (const [label, path] of Object.entries(paths)) {
      const body = map("one");
      await session.post(`${label}: administrator`, `${path}/configmaps?dryRun=All`, body);
      await robot.post(`${label}: robot`, `${path}/configmaps?dryRun=All`, body);
    }
    await release(session, "Validating", Object.keys(policies).length);
  },
};

const signers = ["kubernetes.io/kube-apiserver-client", "example.test/one", "example.test/two", "other.test/one"];

export const signingRights: Case = {
  name: "who approves and signs",
  async run(session) {
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
    const senders = await makePeople(session, people);
    const path = `/apis/certificates.k8s.io/v1/${requests}`;
    for (const [index, signerName] of signers.entries()) {
      const name = `${session.slug}-${index}`;
      const spec = { request: signingRequest, signerName, usages: ["client auth"] };
      const body = {
        apiVersion: "certificates.k8s.io/v1",
        kind: "CertificateSigningRequest",
        metadata: { name },
        spec,
      };
      const answer = await session.quietly("POST", path, body);
      if (answer?.kind === "Status") session.note("the request", answer.message);
      for (const [who, person] of senders) await decide(person, `${who} ${signerName}`, `${path}/${name}`);
    }
  },
};

async function decide(person: Requests, who: string, path: string): Promise<void> {
  const condition = { status: "True", reason: "x", message: "y" };
  const conditions = (type: string): object => ({ status: { conditions: [{ ...condition, type }] } });
  await person.patch(`${who} approves`, `${path}/approval?dryRun=All`, conditions("Approved"));
  await person.patch(`${who} fails`, `${path}/status?dryRun=All`, conditions("Failed"));
  await person.patch(`${who} changes nothing`, `${path}/status?dryRun=All`, { status: {} });
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
    const writes = { verbs: ["*"], apiGroups: [admission], resources: ["*"] };
    const people = {
      none: [writes],
      one: [writes, { verbs: ["get"], apiGroups: [""], resources: ["configmaps"], resourceNames: ["one"] }],
      maps: [writes, { verbs: ["get", "list"], apiGroups: [""], resources: ["configmaps"] }],
      all: [writes, { verbs: ["get", "list"], apiGroups: ["*"], resources: ["*"] }],
    };
    const senders = await makePeople(session, people);
    for (const kind of ["Validating", "Mutating"])
      for (const [who, person] of senders) await nameParameters(session, { kind, who, person });
  },
};

const test = `[JSONPatch{op: "test", path: "/kind", value: "ConfigMap"}]`;

async function nameParameters(
  session: Session,
  { kind, who, person }: { readonly kind: string; readonly who: string; readonly person: Requests },
): Promise<void> {
  const root = `/apis/${admission}/v1/${kind.toLowerCase()}admissionpolic`;
  const rule = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] };
  const mutation = { patchType: "JSONPatch", jsonPatch: { expression: test } };
  const isValidating = kind === "Validating";
  const does = isValidating
    ? { validations: [{ expression: "true" }] }
    : { mutations: [mutation], reinvocationPolicy: "Never" };
  for (const [index, paramKind] of paramKinds.entries()) {
    const label = `${who} ${kind} ${JSON.stringify(paramKind)}`;
    const metadata = { name: `${session.slug}-${kind.toLowerCase()}-${index}` };
    const spec = { paramKind, matchConstraints: { resourceRules: [rule] }, ...does };
    const policy = { apiVersion: `${admission}/v1`, kind: `${kind}AdmissionPolicy`, metadata, spec };
    await person.post(`${label} policy`, `${root}ies?dryRun=All`, policy);
    await session.quietly("POST", `${root}ies`, policy);
    await session.noticed(150);
    const path = `${root}ies/${metadata.name}?dryRun=All`;
    await person.patch(`${label} changes`, path, { spec: { paramKind: { apiVersion: "v1", kind: "Pod" } } });
    await person.patch(`${label} keeps`, path, { metadata: { labels: { a: "b" } } });
    for (const paramRef of paramRefs) {
      const actions = isValidating ? { validationActions: ["Deny"] } : {};
      await person.post(`${label} binding ${JSON.stringify(paramRef)}`, `${root}ybindings?dryRun=All`, {
        apiVersion: `${admission}/v1`,
        kind: `${kind}AdmissionPolicyBinding`,
        metadata,
        spec: { policyName: metadata.name, paramRef, ...actions },
      });
    }
    await session.quietly("DELETE", `${root}ies/${metadata.name}`);
  }
}

/** Updates and applies of absent objects, which create them for users who may create. */
export const creatingByUpdate: Case = {
  name: "who creates by updates",
  async run(session) {
    const rule = { apiGroups: ["", "coordination.k8s.io"], resources: ["leases", "configmaps"] };
    const people = {
      updates: [{ ...rule, verbs: ["get", "update", "patch"] }],
      creates: [{ ...rule, verbs: ["get", "update", "patch", "create"] }],
      named: [{ ...rule, verbs: ["get", "update", "patch", "create"], resourceNames: ["one"] }],
    };
    const senders = await makePeople(session, people);
    const kinds = [
      { kind: "Lease", apiVersion: "coordination.k8s.io/v1", path: "/apis/coordination.k8s.io/v1", plural: "leases" },
      { kind: "ConfigMap", apiVersion: "v1", path: "/api/v1", plural: "configmaps" },
    ];
    for (const { kind, apiVersion, path, plural } of kinds) {
      for (const [[who, person], name] of pairs(senders, ["one", "two", "Not Valid"])) {
        const one = `${path}/namespaces/${session.slug}/${plural}/${encodeURIComponent(name)}?dryRun=All`;
        const body = { apiVersion, kind, metadata: { name } };
        await person.put(`${who} puts ${kind} ${name}`, one, body);
        await person.patch(`${who} merges ${kind} ${name}`, one, body);
        await person.patch(`${who} applies ${kind} ${name}`, `${one}&fieldManager=m`, body, "apply");
      }
    }
  },
};

export const connecting: Case = {
  name: "who connects to pods",
  async run(session) {
    await session.createNamespace();
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
    const parts = ["exec?command=ls&stdout=true", "attach?stdout=true", "portforward?ports=80"];
    for (const [[who, person], part] of pairs(await makePeople(session, people), parts)) {
      const path = `/api/v1/namespaces/${slug}/pods/one/${part}`;
      for (const method of ["GET", "POST"]) await person.send(`${who} ${method} ${part}`, method, path);
    }
  },
};
