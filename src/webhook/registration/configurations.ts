/** Makes the webhook configurations, which name the webhooks for the API server. */
import {
  MutatingWebhookConfiguration,
  type MutatingWebhook,
  ValidatingWebhookConfiguration,
  type ValidatingWebhook,
} from "../../resource/builtin/admissionregistration.ts";
import type { LabelSelector } from "../../resource/builtin/meta.ts";
import type { Desired, Resource } from "../../resource/handle.ts";
import type { DeclaredWebhook, RegistrationRule } from "../declared-webhook.ts";

/** How the API server reaches the listener. */
export type WebhookTarget =
  | { readonly service: { readonly namespace: string; readonly name: string; readonly port: number } }
  /** A URL such as `https://172.18.0.1:9443`, without a path. */
  | { readonly url: string };

/** The Leases of an election: one with this name, or those whose names begin with it and a dash. */
export interface OwnLeases {
  readonly namespace: string;
  readonly id: string;
}

export interface ConfigurationOptions {
  /** The name of both configurations. */
  readonly name: string;
  readonly target: WebhookTarget;
  /** The authorities (PEM). Without them somebody else injects the authorities, and injected ones are kept. */
  readonly authorities?: string | undefined;
  /**
   * Namespaces of the listener, whose objects the webhooks never receive. Exceptions are kinds of the modules, and
   * webhooks whose own selector refers to names of namespaces.
   */
  readonly ownNamespaces: readonly string[];
  /** The Leases of the process, which the webhooks never receive. @default none */
  readonly ownLeases?: OwnLeases | undefined;
  /** Overrides the failure policy of the webhooks. @default as declared */
  readonly failurePolicy?: "Ignore" | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

type ShapeOf<R> = R extends Resource<infer S> ? S : never;
export type MutatingConfiguration = Desired<ShapeOf<typeof MutatingWebhookConfiguration>>;
export type ValidatingConfiguration = Desired<ShapeOf<typeof ValidatingWebhookConfiguration>>;

/** Both configurations; the one of a type without webhooks is empty. */
export interface Configurations {
  readonly mutating: MutatingConfiguration & { readonly webhooks: readonly MutatingWebhook[] };
  readonly validating: ValidatingConfiguration & { readonly webhooks: readonly ValidatingWebhook[] };
}

/** Kubernetes puts this label on every namespace. */
const NAMESPACE_NAME = "kubernetes.io/metadata.name";
const LEASES = { group: "coordination.k8s.io", resource: "leases" } as const;
const IS_LEASE = `request.resource.group == "${LEASES.group}" && request.resource.resource == "${LEASES.resource}"`;
const NOT_LEASES = { name: "exclude-leases", expression: `!(${IS_LEASE})` } as const;

/**
 * Returns the configurations for these webhooks, each for the requests that it declares.
 *
 * Two kinds of requests are excluded, so that a listener that is down cannot prevent its own restart: requests for
 * objects in its own namespaces that are not of the modules' kinds, and requests for Leases (for all Leases if a rule
 * covers them without naming them, and always for those of the process).
 */
export function configurationsOf(declared: Iterable<DeclaredWebhook>, options: ConfigurationOptions): Configurations {
  const mutating: MutatingWebhook[] = [];
  const validating: ValidatingWebhook[] = [];
  const names = { mutating: new Set<string>(), validating: new Set<string>() };
  for (const webhook of declared) {
    // A rule only for DELETE leaves nothing for a webhook that changes objects.
    if (webhook.rules.length === 0) continue;
    const entry = entryOf(webhook, { ...options, name: unused(webhook.name, names[webhook.type]) });
    if (webhook.type === "validating") validating.push(entry);
    else mutating.push({ ...entry, reinvocationPolicy: webhook.reinvocationPolicy ?? "Never" });
  }
  const metadata = {
    name: options.name,
    ...(options.labels !== undefined && { labels: options.labels }),
    ...(options.annotations !== undefined && { annotations: options.annotations }),
  };
  const { apiVersion } = ValidatingWebhookConfiguration;
  return {
    mutating: { apiVersion, kind: MutatingWebhookConfiguration.kind, metadata, webhooks: mutating },
    validating: { apiVersion, kind: ValidatingWebhookConfiguration.kind, metadata, webhooks: validating },
  };
}

function entryOf(webhook: DeclaredWebhook, options: ConfigurationOptions): ValidatingWebhook {
  const namespaceSelector = selectorOf(webhook, leftOut(webhook, options.ownNamespaces));
  const matchConditions = conditionsOf(webhook, options.ownLeases);
  return {
    name: options.name,
    clientConfig: clientConfigOf(webhook.path, options),
    rules: webhook.rules,
    failurePolicy: options.failurePolicy ?? webhook.failurePolicy,
    matchPolicy: webhook.matchPolicy,
    ...(namespaceSelector !== undefined && { namespaceSelector }),
    ...(webhook.objectSelector !== undefined && { objectSelector: webhook.objectSelector }),
    ...(matchConditions.length > 0 && { matchConditions }),
    sideEffects: webhook.sideEffects,
    timeoutSeconds: webhook.timeoutSeconds,
    admissionReviewVersions: ["v1", "v1beta1"],
  };
}

/** Returns the address at which the API server calls a path, and the authorities that it trusts there. */
export function clientConfigOf(
  path: string,
  { target, authorities }: Pick<ConfigurationOptions, "target" | "authorities">,
): ValidatingWebhook["clientConfig"] {
  return {
    ...("url" in target ? { url: `${target.url}${path}` } : { service: { ...target.service, path } }),
    ...(authorities !== undefined && { caBundle: caBundleOf(authorities) }),
  };
}

/** Returns the name of both configurations of an installation, from its Service, which no other installation has. */
export function registrationName({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${name}.${namespace}`;
}

/** Encodes authorities for `caBundle`. */
export function caBundleOf(authorities: string): string {
  return Buffer.from(authorities, "utf8").toString("base64");
}

/** Makes a name unique in its configuration: the second webhook with a name gets a number. */
function unused(name: string, taken: Set<string>): string {
  let free = name;
  for (let number = 2; taken.has(free); number++) free = `${number}.${name}`;
  taken.add(free);
  return free;
}

/** Returns the namespaces whose objects a webhook never receives, although it does not declare that. */
export function leftOut(
  { namespaceSelector, rules, isForOwnKind = false }: DeclaredWebhook,
  ownNamespaces: readonly string[],
): readonly string[] {
  const isInNamespaces = rules.some(({ scope }) => scope !== "Cluster");
  return isForOwnKind || !isInNamespaces || speaksOfNames(namespaceSelector) ? [] : ownNamespaces;
}

function selectorOf(
  { namespaceSelector }: DeclaredWebhook,
  ownNamespaces: readonly string[],
): LabelSelector | undefined {
  if (ownNamespaces.length === 0) return namespaceSelector;
  const notOwn = { key: NAMESPACE_NAME, operator: "NotIn", values: ownNamespaces };
  return { ...namespaceSelector, matchExpressions: [...(namespaceSelector?.matchExpressions ?? []), notOwn] };
}

function speaksOfNames(selector: LabelSelector | undefined): boolean {
  if (selector === undefined) return false;
  return (
    Object.hasOwn(selector.matchLabels ?? {}, NAMESPACE_NAME) ||
    (selector.matchExpressions ?? []).some(({ key }) => key === NAMESPACE_NAME)
  );
}

function conditionsOf(
  { rules, matchConditions }: DeclaredWebhook,
  own: OwnLeases | undefined,
): DeclaredWebhook["matchConditions"] {
  const names = rules.some((rule) => rule.resources.includes(LEASES.resource));
  if (!names) return rules.some(reachesLeases) ? [...matchConditions, NOT_LEASES] : matchConditions;
  if (own === undefined) return matchConditions;
  const isOwn = `(request.name == "${own.id}" || request.name.startsWith("${own.id}-"))`;
  const expression = `!(${IS_LEASE} && request.namespace == "${own.namespace}" && ${isOwn})`;
  return [...matchConditions, { name: "exclude-own-leases", expression }];
}

function reachesLeases({ apiGroups, resources }: RegistrationRule): boolean {
  const hasGroup = apiGroups.includes("*") || apiGroups.includes(LEASES.group);
  return hasGroup && (resources.includes("*") || resources.includes("*/*"));
}
