/**
 * Translates the author's definitions to the API server's configuration: one webhook for each path.
 *
 * `manifests webhooks`, `--register-webhooks` and the routes of the listener all use this list, so that exactly what
 * is registered is served.
 */
import type { LabelSelector } from "../resource/builtin/meta.ts";
import type { Resource } from "../resource/handle.ts";
import { definitionOf } from "../resource/definition.ts";
import { pluralOf } from "../resource/names.ts";
import type { Operation } from "./admission-review.ts";
import type { AdmissionRule, AnyWebhook, MatchCondition } from "./definition.ts";

export type WebhookType = "mutating" | "validating";

/** A rule of `admissionregistration.k8s.io/v1`. */
export interface RegistrationRule {
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly resources: readonly string[];
  readonly operations: readonly (Operation | "*")[];
  readonly scope: "Cluster" | "Namespaced" | "*";
}

/** An entry of a MutatingWebhookConfiguration or a ValidatingWebhookConfiguration, without its `clientConfig`. */
export interface DeclaredWebhook {
  readonly type: WebhookType;
  /** The fully qualified name, with at least three segments. */
  readonly name: string;
  /** The path on the listener, such as `/validate-demo-binnacle-dev-v1-guestbook`. */
  readonly path: string;
  readonly rules: readonly RegistrationRule[];
  readonly objectSelector: LabelSelector | undefined;
  readonly namespaceSelector: LabelSelector | undefined;
  readonly matchConditions: readonly MatchCondition[];
  readonly matchPolicy: "Exact" | "Equivalent";
  readonly failurePolicy: "Fail" | "Ignore";
  /** Only for mutating webhooks. */
  readonly reinvocationPolicy: "Never" | "IfNeeded" | undefined;
  readonly timeoutSeconds: number;
  readonly sideEffects: "None" | "NoneOnDryRun";
  /** Whether it is only for a kind that a module defines, which no process needs in order to start. @default false */
  readonly isForOwnKind?: boolean | undefined;
}

const DEFAULT_TIMEOUT_SECONDS = 10;
/** Names of webhooks are domains of at least three segments. */
const DOMAIN = "binnacle.dev";
const DEFAULT_OPERATIONS: readonly Operation[] = ["CREATE", "UPDATE"];

/** Returns the webhook's own name: the author's, or the kind in lower case. */
export function webhookName(webhook: AnyWebhook): string {
  return webhook.name ?? webhook.for!.kind.toLowerCase();
}

/** Returns the operations of a webhook; `default` is not called for DELETE, which changes no object. */
export function operationsOf(webhook: AnyWebhook, type: WebhookType): readonly Operation[] {
  const { operations = DEFAULT_OPERATIONS } = webhook;
  return type === "mutating" ? operations.filter((operation) => operation !== "DELETE") : operations;
}

/** Returns the entries of one definition: one for `default` and one for `validate`. */
export function declaredWebhooks(webhook: AnyWebhook): readonly DeclaredWebhook[] {
  const types: WebhookType[] = [];
  if (webhook.default !== undefined) types.push("mutating");
  if (webhook.validate !== undefined) types.push("validating");
  return types.map((type) => ({
    type,
    name: qualifiedName(webhook),
    path: pathOf(webhook, type),
    rules: rulesOf(webhook, type),
    objectSelector: webhook.objectSelector,
    namespaceSelector: webhook.namespaceSelector,
    matchConditions: webhook.matchConditions ?? [],
    matchPolicy: webhook.matchPolicy ?? "Equivalent",
    failurePolicy: webhook.failurePolicy ?? "Fail",
    reinvocationPolicy: type === "mutating" ? (webhook.reinvocationPolicy ?? "Never") : undefined,
    timeoutSeconds: webhook.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS,
    sideEffects: webhook.sideEffects ?? "None",
    isForOwnKind: definitionOf(webhook.for) !== undefined,
  }));
}

/** Returns each path once, in the order of the definitions; definitions that share a path are one entry. */
export function declaredByPath(webhooks: Iterable<AnyWebhook>): ReadonlyMap<string, DeclaredWebhook> {
  const entries = new Map<string, DeclaredWebhook>();
  for (const webhook of webhooks) {
    for (const declared of declaredWebhooks(webhook)) {
      if (!entries.has(declared.path)) entries.set(declared.path, declared);
    }
  }
  return entries;
}

/** Returns why two definitions cannot share a path; `undefined` when they are registered in the same way. */
export function sharingProblem(one: DeclaredWebhook, other: DeclaredWebhook): string | undefined {
  for (const option of Object.keys(one) as (keyof DeclaredWebhook)[]) {
    if (JSON.stringify(one[option]) !== JSON.stringify(other[option])) return option;
  }
  return undefined;
}

/** Names a path as kubebuilder does: `/mutate--v1-pod` for the core group. */
function pathOf(webhook: AnyWebhook, type: WebhookType): string {
  const { for: resource, subresource, name } = webhook;
  const verb = type === "mutating" ? "mutate" : "validate";
  const own = name?.replaceAll(".", "-");
  if (resource === undefined) return `/${verb}/${own}`;
  const { group, version, kind } = resource;
  const of = `/${verb}-${group.replaceAll(".", "-")}-${version}-${kind.toLowerCase()}`;
  const path = subresource === undefined ? of : `${of}-${String(subresource)}`;
  return own === undefined ? path : `${path}/${own}`;
}

function qualifiedName(webhook: AnyWebhook): string {
  const { for: resource, subresource, name } = webhook;
  const own = name ?? unnamed(resource!, subresource);
  return own.split(".").length < 3 ? `${own}.${DOMAIN}` : own;
}

function unnamed({ kind, group }: Resource, subresource: string | undefined): string {
  const what = subresource === undefined ? kind : `${kind}-${subresource}`;
  return `${what.toLowerCase()}.${group === "" ? "core" : group}`;
}

function rulesOf(webhook: AnyWebhook, type: WebhookType): readonly RegistrationRule[] {
  const { for: resource, subresource, rules } = webhook;
  const operations = operationsOf(webhook, type);
  if (resource === undefined) return (rules ?? []).flatMap((rule) => ruleOf(rule, operations, type));
  // Without a cluster the plural of a handle of `resource()` is unknown, so it follows from the kind by convention.
  const plural = resource.plural ?? pluralOf(resource.kind.toLowerCase());
  return [
    {
      apiGroups: [resource.group],
      apiVersions: [resource.version],
      resources: [subresource === undefined ? plural : `${plural}/${String(subresource)}`],
      operations,
      scope: "*",
    },
  ];
}

function ruleOf(rule: AdmissionRule, defaults: readonly Operation[], type: WebhookType): readonly RegistrationRule[] {
  const { apiGroups, apiVersions, resources, scope = "*" } = rule;
  const own = rule.operations ?? defaults;
  const operations = type === "mutating" ? own.filter((operation) => operation !== "DELETE") : own;
  return operations.length === 0 ? [] : [{ apiGroups, apiVersions, resources, operations, scope }];
}
