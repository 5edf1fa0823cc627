/** Tokens: those that were given out beforehand and those that service accounts get. */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Reader, UserInfo } from "../hooks.ts";

export interface TokenAuthorityOptions {
  /** Signs service account tokens; the same over restarts, or they end with the process. @default random */
  readonly secret?: Uint8Array | undefined;
  /** Users by token. */
  readonly users?: ReadonlyMap<string, UserInfo> | undefined;
  /** Finds the account, and the pod that a token is bound to: it ends with them. */
  readonly reader: Pick<Reader, "get">;
  /** In milliseconds. */
  readonly now: () => number;
}

export interface TokenClaims {
  readonly aud: readonly string[];
  readonly exp: number;
  readonly iat: number;
  readonly nbf: number;
  readonly iss: string;
  readonly sub: string;
  readonly jti: string;
  readonly "kubernetes.io": {
    readonly namespace: string;
    readonly serviceaccount: { readonly name: string; readonly uid: string };
    readonly pod?: { readonly name: string; readonly uid: string };
  };
}

export const issuer = "https://kubernetes.default.svc";

export class TokenAuthority {
  readonly #secret: Uint8Array;
  readonly #users: ReadonlyMap<string, UserInfo>;
  readonly #reader: Pick<Reader, "get">;
  readonly #now: () => number;

  constructor({ secret, users, reader, now }: TokenAuthorityOptions) {
    this.#secret = secret ?? randomBytes(32);
    this.#users = users ?? new Map();
    this.#reader = reader;
    this.#now = now;
  }

  /** A signed token with these claims. */
  issue(claims: TokenClaims): string {
    const content = `${encoded({ alg: "HS256", typ: "JWT" })}.${encoded(claims)}`;
    return `${content}.${this.#signature(content)}`;
  }

  /**
   * Whom a token stands for; `undefined` when nobody.
   *
   * @param audiences one of which it must have been made for. @default the server itself
   */
  user(token: string, audiences: readonly string[] = [issuer]): UserInfo | undefined {
    return this.#users.get(token) ?? this.#account(token, audiences);
  }

  /** What a service account's token says; `undefined` when it is none, or no longer one. */
  claims(token: string): TokenClaims | undefined {
    const dot = token.lastIndexOf(".");
    if (dot < 0) return undefined;
    const given = Buffer.from(token.slice(dot + 1));
    const expected = Buffer.from(this.#signature(token.slice(0, dot)));
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
    const claims = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as TokenClaims;
    return claims.exp * 1000 > this.#now() ? claims : undefined;
  }

  #account(token: string, audiences: readonly string[]): UserInfo | undefined {
    const claims = this.claims(token);
    if (claims === undefined || !claims.aud.some((audience) => audiences.includes(audience))) return undefined;
    const { namespace, serviceaccount, pod } = claims["kubernetes.io"];
    const isThere = (plural: string, { name, uid }: { readonly name: string; readonly uid: string }): boolean =>
      this.#reader.get({ group: "", plural }, { namespace, name })?.metadata.uid === uid;
    if (!isThere("serviceaccounts", serviceaccount) || (pod !== undefined && !isThere("pods", pod))) return undefined;
    const extra: Record<string, readonly string[]> = {
      "authentication.kubernetes.io/credential-id": [`JTI=${claims.jti}`],
    };
    if (pod !== undefined) {
      extra["authentication.kubernetes.io/pod-name"] = [pod.name];
      extra["authentication.kubernetes.io/pod-uid"] = [pod.uid];
    }
    return { ...accountUser({ namespace, name: serviceaccount.name }), uid: serviceaccount.uid, extra };
  }

  #signature(content: string): string {
    return createHmac("sha256", this.#secret).update(content).digest("base64url");
  }
}

/** A service account as a user. */
export function accountUser({ namespace, name }: { readonly namespace: string; readonly name: string }): UserInfo {
  return {
    username: `system:serviceaccount:${namespace}:${name}`,
    groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
  };
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
