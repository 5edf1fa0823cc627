/** Tokens: those that were given out beforehand and those that service accounts get. */
import { randomBytes } from "node:crypto";
import type { Reader, UserInfo } from "../hooks.ts";
import { type PublicJwk, SigningKey } from "./signing-key.ts";

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
    readonly pod?: Required<Bound>;
    readonly secret?: Required<Bound>;
    /** Of a pod's token the pod's, which need not be there. */
    readonly node?: Bound;
  };
}

interface Bound {
  readonly name: string;
  readonly uid?: string;
}

const invalidToken = "invalid bearer token";

/** Tokens live on for so long after the deletion of what they are bound to began, in milliseconds. */
const grace = 60_000;

export const issuer = "https://kubernetes.default.svc";

export class TokenAuthority {
  readonly #secret: Uint8Array;
  #made: SigningKey | undefined;
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
    return this.#key.token(claims);
  }

  /** What others verify the tokens with. */
  get publicKey(): PublicJwk {
    return this.#key.jwk;
  }

  /** Made at its first use: many a server never signs a token. */
  get #key(): SigningKey {
    return (this.#made ??= new SigningKey(this.#secret));
  }

  /**
   * Whom a token stands for; `undefined` when nobody.
   *
   * @param audiences one of which it must have been made for. @default the server itself
   */
  user(token: string, audiences?: readonly string[]): UserInfo | undefined {
    const found = this.check(token, audiences);
    return typeof found === "string" ? undefined : found;
  }

  /** Whom a token stands for, or why it stands for nobody. */
  check(token: string, audiences: readonly string[] = [issuer]): UserInfo | string {
    return this.#users.get(token) ?? this.#account(token, audiences);
  }

  /** What a service account's token says; `undefined` when it is none that was made here. */
  claims(token: string): TokenClaims | undefined {
    if (!this.#key.signed(token)) return undefined;
    return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as TokenClaims;
  }

  #account(token: string, audiences: readonly string[]): UserInfo | string {
    const claims = this.claims(token);
    if (claims === undefined) return invalidToken;
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

  /** Why a token ended with what it is bound to. */
  #ended(kind: string, bound: Bound | undefined, namespace: string): string | undefined {
    if (bound === undefined) return undefined;
    const found = this.#reader.get({ group: "", plural: `${kind}s` }, { namespace, name: bound.name });
    const { uid = "", deletionTimestamp } = found?.metadata ?? {};
    const isLongGone = deletionTimestamp !== undefined && Date.parse(deletionTimestamp) < this.#now() - grace;
    if (found !== undefined && uid !== bound.uid) {
      return `${kind} UID (${uid}) does not match service account ${kind} ref claim (${bound.uid ?? ""})`;
    }
    return found === undefined || isLongGone ? "service account token has been invalidated" : undefined;
  }
}

/** A service account as a user. */
export function accountUser({ namespace, name }: { readonly namespace: string; readonly name: string }): UserInfo {
  return {
    username: `system:serviceaccount:${namespace}:${name}`,
    groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
  };
}

function quoted(texts: readonly string[]): string {
  return `[${texts.map((text) => JSON.stringify(text)).join(" ")}]`;
}
