/** Keys of service account tokens. Their algorithms are those of kube-apiserver, so others can verify with the public key. */
import { createECDH, createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import type { Fields } from "../hooks.ts";

type Algorithm = "ES256" | "ES384" | "ES512" | "RS256";

/** The public key in the form of RFC 7517, with the members of its type. */
export interface PublicJwk extends Fields {
  readonly use: "sig";
  readonly kid: string;
  readonly alg: Algorithm;
}

/** A key that verifies tokens, and signs them when it is private. */
export class TokenKey {
  readonly jwk: PublicJwk;
  readonly #key: KeyObject;
  readonly #public: KeyObject;
  readonly #hash: string;

  /** @throws Error when the key is neither RSA nor of a curve of NIST. */
  constructor(key: KeyObject) {
    this.#key = key;
    this.#public = key.type === "private" ? createPublicKey(key) : key;
    const { kty, crv, ...parts } = this.#public.export({ format: "jwk" }) as Readonly<Record<string, string>>;
    const alg = algorithmOf(kty, crv);
    const der = this.#public.export({ type: "spki", format: "der" });
    const kid = createHash("sha256").update(der).digest("base64url");
    this.#hash = `sha${alg.slice(2)}`;
    this.jwk = { use: "sig", kty, kid, ...(crv === undefined ? {} : { crv }), alg, ...parts };
  }

  /** Signs a token with these claims. @throws Error when the key is public. */
  token(claims: object): string {
    const content = `${encoded({ alg: this.jwk.alg, kid: this.jwk.kid })}.${encoded(claims)}`;
    const signature = sign(this.#hash, Buffer.from(content), { key: this.#key, dsaEncoding: "ieee-p1363" });
    return `${content}.${signature.toString("base64url")}`;
  }

  /** Whether this key signed the token. */
  signed(token: string): boolean {
    const dot = token.lastIndexOf(".");
    if (dot < 0 || algorithmIn(token) !== this.jwk.alg) return false;
    const signature = Buffer.from(token.slice(dot + 1), "base64url");
    const key = { key: this.#public, dsaEncoding: "ieee-p1363" } as const;
    try {
      return verify(this.#hash, Buffer.from(token.slice(0, dot)), key, signature);
    } catch {
      return false; // the signature does not have the length of this key's signatures
    }
  }
}

/** Derives a private key of P-256 from any bytes: the same secret makes the same key. */
export function keyFromSecret(secret: Uint8Array): KeyObject {
  const curve = createECDH("prime256v1");
  const scalar = scalarOf(secret);
  curve.setPrivateKey(scalar);
  const point = curve.getPublicKey();
  const [x, y] = [point.subarray(1, 33).toString("base64url"), point.subarray(33).toString("base64url")];
  const d = scalar.toString("base64url"); // the private key that the curve returns lacks leading zeros
  return createPrivateKey({ format: "jwk", key: { kty: "EC", crv: "P-256", x, y, d } });
}

/** Derives a private scalar of the curve from bytes of any length. */
function scalarOf(secret: Uint8Array): Buffer {
  const scalar = createHash("sha256").update("binnacle service account tokens").update(secret).digest();
  // The order of the group begins with 32 ones, so every smaller number is a valid scalar.
  scalar[0] = (scalar[0] ?? 0) & 0x7f;
  return scalar;
}

const curves: Readonly<Record<string, Algorithm>> = { "P-256": "ES256", "P-384": "ES384", "P-521": "ES512" };

function algorithmOf(type: string | undefined, curve: string | undefined): Algorithm {
  const algorithm = type === "RSA" ? "RS256" : curves[curve ?? ""];
  if (algorithm === undefined)
    throw new Error(`a key of ${curve ?? type ?? "this type"} signs no tokens: RSA and ECDSA do`);
  return algorithm;
}

/** The algorithm that a token says it is signed with. */
function algorithmIn(token: string): unknown {
  try {
    return (JSON.parse(Buffer.from(token.split(".", 1)[0] ?? "", "base64url").toString()) as Fields)["alg"];
  } catch {
    return undefined;
  }
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
