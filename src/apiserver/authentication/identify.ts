/** Who sends a request. */
import type { UserInfo } from "../hooks.ts";
import { StatusError } from "../status.ts";
import { impersonated } from "./impersonate.ts";
import type { TokenAuthority } from "./tokens.ts";

/** What is known of the connection that a request came on. */
export interface Connection {
  /** The verified client certificate's user. */
  readonly certificate?: UserInfo | undefined;
  /** Headers go out with the first byte of the body and not before: a watch has to begin with one. */
  readonly holdsHeaders?: boolean | undefined;
}

const anonymous: UserInfo = { username: "system:anonymous", groups: ["system:unauthenticated"] };

interface IdentifyOptions {
  readonly tokens: TokenAuthority;
  readonly connection: Connection;
}

/** @throws StatusError 401 for a token that nobody gave out, 400 for an impersonation of nobody. */
export function identify(request: Request, { tokens, connection }: IdentifyOptions): UserInfo {
  const user = authenticated(request, { tokens, connection });
  return impersonated(request.headers) ?? user;
}

function authenticated(request: Request, { tokens, connection }: IdentifyOptions): UserInfo {
  const authorization = request.headers.get("authorization") ?? "";
  const token = /^bearer\s+(\S+)$/i.exec(authorization)?.[1];
  if (token !== undefined) {
    const user = tokens.user(token);
    if (user !== undefined) return user;
    if (connection.certificate !== undefined) return connection.certificate;
    throw new StatusError(401, "Unauthorized", { message: "Unauthorized" });
  }
  return connection.certificate ?? anonymous;
}
