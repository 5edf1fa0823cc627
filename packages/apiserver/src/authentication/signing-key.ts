/** The key that signs tokens of service accounts. It uses ES256, so that others can verify tokens with the public key. */
import { createECDH, createHash, createPrivateKey, createPublicKey, sign, verify } from "node:crypto";

/** The public key in the form of RFC 7517. */
export interface PublicJwk {
  readonly use: "sig";
  readonly kty: "EC";
  readonly kid: string;
  readonly crv: "P-256";
  readonly alg: "ES256";
  readonly x: string;
  readonly y: string;
}

/** For how many tokens a verified signature is remembered, because verification takes a tenth of a millisecond. */
const mostKnown = 1000;

export class SigningKey {
  readonly jwk: PublicJwk;
  readonly #private: ReturnType<typeof createPrivateKey>;
  readonly #public: ReturnType<typeof createPublicKey>;
  /** Tokens whose signature is valid. */
  readonly #known = new Set<string>();

  /** @param secret any bytes: the same secret makes the same key */
  constructor(secret: Uint8Array) {
    const curve = createECDH("prime256v1");
    const scalar = scalarOf(secret);
    curve.setPrivateKey(scalar);
    const point = curve.getPublicKey();
    const [x, y] = [point.subarray(1, 33).toString("base64url"), point.subarray(33).toString("base64url")];
    const d = scalar.toString("base64url"); // the curve would leave leading zeros out
    this.#private = createPrivateKey({ format: "jwk", key: { kty: "EC", crv: "P-256", x, y, d } });
    this.#public = createPublicKey(this.#private);
    const kid = createHash("sha256")
      .update(this.#public.export({ type: "spki", format: "der" }))
      .digest("base64url");
    this.jwk = { use: "sig", kty: "EC", kid, crv: "P-256", alg: "ES256", x, y };
  }

  /** Signs a token with these claims. */
  token(claims: object): string {
    const content = `${encoded({ alg: "ES256", kid: this.jwk.kid })}.${encoded(claims)}`;
    const signature = sign("sha256", Buffer.from(content), { key: this.#private, dsaEncoding: "ieee-p1363" });
    return `${content}.${signature.toString("base64url")}`;
  }

  /** Whether this key signed the token. */
  signed(token: string): boolean {
    if (this.#known.has(token)) return true;
    const dot = token.lastIndexOf(".");
    if (dot < 0) return false;
    const key = { key: this.#public, dsaEncoding: "ieee-p1363" } as const;
    const signature = Buffer.from(token.slice(dot + 1), "base64url");
    if (signature.length !== 64 || !verify("sha256", Buffer.from(token.slice(0, dot)), key, signature)) return false;
    if (this.#known.size >= mostKnown) this.#known.clear();
    this.#known.add(token);
    return true;
  }
}

/** Derives a private scalar of the curve from bytes of any length. */
function scalarOf(secret: Uint8Array): Buffer {
  const scalar = createHash("sha256").update("binnacle service account tokens").update(secret).digest();
  // The order of the group begins with 32 ones, so every smaller number is a valid scalar.
  scalar[0] = (scalar[0] ?? 0) & 0x7f;
  return scalar;
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
