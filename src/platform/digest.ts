/** Computes the SHA-256 of a text, in base64url without padding. */
export function sha256(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("base64url");
}
