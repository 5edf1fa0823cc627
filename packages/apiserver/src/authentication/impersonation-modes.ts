/**
 * The permissions under which one user may act as another: only as a node or an account, as any user with constrained
 * attributes, or as anyone with the older verb `impersonate`.
 *
 * @see https://kep.k8s.io/5284
 */
import { accessForbidden } from "../authorization/forbidden.ts";
import { goQuoted } from "../field-error.ts";
import type { Attributes, Authorizer, UserInfo } from "../hooks.ts";
import { StatusError } from "../status.ts";
import { dnsLabel, dnsSubdomain } from "../validation/formats.ts";

/** The way in which a user may act as another; `undefined` stands for the older verb `impersonate`. */
type Mode = "associated-node" | "arbitrary-node" | "serviceaccount" | "user-info" | undefined;

const modes: readonly Mode[] = ["associated-node", "arbitrary-node", "serviceaccount", "user-info", undefined];

const authenticationGroup = "authentication.k8s.io";

/** From this number of attributes on, one check covers all of them before each is checked. */
const many = 4;

/** For how many senders the last mode is remembered. */
const mostSenders = 10_000;

export class ImpersonationModes {
  readonly #authorizer: Authorizer;
  /** The mode that last succeeded, by the sender's name; it is tried first. */
  readonly #last = new Map<string, Mode>();

  constructor(authorizer: Authorizer) {
    this.#authorizer = authorizer;
  }

  /** Returns the impersonated user. @throws StatusError 403, the error of the first mode. */
  user(target: UserInfo, request: Attributes): UserInfo {
    const { username } = request.user;
    const last = this.#last.has(username) ? [this.#last.get(username)] : [];
    let first: StatusError | undefined;
    for (const mode of new Set([...last, ...modes])) {
      if (!applies(mode, target, request.user)) continue;
      try {
        const user = this.#inMode(mode, target, request);
        if (this.#last.size >= mostSenders) this.#last.clear();
        this.#last.set(username, mode);
        return user;
      } catch (error) {
        if (!(error instanceof StatusError)) throw error;
        first ??= error;
      }
    }
    throw first ?? new Error("no way of impersonation applies");
  }

  #inMode(mode: Mode, target: UserInfo, request: Attributes): UserInfo {
    if (mode !== undefined) this.#check({ ...request, verb: `impersonate-on:${mode}:${request.verb}` });
    const verb = mode === undefined ? "impersonate" : `impersonate:${mode}`;
    const group = mode === undefined ? "" : authenticationGroup;
    const question: Attributes = { ...none, user: request.user, verb, group };
    const account = accountOf(target.username);
    const node = mode === undefined ? undefined : nodeOf(target.username);
    const groups = [...target.groups];
    if (account !== undefined) {
      if (groups.length === 0) groups.push("system:serviceaccounts", `system:serviceaccounts:${account.namespace}`);
      this.#check({ ...question, resource: "serviceaccounts", ...account });
    } else if (node !== undefined) {
      groups.push("system:nodes");
      this.#check({ ...question, resource: "nodes", name: mode === "associated-node" ? "*" : node });
    } else this.#check({ ...question, resource: "users", name: target.username });
    if (target.uid) this.#check({ ...question, group: authenticationGroup, resource: "uids", name: target.uid });
    this.#checkGroups(target.groups, { ...question, resource: "groups" }, mode);
    this.#checkExtra(target.extra ?? {}, { ...question, group: authenticationGroup, resource: "userextras" }, mode);
    return { ...target, groups: withOwn(target.username, groups) };
  }

  #checkGroups(groups: readonly string[], question: Attributes, mode: Mode): void {
    if (mode !== undefined && groups.includes("system:masters")) {
      const name = "system:masters";
      throw accessForbidden({ ...question, name }, "impersonating the system:masters group is not allowed");
    }
    if (mode !== undefined && groups.length >= many && this.#allows({ ...question, name: "*" })) return;
    for (const name of groups) this.#check({ ...question, name });
  }

  #checkExtra(extra: Readonly<Record<string, readonly string[]>>, question: Attributes, mode: Mode): void {
    const entries = Object.entries(extra);
    if (mode !== undefined) {
      const problem = entries.map(([key, values]) => extraProblem(key, values)).find(Boolean);
      if (problem !== undefined) throw accessForbidden(question, problem);
      const count = entries.reduce((sum, [, values]) => sum + values.length, 0);
      if (Math.max(count, entries.length) >= many && this.#allows({ ...question, subresource: "*", name: "*" })) return;
    }
    for (const [subresource, values] of entries) {
      for (const name of values) this.#check({ ...question, subresource, name });
    }
  }

  #allows(attributes: Attributes): boolean {
    return this.#authorizer.authorize(attributes).allowed;
  }

  #check(attributes: Attributes): void {
    const { allowed, reason } = this.#authorizer.authorize(attributes);
    if (!allowed) throw accessForbidden(attributes, reason);
  }
}

const none: Omit<Attributes, "user" | "verb"> = {
  isResource: true,
  path: "",
  group: "",
  resource: "",
  subresource: "",
  namespace: "",
  name: "",
};

function applies(mode: Mode, target: UserInfo, sender: UserInfo): boolean {
  const node = nodeOf(target.username);
  const account = accountOf(target.username);
  if (mode === undefined) return true;
  if (mode === "user-info") return node === undefined && account === undefined;
  const isNameAlone = !target.uid && target.groups.length === 0 && Object.keys(target.extra ?? {}).length === 0;
  if (!isNameAlone) return false;
  if (mode === "serviceaccount") return account !== undefined;
  if (node === undefined || mode === "arbitrary-node") return node !== undefined;
  const [itsNode, ...others] = sender.extra?.["authentication.kubernetes.io/node-name"] ?? [];
  return accountOf(sender.username) !== undefined && itsNode === node && others.length === 0;
}

function accountOf(username: string): { readonly namespace: string; readonly name: string } | undefined {
  const [, namespace, name] = /^system:serviceaccount:([^:]*):([^:]*)$/.exec(username) ?? [];
  if (namespace === undefined || name === undefined) return undefined;
  return dnsLabel(namespace).length > 0 || dnsSubdomain(name).length > 0 ? undefined : { namespace, name };
}

function nodeOf(username: string): string | undefined {
  const name = /^system:node:(.*)$/s.exec(username)?.[1];
  return name === undefined || dnsSubdomain(name).length > 0 ? undefined : name;
}

/** Adds the groups that follow from the name to the given ones. */
function withOwn(username: string, groups: readonly string[]): readonly string[] {
  const own = username === "system:anonymous" ? "system:unauthenticated" : "system:authenticated";
  return groups.includes(own) || groups.includes("system:unauthenticated") ? groups : [...groups, own];
}

function extraProblem(key: string, values: readonly string[]): string | undefined {
  if (key === "") return "impersonating the empty string key in extra is not allowed";
  const [, host = "", path = ""] = /^([^/]*)\/(.*)$/s.exec(key) ?? [];
  const problem =
    host === "" || path === ""
      ? `${goQuoted(key)}: must be a domain-prefixed path (such as "acme.io/foo")`
      : dnsSubdomain(host).map((text) => `${goQuoted(host)}: ${text}`)[0];
  if (problem !== undefined) {
    return `impersonating an invalid key in extra is not allowed: extra.key: Invalid value: ${problem}`;
  }
  return values.length === 0 ? "impersonating empty values in extra is not allowed" : undefined;
}
