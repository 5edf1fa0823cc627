/**
 * Impersonation of other users. @see
 * https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation
 */
import { goQuoted } from "../field-error.ts";
import type { Attributes, Authorizer, UserInfo } from "../hooks.ts";
import { badRequest } from "../status.ts";
import { ImpersonationModes } from "./impersonation-modes.ts";

const extraPrefix = "impersonate-extra-";

export class Impersonation {
  readonly #modes: ImpersonationModes;

  constructor(authorizer: Authorizer) {
    this.#modes = new ImpersonationModes(authorizer);
  }

  /**
   * Returns the user whom the headers name; `undefined` when they name none.
   *
   * @param attributes returns the attributes of the sender's request.
   * @throws StatusError 400 when there are groups, a uid or extras without a user, 403 when the sender may not
   * impersonate that user.
   */
  user(headers: Headers, attributes: () => Attributes): UserInfo | undefined {
    const impersonated = wantedUser(headers);
    return impersonated && this.#modes.user(impersonated, attributes());
  }
}

/** Returns the user as the headers describe it, without the groups that follow from the name. */
function wantedUser(headers: Headers): UserInfo | undefined {
  const username = headers.get("impersonate-user") ?? "";
  const uid = headers.get("impersonate-uid") ?? "";
  const groups = valuesOf(headers.get("impersonate-group"));
  const extra = extrasOf(headers);
  if (username === "") {
    if (uid === "" && groups.length === 0 && extra === undefined) return undefined;
    throw badRequest(`requested ${goUser({ uid, groups, extra: extra ?? {} })} without impersonating a user name`);
  }
  return { username, ...(uid !== "" && { uid }), groups, ...(extra !== undefined && { extra }) };
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
