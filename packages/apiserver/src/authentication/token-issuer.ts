/** How tokens of service accounts are signed, and which are accepted: the flags `--service-account-*` of kube-apiserver. */
import { createPrivateKey, createPublicKey, X509Certificate } from "node:crypto";
import { keyFromSecret, type PublicJwk, TokenKey } from "./token-key.ts";

export interface TokenIssuerOptions {
  /** The issuers: new tokens name the first one, and tokens of the others are accepted too. */
  readonly issuers: readonly string[];
  /** The audiences of the server itself. @default the issuers */
  readonly audiences?: readonly string[] | undefined;
  /** The private key (PEM) that signs. */
  readonly signingKey: string;
  /** The keys (PEM) whose tokens are accepted: public or private ones or certificates, any number in each text. */
  readonly keys: readonly string[];
  /** Where others find the public keys. @default a path of the server */
  readonly keysUrl?: string | undefined;
  /** The longest life of a token in seconds. @default as long as requested */
  readonly longestLife?: number | undefined;
  /** Whether tokens in pods outlive the hour that older clients request. @default true */
  readonly extendsLife?: boolean | undefined;
}

const defaultIssuer = "https://kubernetes.default.svc";

/** For how many tokens a verified signature is remembered, because verification takes a tenth of a millisecond. */
const mostKnown = 1000;

export class TokenIssuer {
  readonly issuers: readonly string[];
  readonly audiences: readonly string[];
  readonly keysUrl: string | undefined;
  readonly longestLife: number;
  readonly extendsLife: boolean;
  readonly #signer: TokenKey;
  readonly #verifiers: readonly TokenKey[];
  /** Tokens whose signature is valid. */
  readonly #known = new Set<string>();

  /** @throws Error when a key cannot be read. */
  constructor(options: TokenIssuerOptions | { readonly secret: Uint8Array }) {
    const given = "secret" in options ? undefined : options;
    this.issuers = given?.issuers ?? [defaultIssuer];
    this.audiences = given?.audiences ?? this.issuers;
    this.keysUrl = given?.keysUrl;
    this.longestLife = given?.longestLife ?? Infinity;
    this.extendsLife = given?.extendsLife ?? true;
    this.#signer = new TokenKey(
      "secret" in options ? keyFromSecret(options.secret) : createPrivateKey(options.signingKey),
    );
    this.#verifiers = given === undefined ? [this.#signer] : given.keys.flatMap(publicKeys);
  }

  /** The issuer that the tokens name. */
  get issuer(): string {
    return this.issuers[0] ?? defaultIssuer;
  }

  /** The public keys, with which others verify the tokens. */
  get publicKeys(): readonly PublicJwk[] {
    return this.#verifiers.map(({ jwk }) => jwk);
  }

  /** Signs a token with these claims. */
  token(claims: object): string {
    return this.#signer.token(claims);
  }

  /** Whether one of the keys signed the token. */
  signed(token: string): boolean {
    if (this.#known.has(token)) return true;
    if (!this.#verifiers.some((key) => key.signed(token))) return false;
    if (this.#known.size >= mostKnown) this.#known.clear();
    this.#known.add(token);
    return true;
  }
}

/** Reads all keys of a PEM file. @throws Error when there is none */
function publicKeys(pem: string): TokenKey[] {
  const blocks = pem.match(/-----BEGIN ([A-Z0-9 ]+)-----[^-]+-----END \1-----/g) ?? [];
  // Files of OpenSSL have the parameters of the curve before the key.
  const keys = blocks.filter((block) => !block.startsWith("-----BEGIN EC PARAMETERS"));
  if (keys.length === 0) throw new Error("there is no key in PEM form");
  return keys.map(
    (block) =>
      new TokenKey(
        block.startsWith("-----BEGIN CERTIFICATE") ? new X509Certificate(block).publicKey : createPublicKey(block),
      ),
  );
}
