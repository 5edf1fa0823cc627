/** Requires that the author of a policy with parameters may read these parameters. */
import type { FieldError } from "../field-error.ts";
import type { Attributes, Fields, KubeObject, UserInfo, WriteContext } from "../hooks.ts";
import { inner } from "../validation/fill.ts";
import { superusers } from "./authorizer.ts";

/** Returns the plural of a kind; `undefined` when it is not served. */
export type ResolveKind = (kind: { readonly apiVersion: string; readonly kind: string }) => string | undefined;

interface ParamKind {
  readonly apiVersion: string;
  readonly kind: string;
}

interface ParamRef {
  readonly name?: string;
  readonly namespace?: string;
}

interface PolicyWrite {
  readonly next: KubeObject;
  readonly old: KubeObject | undefined;
  readonly context: WriteContext;
  readonly resolve: ResolveKind;
}

/** Returns the errors of an otherwise valid policy or binding. */
export function policyAccess(write: PolicyWrite): readonly FieldError[] {
  const { next, context } = write;
  if (context.user.groups.includes(superusers)) return [];
  const isBinding = next.kind.endsWith("Binding");
  const why = isBinding ? bindingProblem(write) : policyProblem(write);
  const field = isBinding ? "spec.paramRef" : "spec.paramKind";
  return why === undefined ? [] : [{ type: "Forbidden", field, detail: why }];
}

function policyProblem({ next, old, context, resolve }: PolicyWrite): string | undefined {
  const kind = paramKindOf(next);
  const before = old && paramKindOf(old);
  if (kind === undefined || (kind.apiVersion === before?.apiVersion && kind.kind === before.kind)) return undefined;
  const about = { ...target(kind, resolve), verb: "get", namespace: "*", name: "*" };
  if (allows(context, about)) return undefined;
  const needed = `must have "get" permission on all objects of the referenced paramKind`;
  return `user ${description(context.user)} ${needed} (kind=${kind.kind}, apiVersion=${kind.apiVersion})`;
}

function bindingProblem({ next, context, resolve }: PolicyWrite): string | undefined {
  const spec = inner(next, "spec");
  const reference = spec["paramRef"] as ParamRef | undefined;
  if (!reference) return undefined;
  const name = String(spec["policyName"] ?? "");
  const { plural, group } = policiesOf(next);
  const policy = context.reader.get({ group, plural }, { name });
  const kind = policy && paramKindOf(policy);
  const kindTarget = kind === undefined ? anything : target(kind, resolve);
  const verb = reference.name ? "get" : "list";
  const { name: param = "", namespace = "" } = reference;
  if (allows(context, { ...kindTarget, verb, namespace, name: param })) return undefined;
  const user = description(context.user);
  const instead = `to determine minimum required permissions and user ${user} does not have "${verb}" permission for all groups, versions and resources`;
  if (policy === undefined) return `unable to get policy ${name} ${instead}`;
  if (kind !== undefined && kindTarget.resource === "*")
    return `unable to resolve paramKind &{${kind.apiVersion} ${kind.kind}} ${instead}`;
  // For mutating policies the real server swaps user and verb.
  const [who, what] = next.kind.startsWith("Mutating") ? [verb, user] : [user, verb];
  return `user ${who} does not have "${what}" permission on the object referenced by paramRef`;
}

function paramKindOf(policy: KubeObject): ParamKind | undefined {
  return inner(policy, "spec")["paramKind"] as ParamKind | undefined;
}

function policiesOf({ kind, apiVersion }: KubeObject): { readonly plural: string; readonly group: string } {
  const plural = kind
    .replace(/Binding$/, "")
    .toLowerCase()
    .replace(/y$/, "ies");
  return { plural, group: apiVersion.split("/")[0] ?? "" };
}

const anything = { group: "*", resource: "*" };

function target(kind: ParamKind, resolve: ResolveKind): { readonly group: string; readonly resource: string } {
  const slash = kind.apiVersion.indexOf("/");
  return { group: slash < 0 ? "" : kind.apiVersion.slice(0, slash), resource: resolve(kind) ?? "*" };
}

function allows(
  { authorizer, user }: WriteContext,
  about: Pick<Attributes, "verb" | "group" | "resource" | "namespace" | "name">,
): boolean {
  return authorizer.authorize({ user, isResource: true, path: "", subresource: "", ...about }).allowed;
}

/** Formats a user as Go prints it. */
function description({ username, uid = "", groups, extra = {} }: UserInfo): string {
  const entries = Object.keys(extra as Fields)
    .toSorted()
    .map((key) => `${key}:[${(extra[key] ?? []).join(" ")}]`);
  return `&{${username} ${uid} [${groups.join(" ")}] map[${entries.join(" ")}]}`;
}
