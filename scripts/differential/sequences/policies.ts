/** Admission policies: what they match, evaluate, refuse, tell and change. */
import type { Case } from "../case.ts";
import type { Loose, Session } from "../session.ts";
import { makeNamespace } from "./admission.ts";

const group = "/apis/admissionregistration.k8s.io/v1";
const merge = { "content-type": "application/merge-patch+json" };

interface Policy {
  readonly spec: object;
  readonly binding?: object;
}

const rule = {
  apiGroups: [""],
  apiVersions: ["v1"],
  operations: ["CREATE", "UPDATE", "DELETE"],
  resources: ["configmaps"],
};

const map = (name: string, data: object = {}, metadata: object = {}): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...metadata },
  data,
});

/** Puts policies in force, each in a namespace of its own. @returns those namespaces' paths by label */
async function enforce(
  session: Session,
  kind: "Validating" | "Mutating",
  policies: Readonly<Record<string, Policy>>,
): Promise<Readonly<Record<string, string>>> {
  const paths: Record<string, string> = {};
  for (const [index, [label, { spec, binding = {} }]] of Object.entries(policies).entries()) {
    const name = `${session.slug}-${index}`;
    paths[label] = await makeNamespace(session, {}, name);
    const [policies, bindings] = ["policies", "policybindings"].map(
      (end) => `${group}/${kind.toLowerCase()}admission${end}`,
    );
    const made: Loose = await session.quietly("POST", policies!, {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: `${kind}AdmissionPolicy`,
      metadata: { name },
      spec: {
        matchConstraints: { resourceRules: [rule] },
        ...(kind === "Mutating" && { reinvocationPolicy: "Never", matchConstraints: { resourceRules: [mutable] } }),
        ...spec,
      },
    });
    if (made?.kind === "Status") session.note("the policy", made.message);
    const bound: Loose = await session.quietly("POST", bindings!, {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: `${kind}AdmissionPolicyBinding`,
      metadata: { name: `${name}-binding` },
      spec: {
        policyName: name,
        matchResources: { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": name } } },
        ...(kind === "Validating" && { validationActions: ["Deny"] }),
        ...binding,
      },
    });
    if (bound?.kind === "Status") session.note("the binding", bound.message);
  }
  // kube-apiserver looks for changed policies once a second.
  await session.noticed(1800);
  return paths;
}

/** Takes the bindings away, so that the next cases have a server without policies. */
async function release(session: Session, kind: "Validating" | "Mutating", count: number): Promise<void> {
  const path = `${group}/${kind.toLowerCase()}admissionpolicybindings`;
  for (let index = 0; index < count; index++)
    await session.quietly("DELETE", `${path}/${session.slug}-${index}-binding`);
}

const mutable = { ...rule, operations: ["CREATE", "UPDATE"] };

const validations: Case = {
  name: "policies that validate",
  run: async (session) => {
    const paths = await enforce(session, "Validating", {
      all: {
        spec: {
          variables: [
            { name: "data", expression: "has(object.data) ? object.data : {}" },
            { name: "size", expression: "size(variables.data)" },
          ],
          matchConditions: [{ name: "not-skipped", expression: "request.name != 'skipped'" }],
          validations: [
            { expression: "request.operation == 'DELETE' || variables.size > 0", message: "data wanted" },
            {
              expression: "request.operation == 'DELETE' || !('secret' in variables.data)",
              messageExpression: "'no secrets in ' + request.namespace + '/' + object.metadata.name",
              reason: "Forbidden",
            },
            { expression: "request.operation != 'DELETE' || oldObject.metadata.name != 'kept'" },
            { expression: "request.operation == 'DELETE' || variables.data.?number.orValue('1') == '1'" },
            {
              expression: "request.operation == 'DELETE' || !has(variables.data.broken) || variables.data.nope == 'x'",
            },
            {
              expression:
                "namespaceObject.metadata.name == request.namespace && authorizer.group('').resource('pods').check('create').allowed()",
            },
          ],
          auditAnnotations: [{ key: "size", valueExpression: "string(variables.size)" }],
        },
      },
    });
    const path = `${paths["all"]}/configmaps`;
    for (const [label, body] of Object.entries({
      good: map("good", { a: "b" }),
      "without data": map("empty"),
      skipped: map("skipped"),
      "with a secret": map("secretive", { secret: "s" }),
      "with another number": map("number", { number: "2" }),
      "where an expression breaks": map("broken", { broken: "b" }),
      "with a generated name": map("", {}, { generateName: "made-" }),
      kept: map("kept", { a: "b" }),
    })) {
      await session.send(label, "POST", path, { body });
    }
    await session.send("update", "PATCH", `${path}/good`, { headers: merge, body: { data: { secret: "s" } } });
    await session.send("update that is good", "PATCH", `${path}/good`, { headers: merge, body: { data: { c: "d" } } });
    await session.send("delete", "DELETE", `${path}/kept`);
    await session.send("delete what may go", "DELETE", `${path}/good`);
    await session.send("dry run", "POST", `${path}?dryRun=All`, { body: map("dry") });
    await session.send("delete all", "DELETE", path);
    await release(session, "Validating", 1);
  },
};

const actions: Case = {
  name: "policies that warn or fail",
  run: async (session) => {
    const policies: Readonly<Record<string, Policy>> = {
      "that warns": {
        spec: { validations: [{ expression: "false", message: "careful" }] },
        binding: { validationActions: ["Warn", "Audit"] },
      },
      "that ignores failures": {
        spec: { failurePolicy: "Ignore", validations: [{ expression: "object.data.nope == 'x'" }] },
      },
      "with a condition that fails": {
        spec: {
          matchConditions: [{ name: "breaks", expression: "object.data.nope == 'x'" }],
          validations: [{ expression: "true" }],
        },
      },
      "with a variable that fails": {
        spec: {
          variables: [{ name: "v", expression: "object.data.nope" }],
          validations: [{ expression: "variables.v == 'x'" }],
        },
      },
      "with an annotation that fails": {
        spec: {
          validations: [{ expression: "true" }],
          auditAnnotations: [{ key: "k", valueExpression: "string(object.data.nope)" }],
        },
      },
      "about some names": {
        spec: {
          matchConstraints: { resourceRules: [{ ...rule, resourceNames: ["that-is-named"] }] },
          validations: [{ expression: "false" }],
        },
      },
      "that leaves out": {
        spec: {
          matchConstraints: { resourceRules: [rule], excludeResourceRules: [{ ...rule, operations: ["CREATE"] }] },
          validations: [{ expression: "false" }],
        },
      },
      "about labelled objects": {
        spec: {
          matchConstraints: { resourceRules: [rule], objectSelector: { matchLabels: { a: "b" } } },
          validations: [{ expression: "false", reason: "RequestEntityTooLarge" }],
        },
      },
    };
    for (const [label, space] of Object.entries(await enforce(session, "Validating", policies))) {
      const name = label.replaceAll(" ", "-");
      const path = `${space}/configmaps`;
      await session.send(`create under a policy ${label}`, "POST", path, { body: map(name, { a: "b" }) });
      await session.send(`create labelled under a policy ${label}`, "POST", path, {
        body: map(`${name}-labelled`, { a: "b" }, { labels: { a: "b" } }),
      });
    }
    await release(session, "Validating", Object.keys(policies).length);
  },
};

const parameters: Case = {
  name: "policies with parameters",
  run: async (session) => {
    const secrets = { resourceRules: [{ ...rule, resources: ["secrets"] }] };
    const secret = (name: string, type: string): object => ({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name },
      type,
    });
    const validation = {
      expression: "params == null || object.type == params.data.type",
      messageExpression: "'only ' + params.data.type + ' by a ' + params.kind",
    };
    const spec = {
      matchConstraints: secrets,
      validations: [validation],
      paramKind: { apiVersion: "v1", kind: "ConfigMap" },
    };
    const policies: Readonly<Record<string, Policy>> = {
      "by name": { spec, binding: { paramRef: { name: "limits", parameterNotFoundAction: "Deny" } } },
      "by label": {
        spec,
        binding: { paramRef: { selector: { matchLabels: { use: "limits" } }, parameterNotFoundAction: "Deny" } },
      },
      absent: { spec, binding: { paramRef: { name: "absent", parameterNotFoundAction: "Deny" } } },
      "absent and allowed": { spec, binding: { paramRef: { name: "absent", parameterNotFoundAction: "Allow" } } },
      none: { spec },
      elsewhere: {
        spec,
        binding: { paramRef: { name: "limits", namespace: "default", parameterNotFoundAction: "Deny" } },
      },
    };
    const spaces = await enforce(session, "Validating", policies);
    const labels = { use: "limits" };
    for (const space of Object.values(spaces)) {
      await session.quietly("POST", `${space}/configmaps`, map("limits", { type: "a.example.test/x" }, { labels }));
      await session.quietly("POST", `${space}/configmaps`, map("others", { type: "a.example.test/x" }, { labels }));
    }
    await session.noticed(150);
    for (const [label, space] of Object.entries(spaces)) {
      const name = label.replaceAll(" ", "-");
      const path = `${space}/secrets`;
      await session.send(`parameters ${label}`, "POST", path, { body: secret(name, "a.example.test/x") });
      await session.send(`parameters ${label}, broken`, "POST", path, {
        body: secret(`${name}-broken`, "c.example.test/x"),
      });
    }
    await release(session, "Validating", Object.keys(policies).length);
  },
};

