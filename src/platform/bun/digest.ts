/** Digests by the hashes of Bun. */

/** Computes the SHA-256 of a text; in base64url it has no padding. */
export function sha256(text: string, encoding: "base64url" | "hex" = "base64url"): string {
  return new Bun.CryptoHasher("sha256").update(text).digest(encoding);
}

/**
 * Returns a short text that differs for different texts. It is not safe against forgery, so use it only inside this
 * process.
 */
export function fingerprint(text: string): string {
  return Bun.hash(text).toString(36);
}
