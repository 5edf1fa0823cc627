import { expect, test } from "bun:test";
import { defineResource } from "../resource/define.ts";
import { ConfigMap, Deployment, Pod } from "../resource/builtin/index.ts";
import { type DeclaredWebhook, declaredWebhooks } from "../webhook/declared-webhook.ts";
import { z } from "zod";
import { asDefinition } from "./brand.ts";
import { checkConflicts } from "./conflicts.ts";
import { defineWebhook } from "./define-webhook.ts";
import { collectDefinitions } from "./module-definitions.ts";

const Guestbook = defineResource({
  group: "demo.binnacle.dev",
  version: "v1",
  kind: "Guestbook",
  spec: z.object({ message: z.string() }),
});
const validate = (): void => {};

/** Defines a webhook with options that an author got wrong. */
function define(options: object): unknown {
  return defineWebhook(options as never);
}

function declared(definition: unknown): readonly DeclaredWebhook[] {
  const defined = asDefinition(definition);
  if (defined?.type !== "webhook") throw new Error("no webhook");
  return declaredWebhooks(defined.webhook);
}

const rules = [{ apiGroups: ["apps"], apiVersions: ["v1"], resources: ["deployments"] }];

test.each<[object, string]>([
  [{ validate }, "Cannot define a webhook: it needs either 'for', the kind that it is asked about, or 'rules'"],
  [{ for: Pod, rules, validate }, "webhook 'pod': it needs either 'for'"],
  [{ for: Pod }, "it has neither 'default' nor 'validate'"],
  [{ rules, validate }, "option 'name' is missing: with 'rules' nothing else names it"],
  [{ name: "x", rules, subresource: "exec", validate }, "in 'rules' write resources such as 'pods/exec'"],
  [{ for: Pod, validate, operations: [] }, "option 'operations': the list is empty"],
  [
    { for: Pod, validate, operations: ["create"] },
    "expected one of 'CREATE', 'UPDATE', 'DELETE', 'CONNECT', got 'create'",
  ],
  [{ for: Pod, default: validate, operations: ["DELETE"] }, "has only DELETE, for which 'default' is never called"],
  [{ for: Pod, validate, operations: ["CONNECT"] }, "which only subresources have: add 'subresource'"],
  [{ for: Pod, validate, reinvocationPolicy: "IfNeeded" }, "option 'reinvocationPolicy' goes with 'default'"],
  [{ for: Pod, validate, timeoutSeconds: 31 }, "expected a whole number from 1 to 30, got 31"],
  [{ for: Pod, validate, sideEffects: "Some" }, "expected one of 'None', 'NoneOnDryRun', got 'Some'"],
  [{ for: Pod, validate, failurepolicy: "Fail" }, "unknown option 'failurepolicy', did you mean 'failurePolicy'?"],
  [{ for: Pod, validate, matchConditions: [{ name: "a" }] }, "entry 0: field 'expression' is missing"],
  [
    { for: Pod, validate, objectSelector: { matchLabels: { a: 1 } } },
    "field 'matchLabels': field 'a': expected a text, got 1",
  ],
  [
    { for: Pod, validate, objectSelector: { matchLabel: {} } },
    "option 'objectSelector': unknown field 'matchLabel', did you mean 'matchLabels'?",
  ],
  [{ for: "Pod", validate }, "option 'for': expected a kind such as Deployment, without watch(…), got 'Pod'"],
])("defineWebhook refuses what is wrong (%#)", (options, message) => {
  expect(() => define(options)).toThrow(message);
});

