/** Identifies the sender of a request. */
import type { UserInfo } from "../hooks.ts";
import { StatusError } from "../status.ts";
import type { TokenAuthority } from "./tokens.ts";

/** The connection on which a request arrived. */
export interface Connection {
  /** The user of the verified client certificate. */
  readonly certificate?: UserInfo | undefined;
  /** Whether the client has a certificate that no accepted authority signed. */
  readonly isForeign?: boolean | undefined;
  /**
   * Whether the connection sends headers only together with the first byte of the body, so that a watch must begin with
   * a byte of its own.
   */
  readonly holdsHeaders?: boolean | undefined;
}

/** The sender of a request without credentials. */
const anonymous: UserInfo = { username: "system:anonymous", groups: ["system:unauthenticated"] };

/** The paths that need no credentials; the role `system:public-info-viewer` names the same ones. */
const open: ReadonlySet<string> = new Set(["/healthz", "/livez", "/readyz", "/version", "/version/"]);

interface IdentifyOptions {
  readonly tokens: TokenAuthority;
  readonly connection: Connection;
  readonly path: string;
  /** Whether requests without credentials are authorized as those of an anonymous user, whatever their path. */
  readonly admitsAnonymous: boolean;
}

/**
 * Returns the user whom the request's credentials name; a client certificate takes precedence over a token.
 *
 * @throws StatusError 401 when there are no credentials, or an unknown token.
 */
export function identify(request: Request, { tokens, connection, path, admitsAnonymous }: IdentifyOptions): UserInfo {
  if (connection.certificate !== undefined) return connection.certificate;
  const token = /^bearer\s+(\S+)$/i.exec(request.headers.get("authorization") ?? "")?.[1];
  const isOpen = (admitsAnonymous && connection.isForeign !== true) || open.has(path);
  const user = token === undefined ? (isOpen ? anonymous : undefined) : tokens.user(token);
  if (user === undefined) throw new StatusError(401, "Unauthorized", { message: "Unauthorized" });
  return user;
}
