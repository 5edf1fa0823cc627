/** Digests by `node:crypto`. */
import { createHash } from "node:crypto";

/** Computes the SHA-256 of a text; in base64url it has no padding. */
export function sha256(text: string, encoding: "base64url" | "hex" = "base64url"): string {
  return createHash("sha256").update(text).digest(encoding);
}

/** Returns a short text that differs for different texts, for use in this process only. */
export function fingerprint(text: string): string {
  return createHash("sha1").update(text).digest("base64url");
}