const unknownParameters: Case = {
  name: "policies with parameters of no kind",
  run: async (session) => {
    const secrets = { resourceRules: [{ ...rule, resources: ["secrets"] }] };
    const paramKind = { apiVersion: "example.test/v1", kind: "Nothing" };
    const paths = await enforce(session, "Validating", {
      unknown: {
        spec: { matchConstraints: secrets, validations: [{ expression: "params.x == 1" }], paramKind },
        binding: { paramRef: { name: "limits", parameterNotFoundAction: "Deny" } },
      },
    });
    const body = { apiVersion: "v1", kind: "Secret", metadata: { name: "s" } };
    await session.send("create", "POST", `${paths["unknown"]}/secrets`, { body });
    await release(session, "Validating", 1);
  },
};

const mutations: Case = {
  name: "policies that mutate",
  run: async (session) => {
    const apply = (expression: string): object => ({
      patchType: "ApplyConfiguration",
      applyConfiguration: { expression },
    });
    const patch = (expression: string): object => ({ patchType: "JSONPatch", jsonPatch: { expression } });
    const policies: Readonly<Record<string, Policy>> = {
      "by applying": {
        spec: {
          mutations: [
            apply(
              "Object{metadata: Object.metadata{labels: {'added': request.operation}}, data: {'name': object.metadata.name}}",
            ),
          ],
        },
      },
      "by a patch": {
        spec: {
          variables: [{ name: "n", expression: "string(size(object.data))" }],
          mutations: [
            patch("[JSONPatch{op: 'add', path: '/data/' + jsonpatch.escapeKey('a.b'), value: variables.n}]"),
            patch("[JSONPatch{op: 'add', path: '/data/second', value: string(size(object.data))}]"),
          ],
        },
      },
      "by a patch whose test fails": {
        spec: {
          mutations: [
            patch(
              "[JSONPatch{op: 'test', path: '/data/a', value: 'z'}, JSONPatch{op: 'add', path: '/data/x', value: 'y'}]",
            ),
          ],
        },
      },
      "by a patch that does not fit": { spec: { mutations: [patch("[JSONPatch{op: 'remove', path: '/data/nope'}]")] } },
      "by an expression that breaks": { spec: { mutations: [apply("Object{data: {'a': object.data.nope}}")] } },
      "by an expression that breaks, ignored": {
        spec: { failurePolicy: "Ignore", mutations: [apply("Object{data: {'a': object.data.nope}}")] },
      },
      "under a condition": {
        spec: {
          matchConditions: [{ name: "labelled", expression: "'a' in object.metadata.?labels.orValue({})" }],
          mutations: [apply("Object{data: {'labelled': 'yes'}}")],
        },
      },
    };
    for (const [label, space] of Object.entries(await enforce(session, "Mutating", policies))) {
      const name = label.replaceAll(/[ ,]+/g, "-");
      const path = `${space}/configmaps`;
      await session.send(`create ${label}`, "POST", path, { body: map(name, { a: "b" }) });
      await session.send(`create labelled ${label}`, "POST", path, {
        body: map(`${name}-labelled`, { a: "b" }, { labels: { a: "b" } }),
      });
      await session.send(`update ${label}`, "PATCH", `${path}/${name}`, { headers: merge, body: { data: { c: "d" } } });
    }
    await release(session, "Mutating", Object.keys(policies).length);
  },
};

