/** Admission policies: what they match, evaluate, reject, report and change. */
import type { Case } from "../case.ts";
import type { Loose, Session } from "../session.ts";
import { pod } from "./admission.ts";

const group = "/apis/admissionregistration.k8s.io/v1";

export interface Policy {
  readonly spec: object;
  readonly binding?: object;
}

export const rule = {
  apiGroups: [""],
  apiVersions: ["v1"],
  operations: ["CREATE", "UPDATE", "DELETE"],
  resources: ["configmaps"],
};

export const map = (name: string, data: object = {}, metadata: object = {}): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...metadata },
  data,
});

/** Puts policies in force, each in a namespace of its own. @returns the paths of these namespaces by label */
export async function enforce(
  session: Session,
  kind: "Validating" | "Mutating",
  policies: Readonly<Record<string, Policy>>,
): Promise<Readonly<Record<string, string>>> {
  const paths: Record<string, string> = {};
  for (const [index, [label, { spec, binding = {} }]] of Object.entries(policies).entries()) {
    const name = `${session.slug}-${index}`;
    paths[label] = await session.createNamespace(name);
    const [policies, bindings] = ["policies", "policybindings"].map(
      (end) => `${group}/${kind.toLowerCase()}admission${end}`,
    );
    const answer: Loose = await session.quietly("POST", policies!, {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: `${kind}AdmissionPolicy`,
      metadata: { name },
      spec: {
        matchConstraints: { resourceRules: [rule] },
        ...(kind === "Mutating" && { reinvocationPolicy: "Never", matchConstraints: { resourceRules: [mutable] } }),
        ...spec,
      },
    });
    if (answer?.kind === "Status") session.note("the policy", answer.message);
    const bindingAnswer: Loose = await session.quietly("POST", bindings!, {
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
    if (bindingAnswer?.kind === "Status") session.note("the binding", bindingAnswer.message);
  }
  // kube-apiserver checks for changed policies once a second.
  await session.noticed(1800);
  return paths;
}

/** Removes the bindings, so that the next cases have a server without policies. */
export async function release(session: Session, kind: "Validating" | "Mutating", count: number): Promise<void> {
  const path = `${group}/${kind.toLowerCase()}admissionpolicybindings`;
  for (let index = 0; index < count; index++)
    await session.quietly("DELETE", `${path}/${session.slug}-${index}-binding`);
}

export const mutable = { ...rule, operations: ["CREATE", "UPDATE"] };

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
      await session.post(label, path, body);
    }
    await session.patch("update", `${path}/good`, { data: { secret: "s" } });
    await session.patch("update that is good", `${path}/good`, { data: { c: "d" } });
    await session.delete("delete", `${path}/kept`);
    await session.delete("delete what may go", `${path}/good`);
    await session.post("dry run", `${path}?dryRun=All`, map("dry"));
    await session.delete("delete all", path);
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
      await session.post(`create under a policy ${label}`, path, map(name, { a: "b" }));
      await session.post(
        `create labelled under a policy ${label}`,
        path,
        map(`${name}-labelled`, { a: "b" }, { labels: { a: "b" } }),
      );
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
      await session.post(`parameters ${label}`, path, secret(name, "a.example.test/x"));
      await session.post(`parameters ${label}, broken`, path, secret(`${name}-broken`, "c.example.test/x"));
    }
    await release(session, "Validating", Object.keys(policies).length);
  },
};

const unknownParameters: Case = {
  name: "policies with parameters of no kind",
  isAlone: true,
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
    await session.post("create", `${paths["unknown"]}/secrets`, body);
    await release(session, "Validating", 1);
  },
};

const connections: Case = {
  name: "policies that refuse connections",
  run: async (session) => {
    const connect = {
      ...rule,
      operations: ["CONNECT"],
      resources: ["pods/exec", "pods/attach", "pods/portforward", "pods/proxy"],
    };
    const paths = await enforce(session, "Validating", {
      connections: {
        spec: {
          matchConstraints: { resourceRules: [connect] },
          validations: [
            {
              expression: "!has(object.command) || object.command[0] != 'rm'",
              messageExpression: "'not ' + object.command[0]",
            },
            { expression: "object.kind != 'PodAttachOptions' || !object.stdin", message: "look only" },
            { expression: "request.subResource != 'portforward'", reason: "Forbidden" },
            {
              expression: "object.kind != 'PodProxyOptions' || object.path == '/fine'",
              messageExpression: "string(object.path)",
            },
          ],
        },
      },
    });
    const path = `${paths["connections"]}/pods`;
    await session.quietly("POST", path, pod("one"));
    await session.send("exec", "POST", `${path}/one/exec?command=ls&container=a&stdout=true`);
    await session.send("exec that is refused", "POST", `${path}/one/exec?command=rm&command=-r&stdout=true`);
    await session.send("attach", "POST", `${path}/one/attach?stdin=true&stdout=true`);
    await session.send("port forward", "POST", `${path}/one/portforward?ports=80`);
    await session.get("proxy", `${path}/one/proxy/a/b`);
    await session.get("proxy that is fine", `${path}/one/proxy/fine`);
    await session.get("log", `${path}/one/log`);
    await release(session, "Validating", 1);
  },
};

export const policies: readonly Case[] = [validations, actions, parameters, unknownParameters, connections];