test("paths and names are kubebuilder's", () => {
  const both = { default: validate, validate };
  const paths = (options: object) => declared(define({ ...both, ...options })).map(({ path, name }) => [path, name]);
  expect(paths({ for: Guestbook })).toEqual([
    ["/mutate-demo-binnacle-dev-v1-guestbook", "guestbook.demo.binnacle.dev"],
    ["/validate-demo-binnacle-dev-v1-guestbook", "guestbook.demo.binnacle.dev"],
  ]);
  expect(paths({ for: Pod })).toEqual([
    ["/mutate--v1-pod", "pod.core.binnacle.dev"],
    ["/validate--v1-pod", "pod.core.binnacle.dev"],
  ]);
  expect(paths({ for: Deployment, subresource: "scale" })[0]).toEqual([
    "/mutate-apps-v1-deployment-scale",
    "deployment-scale.apps.binnacle.dev",
  ]);
  expect(paths({ for: Pod, name: "limits.example.com" })[1]).toEqual([
    "/validate--v1-pod/limits-example-com",
    "limits.example.com",
  ]);
  expect(paths({ name: "raw", rules })[0]).toEqual(["/mutate/raw", "raw.binnacle.dev"]);
});

test("what is registered follows from the options", () => {
  const operations = ["CREATE", "DELETE"] as const;
  const [mutating, validating] = declared(
    define({ for: Guestbook, operations, default: validate, validate, timeoutSeconds: 3, failurePolicy: "Ignore" }),
  );
  const rule = { apiGroups: ["demo.binnacle.dev"], apiVersions: ["v1"], resources: ["guestbooks"], scope: "*" };
  expect(mutating).toMatchObject({ type: "mutating", rules: [{ ...rule, operations: ["CREATE"] }] });
  expect(mutating).toMatchObject({ reinvocationPolicy: "Never", timeoutSeconds: 3, failurePolicy: "Ignore" });
  expect(validating).toMatchObject({ type: "validating", rules: [{ ...rule, operations }], sideEffects: "None" });
  expect(validating!.reinvocationPolicy).toBeUndefined();
});

test("rules keep their own operations, without DELETE where default is asked", () => {
  const own = [{ ...rules[0]!, operations: ["DELETE"], scope: "Cluster" }, rules[0]!];
  const [mutating, validating] = declared(define({ name: "raw", rules: own, default: validate, validate }));
  expect(mutating!.rules.map((rule) => rule.operations)).toEqual([["CREATE", "UPDATE"]]);
  expect(validating!.rules.map((rule) => [rule.operations, rule.scope])).toEqual([
    [["DELETE"], "Cluster"],
    [["CREATE", "UPDATE"], "*"],
  ]);
});

function module(file: string, ...webhooks: readonly unknown[]) {
  return { file, definitions: collectDefinitions(webhooks) };
}

test("webhooks of one kind share a path as long as they are registered alike", () => {
  const one = defineWebhook({ for: ConfigMap, validate });
  const alike = defineWebhook({ for: ConfigMap, validate });
  const other = defineWebhook({ for: ConfigMap, validate, failurePolicy: "Ignore" });
  const named = defineWebhook({ for: ConfigMap, name: "other", validate, failurePolicy: "Ignore" });
  expect(() => checkConflicts([module("a.ts", one), module("b.ts", alike, named)])).not.toThrow();
  expect(() => checkConflicts([module("a.ts", one), module("b.ts", other)])).toThrow(
    "Two webhooks for ConfigMap differ in 'failurePolicy', in a.ts and in b.ts: give one of them a 'name'",
  );
  const twice = defineWebhook({ for: ConfigMap, name: "other", validate });
  expect(() => checkConflicts([module("a.ts", named, twice)])).toThrow(
    "Two webhooks are called 'other', twice in a.ts: rename one of them",
  );
});

test("what a webhook reads and uses is permitted, and its kind is not", async () => {
  const { permissionsOf } = await import("./module-definitions.ts");
  const { rulesOf } = await import("./rbac-rules.ts");
  const { allow } = await import("../controller/definition.ts");
  const reading = defineWebhook({ for: Pod, reads: [Deployment], uses: [allow(ConfigMap, "get")], validate });
  expect(rulesOf(permissionsOf(collectDefinitions([reading])))).toEqual([
    { apiGroup: "", resources: ["configmaps"], resourceNames: undefined, verbs: ["get"] },
    { apiGroup: "apps", resources: ["deployments"], resourceNames: undefined, verbs: ["get", "list", "watch"] },
  ]);
});