const podMutations: Case = {
  name: "policies that mutate pods",
  run: async (session) => {
    const apply = (expression: string): object => ({
      patchType: "ApplyConfiguration",
      applyConfiguration: { expression },
    });
    const patch = (expression: string): object => ({ patchType: "JSONPatch", jsonPatch: { expression } });
    const pods = { resourceRules: [{ ...mutable, resources: ["pods"], operations: ["CREATE"] }] };
    const podPolicies: Readonly<Record<string, object>> = {
      "a sidecar": apply(
        "Object{spec: Object.spec{initContainers: [Object.spec.initContainers{name: 'side', image: 'side:1', restartPolicy: 'Always'}]}}",
      ),
      "an atomic list": apply(
        "Object{spec: Object.spec{containers: [Object.spec.containers{name: 'a', args: ['x']}]}}",
      ),
      "an unknown field": apply("Object{spec: Object.spec{nope: 'x'}}"),
      "a value of an object": patch(
        "[JSONPatch{op: 'add', path: '/spec/nodeSelector', value: {'disk': 'ssd'}}, JSONPatch{op: 'add', path: '/spec/securityContext', value: Object.spec.securityContext{runAsUser: 5}}]",
      ),
    };
    const policies = Object.fromEntries(
      Object.entries(podPolicies).map(([label, mutation]) => [
        label,
        { spec: { matchConstraints: pods, mutations: [mutation] } },
      ]),
    );
    for (const [label, space] of Object.entries(await enforce(session, "Mutating", policies))) {
      await session.send(`pod with ${label}`, "POST", `${space}/pods`, {
        body: {
          apiVersion: "v1",
          kind: "Pod",
          metadata: { name: label.replaceAll(" ", "-") },
          spec: { containers: [{ name: "a", image: "a:1" }] },
        },
      });
    }
    await release(session, "Mutating", Object.keys(policies).length);
  },
};

export const policies: readonly Case[] = [validations, actions, parameters, unknownParameters, mutations, podMutations];
