/** Where the certificate of the webhook listener comes from, and whom the API server trusts it by. */
import type { CertificateSource, ServingCertificate } from "../../server/certificate-source.ts";

export interface TrustedCertificate extends ServingCertificate {
  /** PEM: the authorities that `clientConfig.caBundle` names; `undefined` when somebody else injects them. */
  readonly authorities: string | undefined;
}

/** A source of the listener's certificate that knows the authorities too. */
export interface TrustedSource extends CertificateSource {
  current(): TrustedCertificate | undefined;
}

/** Holds the certificate of a source, and tells those who subscribed. */
export class CurrentCertificate implements TrustedSource {
  #current: TrustedCertificate | undefined;
  readonly #listeners = new Set<() => void>();

  current(): TrustedCertificate | undefined {
    return this.#current;
  }

  subscribe(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** @returns whether it differs from the one before. */
  set(next: TrustedCertificate): boolean {
    const { cert, key, authorities } = this.#current ?? {};
    if (cert === next.cert && key === next.key && authorities === next.authorities) return false;
    this.#current = next;
    for (const listener of this.#listeners) listener();
    return true;
  }
}
