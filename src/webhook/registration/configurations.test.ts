import { expect, test } from "bun:test";
import type { DeclaredWebhook } from "../declared-webhook.ts";
import { configurationsOf, leftOut } from "./configurations.ts";

const pods: DeclaredWebhook = {
  type: "validating",
  name: "pod.core.binnacle.dev",
  path: "/validate--v1-pod",
  rules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["pods"], operations: ["CREATE"], scope: "*" }],
  objectSelector: undefined,
  namespaceSelector: undefined,
  matchConditions: [],
  matchPolicy: "Equivalent",
  failurePolicy: "Fail",
  reinvocationPolicy: undefined,
  timeoutSeconds: 10,
  sideEffects: "None",
};
const inCluster = {
  name: "hook.shop",
  target: { service: { namespace: "shop", name: "hook", port: 443 } },
  ownNamespaces: ["shop"],
};
const everything: DeclaredWebhook["rules"] = [
  { apiGroups: ["*"], apiVersions: ["*"], resources: ["*"], operations: ["*"], scope: "*" },
];

test("configurationsOf writes what is declared, by the names of the API", () => {
  const objectSelector = { matchLabels: { tier: "web" } };
  const declared: DeclaredWebhook = {
    ...pods,
    objectSelector,
    matchConditions: [{ name: "not-root", expression: "request.userInfo.username != 'root'" }],
    matchPolicy: "Exact",
    failurePolicy: "Ignore",
    timeoutSeconds: 3,
    sideEffects: "NoneOnDryRun",
  };
  const { mutating, validating } = configurationsOf([declared], { ...inCluster, authorities: "PEM" });
  expect(mutating.webhooks).toEqual([]);
  expect(validating).toEqual({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingWebhookConfiguration",
    metadata: { name: "hook.shop" },
    webhooks: [
      {
        name: "pod.core.binnacle.dev",
        clientConfig: {
          service: { namespace: "shop", name: "hook", path: "/validate--v1-pod", port: 443 },
          caBundle: "UEVN",
        },
        rules: pods.rules,
        failurePolicy: "Ignore",
        matchPolicy: "Exact",
        namespaceSelector: {
          matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "NotIn", values: ["shop"] }],
        },
        objectSelector,
        matchConditions: declared.matchConditions,
        sideEffects: "NoneOnDryRun",
        timeoutSeconds: 3,
        admissionReviewVersions: ["v1", "v1beta1"],
      },
    ],
  });
});

test("a mutating webhook says whether it is asked again", () => {
  const declared: DeclaredWebhook = {
    ...pods,
    type: "mutating",
    path: "/mutate--v1-pod",
    reinvocationPolicy: "IfNeeded",
  };
  const { mutating, validating } = configurationsOf([declared], inCluster);
  expect(validating.webhooks).toEqual([]);
  expect(mutating.webhooks.map((one) => one.reinvocationPolicy)).toEqual(["IfNeeded"]);
});

test("a URL stands in place of the Service, and without authorities caBundle is left to others", () => {
  const { validating } = configurationsOf([pods], {
    ...inCluster,
    target: { url: "https://172.18.0.1:9443" },
    ownNamespaces: [],
    failurePolicy: "Ignore",
  });
  expect(validating.webhooks[0]?.clientConfig).toEqual({ url: "https://172.18.0.1:9443/validate--v1-pod" });
  expect(validating.webhooks[0]?.failurePolicy).toBe("Ignore");
  expect(validating.webhooks[0]).not.toHaveProperty("namespaceSelector");
});

test("the own namespace is excluded beside what is declared, unless that speaks of names itself", () => {
  const own = { key: "kubernetes.io/metadata.name", operator: "NotIn", values: ["shop"] };
  const team = { key: "team", operator: "Exists" };
  const selector = (namespaceSelector: DeclaredWebhook["namespaceSelector"]) =>
    configurationsOf([{ ...pods, namespaceSelector }], inCluster).validating.webhooks[0]?.namespaceSelector;
  expect(selector({ matchLabels: { a: "b" }, matchExpressions: [team] })).toEqual({
    matchLabels: { a: "b" },
    matchExpressions: [team, own],
  });
  const named = { matchLabels: { "kubernetes.io/metadata.name": "shop" } };
  expect(selector(named)).toEqual(named);
  const expressed = { matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "In", values: ["shop"] }] };
  expect(selector(expressed)).toEqual(expressed);
});

test("the own namespace is not excluded for kinds of the modules, nor for what is in no namespace", () => {
  const own = { ...pods, isForOwnKind: true };
  expect(configurationsOf([own], inCluster).validating.webhooks[0]).not.toHaveProperty("namespaceSelector");
  expect(leftOut(own, ["shop"])).toEqual([]);
  expect(leftOut(pods, ["shop"])).toEqual(["shop"]);
  expect(leftOut({ ...pods, rules: [{ ...pods.rules[0]!, scope: "Cluster" }] }, ["shop"])).toEqual([]);
  expect(
    leftOut({ ...pods, namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "a" } } }, ["shop"]),
  ).toEqual([]);
});

test("the Leases of the process are excluded from rules that name Leases", () => {
  const ownLeases = { namespace: "default", id: "shop" };
  const rules = [{ ...everything[0]!, resources: ["leases"] }];
  const [webhook] = configurationsOf([{ ...pods, rules }], { ...inCluster, ownLeases }).validating.webhooks;
  expect(webhook?.matchConditions).toEqual([
    {
      name: "exclude-own-leases",
      expression:
        '!(request.resource.group == "coordination.k8s.io" && request.resource.resource == "leases" && ' +
        'request.namespace == "default" && (request.name == "shop" || request.name.startsWith("shop-")))',
    },
  ]);
  expect(configurationsOf([pods], { ...inCluster, ownLeases }).validating.webhooks[0]).not.toHaveProperty(
    "matchConditions",
  );
});

test("Leases are excluded from rules that reach them without naming them", () => {
  const conditions = (rules: DeclaredWebhook["rules"]) =>
    configurationsOf([{ ...pods, rules }], inCluster).validating.webhooks[0]?.matchConditions?.map((one) => one.name);
  expect(conditions(everything)).toEqual(["exclude-leases"]);
  expect(conditions([{ ...everything[0]!, apiGroups: ["coordination.k8s.io"], resources: ["*/*"] }])).toEqual([
    "exclude-leases",
  ]);
  expect(conditions([...everything, { ...everything[0]!, resources: ["leases"] }])).toBeUndefined();
  expect(conditions([{ ...everything[0]!, apiGroups: ["apps"] }])).toBeUndefined();
  expect(conditions(pods.rules)).toBeUndefined();
});

test("names are unique in a configuration, and a webhook without rules has no place in it", () => {
  const other = { ...pods, path: "/validate--v2-pod" };
  const { validating } = configurationsOf([pods, other, { ...pods, rules: [] }], inCluster);
  expect(validating.webhooks.map((one) => one.name)).toEqual(["pod.core.binnacle.dev", "2.pod.core.binnacle.dev"]);
});
