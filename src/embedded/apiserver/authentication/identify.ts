/** Who sends a request. */
import type { UserInfo } from "../hooks.ts";
import { StatusError } from "../status.ts";
import type { TokenAuthority } from "./tokens.ts";

/** What is known of the connection that a request came on. */
export interface Connection {
  /** The verified client certificate's user. */
  readonly certificate?: UserInfo | undefined;
  /** Headers go out with the first byte of the body and not before: a watch has to begin with one. */
  readonly holdsHeaders?: boolean | undefined;
}

const anonymous: UserInfo = { username: "system:anonymous", groups: ["system:unauthenticated"] };

/** What may be asked without credentials; the role `system:public-info-viewer` names the same paths. */
const open: ReadonlySet<string> = new Set(["/healthz", "/livez", "/readyz", "/version", "/version/"]);

interface IdentifyOptions {
  readonly tokens: TokenAuthority;
  readonly connection: Connection;
  readonly path: string;
}

/**
 * The user that the request's credentials name: the client certificate before the token.
 *
 * @throws StatusError 401 when there are none, or a token that nobody gave out.
 */
export function identify(request: Request, { tokens, connection, path }: IdentifyOptions): UserInfo {
  if (connection.certificate !== undefined) return connection.certificate;
  const token = /^bearer\s+(\S+)$/i.exec(request.headers.get("authorization") ?? "")?.[1];
  const user = token === undefined ? (open.has(path) ? anonymous : undefined) : tokens.user(token);
  if (user === undefined) throw new StatusError(401, "Unauthorized", { message: "Unauthorized" });
  return user;
}
