/** Acting as somebody else. @see https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation */
import { goQuoted } from "../field-error.ts";
import type { UserInfo } from "../hooks.ts";
import { badRequest } from "../status.ts";

const extraPrefix = "impersonate-extra-";

/**
 * The user that the headers name; `undefined` when they name none.
 *
 * @throws StatusError 400 when there are groups, a uid or extras of nobody.
 */
export function impersonated(headers: Headers): UserInfo | undefined {
  const username = headers.get("impersonate-user") ?? "";
  const uid = headers.get("impersonate-uid") ?? "";
  const groups = valuesOf(headers.get("impersonate-group"));
  const extra = extrasOf(headers);
  const hasExtra = extra !== undefined;
  if (username === "") {
    if (uid === "" && groups.length === 0 && !hasExtra) return undefined;
    throw badRequest(`requested ${goUser({ uid, groups, extra: extra ?? {} })} without impersonating a user name`);
  }
  return {
    username,
    ...(uid !== "" && { uid }),
    groups: withOwnGroups(username, groups),
    ...(hasExtra && { extra }),
  };
}

/** The groups that a user is in by the name alone, after those that were named. */
function withOwnGroups(username: string, named: readonly string[]): readonly string[] {
  const account = /^system:serviceaccount:([^:]+):[^:]+$/.exec(username);
  const groups =
    account !== null && named.length === 0
      ? ["system:serviceaccounts", `system:serviceaccounts:${account[1]}`]
      : [...named];
  if (username === "system:anonymous") {
    if (!groups.includes("system:unauthenticated")) groups.push("system:unauthenticated");
  } else if (!groups.includes("system:authenticated") && !groups.includes("system:unauthenticated")) {
    groups.push("system:authenticated");
  }
  return groups;
}

function extrasOf(headers: Headers): Readonly<Record<string, readonly string[]>> | undefined {
  const extra: Record<string, readonly string[]> = {};
  for (const [name, value] of headers) {
    if (name.startsWith(extraPrefix)) extra[unescaped(name.slice(extraPrefix.length))] = valuesOf(value);
  }
  return Object.keys(extra).length === 0 ? undefined : extra;
}

function unescaped(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

function valuesOf(header: string | null): string[] {
  return (header ?? "").split(",").flatMap((value) => value.trim() || []);
}

function goUser({ uid, groups, extra = {} }: Omit<UserInfo, "username">): string {
  const list = (values: readonly string[]): string =>
    values.length === 0 ? "[]string(nil)" : `[]string{${values.map(goQuoted).join(", ")}}`;
  const pairs = Object.entries(extra).map(([name, values]) => `${goQuoted(name)}:${list(values)}`);
  const map = pairs.length === 0 ? "map[string][]string(nil)" : `map[string][]string{${pairs.join(", ")}}`;
  return `&user.DefaultInfo{Name:"", UID:${goQuoted(uid ?? "")}, Groups:${list(groups)}, Extra:${map}}`;
}
