/** Bearer tokens: static ones and those of service accounts. */
import { randomBytes } from "node:crypto";
import type { Reader, UserInfo } from "../hooks.ts";
import { TokenIssuer, type TokenIssuerOptions } from "./token-issuer.ts";

export interface TokenAuthorityOptions {
  /**
   * Derives the key that signs service account tokens. If it changes with a restart, old tokens become invalid.
   * @default random
   */
  readonly secret?: Uint8Array | undefined;
  /** The keys and issuers of the tokens, in place of a secret. */
  readonly accounts?: TokenIssuerOptions | undefined;
  /** Users by their static token. */
  readonly users?: ReadonlyMap<string, UserInfo> | undefined;
  /** Finds the account and the pod to which a token is bound, because the token ends with them. */
  readonly reader: Pick<Reader, "get">;
  /** The current time in milliseconds. */
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
    readonly pod?: Required<Bound>;
    readonly secret?: Required<Bound>;
    /** The node of a pod's token; it need not exist. */
    readonly node?: Bound;
  };
}

interface Bound {
  readonly name: string;
  readonly uid?: string;
}

const notVerified = "go-jose/go-jose: error in cryptographic primitive";
const invalidToken = "invalid bearer token";

/** For how many milliseconds tokens stay valid after the deletion of the bound object began. */
const grace = 60_000;

export class TokenAuthority {
  readonly #options: ConstructorParameters<typeof TokenIssuer>[0];
  #issuer: TokenIssuer | undefined;
  readonly #users: ReadonlyMap<string, UserInfo>;
  readonly #reader: Pick<Reader, "get">;
  readonly #now: () => number;

  constructor({ secret, accounts, users, reader, now }: TokenAuthorityOptions) {
    this.#options = accounts ?? { secret: secret ?? randomBytes(32) };
    this.#users = users ?? new Map();
    this.#reader = reader;
    this.#now = now;
  }

  /** Issues a signed token with these claims. */
  issue(claims: TokenClaims): string {
    return this.issuer.token(claims);
  }

  /** The keys and issuers. They are read at their first use, because many servers never sign a token. */
  get issuer(): TokenIssuer {
    return (this.#issuer ??= new TokenIssuer(this.#options));
  }

  /**
   * Returns the user of a token; `undefined` when it is invalid.
   *
   * @param audiences the token must have been issued for one of them. @default the server itself
   */
  user(token: string, audiences?: readonly string[]): UserInfo | undefined {
    const identity = this.check(token, audiences);
    return typeof identity === "string" ? undefined : identity;
  }

  /** Returns the user of a token, or the reason why it is invalid. */
  check(token: string, audiences?: readonly string[]): UserInfo | string {
    return this.#users.get(token) ?? this.#account(token, audiences ?? this.issuer.audiences);
  }

  /** Returns the claims of a service account's token; `undefined` when this server did not issue it. */
  claims(token: string): TokenClaims | undefined {
    if (!this.issuer.signed(token)) return undefined;
    const claims = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as TokenClaims;
    return this.issuer.issuers.includes(claims.iss) ? claims : undefined;
  }

  #account(token: string, audiences: readonly string[]): UserInfo | string {
    const claims = this.claims(token);
    if (claims === undefined)
      return isForged(token, this.issuer.issuers) ? `[${invalidToken}, ${notVerified}]` : invalidToken;
    const problem = this.#problem(claims, audiences);
    if (problem !== undefined) return `[${invalidToken}, ${problem}]`;
    const { namespace, serviceaccount, pod, node } = claims["kubernetes.io"];
    const extra: Record<string, readonly string[]> = {
      "authentication.kubernetes.io/credential-id": [`JTI=${claims.jti}`],
    };
    if (pod !== undefined) {
      extra["authentication.kubernetes.io/pod-name"] = [pod.name];
      extra["authentication.kubernetes.io/pod-uid"] = [pod.uid];
    }
    if (node !== undefined) extra["authentication.kubernetes.io/node-name"] = [node.name];
    if (node?.uid !== undefined) extra["authentication.kubernetes.io/node-uid"] = [node.uid];
    return { ...accountUser({ namespace, name: serviceaccount.name }), uid: serviceaccount.uid, extra };
  }

  #problem(claims: TokenClaims, audiences: readonly string[]): string | undefined {
    if (!claims.aud.some((audience) => audiences.includes(audience)))
      return `token audiences ${quoted(claims.aud)} is invalid for the target audiences ${quoted(audiences)}`;
    if (claims.exp * 1000 <= this.#now()) return "service account token has expired";
    const { namespace, serviceaccount, secret, pod, node } = claims["kubernetes.io"];
    const name = { group: "", plural: "serviceaccounts" };
    const account = this.#reader.get(name, { namespace, name: serviceaccount.name });
    if (account === undefined) return `serviceaccounts "${serviceaccount.name}" not found`;
    if (account.metadata.uid !== serviceaccount.uid)
      return `service account UID (${account.metadata.uid ?? ""}) does not match claim (${serviceaccount.uid})`;
    return (
      this.#ended("secret", secret, namespace) ??
      this.#ended("pod", pod, namespace) ??
      (pod === undefined ? this.#ended("node", node, "") : undefined)
    );
  }

  /** Explains that a token is invalid because its bound object was deleted; `undefined` when it is not. */
  #ended(kind: string, bound: Bound | undefined, namespace: string): string | undefined {
    if (bound === undefined) return undefined;
    const object = this.#reader.get({ group: "", plural: `${kind}s` }, { namespace, name: bound.name });
    const { uid = "", deletionTimestamp } = object?.metadata ?? {};
    const isLongGone = deletionTimestamp !== undefined && Date.parse(deletionTimestamp) < this.#now() - grace;
    if (object !== undefined && uid !== bound.uid) {
      return `${kind} UID (${uid}) does not match service account ${kind} ref claim (${bound.uid ?? ""})`;
    }
    return object === undefined || isLongGone ? "service account token has been invalidated" : undefined;
  }
}

/** Returns the user of a service account. */
export function accountUser({ namespace, name }: { readonly namespace: string; readonly name: string }): UserInfo {
  return {
    username: `system:serviceaccount:${namespace}:${name}`,
    groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
  };
}

function quoted(texts: readonly string[]): string {
  return `[${texts.map((text) => JSON.stringify(text)).join(" ")}]`;
}

/** Whether a token whose signature is wrong names this server as its issuer. */
function isForged(token: string, issuers: readonly string[]): boolean {
  const parts = token.split(".");
  if (parts.length !== 3 || parts.some((part) => !/^[\w-]+$/.test(part))) return false;
  const [header, claims] = parts.map((part) => partOf(part));
  return typeof header?.["alg"] === "string" && issuers.includes(String(claims?.["iss"]));
}

function partOf(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(Buffer.from(part, "base64url").toString()) as Readonly<Record<string, unknown>> | undefined;
  } catch {
    return undefined;
  }
}
