/** Identifies the sender of a request. */
import type { UserInfo } from "../hooks.ts";
import { StatusError } from "../status.ts";
import type { TokenAuthority } from "./tokens.ts";

/** The connection on which a request arrived. */
export interface Connection {
  /** The user of the verified client certificate. */
  readonly certificate?: UserInfo | undefined;
  /**
   * Whether the connection sends headers only together with the first byte of the body, so that a watch must begin with
   * a byte of its own.
   */
  readonly holdsHeaders?: boolean | undefined;
}

const anonymous: UserInfo = { username: "system:anonymous", groups: ["system:unauthenticated"] };

/** The paths that need no credentials; the role `system:public-info-viewer` names the same ones. */
const open: ReadonlySet<string> = new Set(["/healthz", "/livez", "/readyz", "/version", "/version/"]);

interface IdentifyOptions {
  readonly tokens: TokenAuthority;
  readonly connection: Connection;
  readonly path: string;
}

/**
 * Returns the user whom the request's credentials name; a client certificate takes precedence over a token.
 *
 * @throws StatusError 401 when there are no credentials, or an unknown token.
 */
export function identify(request: Request, { tokens, connection, path }: IdentifyOptions): UserInfo {
  if (connection.certificate !== undefined) return connection.certificate;
  const token = /^bearer\s+(\S+)$/i.exec(request.headers.get("authorization") ?? "")?.[1];
  const user = token === undefined ? (open.has(path) ? anonymous : undefined) : tokens.user(token);
  if (user === undefined) throw new StatusError(401, "Unauthorized", { message: "Unauthorized" });
  return user;
}
