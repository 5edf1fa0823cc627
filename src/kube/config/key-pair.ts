/** Whether a private key is that of a certificate. */
import { publicKeyOf } from "./certificate-validity.ts";
import { pemReader } from "./der-reader.ts";

/**
 * Whether a key belongs to a certificate. Keys of RSA and of elliptic curves contain their public half, so it suffices
 * to search it. `node:crypto` is loaded only for other keys: it costs 2 MiB.
 *
 * @returns false also for an unreadable certificate, and for a key that is unreadable or needs a password.
 */
export function belongTogether(cert: string, key: string): boolean {
  try {
    if (pemReader(key, "(?:RSA |EC )?PRIVATE KEY").rest().includes(publicKeyOf(cert))) return true;
  } catch {
    // node:crypto knows more forms.
  }
  try {
    const { createPrivateKey, X509Certificate } = process.getBuiltinModule("node:crypto");
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}
