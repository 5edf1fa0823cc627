/** Mutating admission policies: what they apply and patch. */
import type { Case } from "../case.ts";
import { enforce, map, mutable, type Policy, release } from "./policies.ts";

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
      await session.post(`create ${label}`, path, map(name, { a: "b" }));
      await session.post(`create labelled ${label}`, path, map(`${name}-labelled`, { a: "b" }, { labels: { a: "b" } }));
      await session.patch(`update ${label}`, `${path}/${name}`, { data: { c: "d" } });
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
      await session.post(`pod with ${label}`, `${space}/pods`, {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: label.replaceAll(" ", "-") },
        spec: { containers: [{ name: "a", image: "a:1" }] },
      });
    }
    await release(session, "Mutating", Object.keys(policies).length);
  },
};

export const mutatingPolicies: readonly Case[] = [mutations, podMutations];
