/**
 * Serves the documents that other programs need to verify service account tokens. @see
 * https://openid.net/specs/openid-connect-discovery-1_0.html
 */
import type { TokenAuthority } from "../authentication/tokens.ts";
import { acceptsOnly } from "../request/accept.ts";
import { answerJson } from "../request/answer.ts";
import { methodNotAllowed } from "../status.ts";

export interface OpenIdOptions {
  readonly tokens: TokenAuthority;
  /** The address `host:port` under which clients reach the server. */
  readonly address: string;
}

export const openIdPaths = { configuration: "/.well-known/openid-configuration", keys: "/openid/v1/jwks" };

const keyType = "application/jwk-set+json";
const cache = { "cache-control": "public, max-age=3600" };

/** Serves the two documents of OpenID; `undefined` for any other path. @throws StatusError 405 or 406 */
export function openId(request: Request, path: string, { tokens, address }: OpenIdOptions): Response | undefined {
  const bare = path.replace(/(?<!\/)\/+$/, "");
  const isKeys = bare === openIdPaths.keys;
  if (!isKeys && bare !== openIdPaths.configuration) return undefined;
  if (request.method !== "GET") throw methodNotAllowed();
  acceptsOnly(request.headers.get("accept"), isKeys ? keyType : "application/json");
  if (isKeys)
    return answerJson(request, Buffer.from(JSON.stringify({ keys: tokens.issuer.publicKeys })), {
      headers: { ...cache, "content-type": keyType },
    });
  const { issuer, keysUrl, publicKeys } = tokens.issuer;
  const configuration = {
    issuer,
    jwks_uri: keysUrl ?? `https://${address}${openIdPaths.keys}`,
    response_types_supported: ["id_token"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: [...new Set(publicKeys.map(({ alg }) => alg))].toSorted(),
  };
  return answerJson(request, Buffer.from(JSON.stringify(configuration)), { headers: cache });
}
