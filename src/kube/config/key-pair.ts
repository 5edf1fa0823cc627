/** Whether a private key is that of a certificate. */
import { publicKeyOf } from "./certificate-validity.ts";
import { pemReader } from "./der-reader.ts";

/**
 * Keys of RSA and of elliptic curves hold their public half, and it is enough to find it there. `node:crypto` is only
 * loaded for the rest: it costs 2 MiB.
 *
 * @returns false also for what is no certificate or no key that can be read without a password.
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
