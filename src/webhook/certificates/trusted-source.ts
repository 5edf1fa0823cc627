/** The source of the webhook listener's certificate, and the authorities by which the API server trusts it. */
import type { CertificateSource, ServingCertificate } from "../../server/certificate-source.ts";

export interface TrustedCertificate extends ServingCertificate {
  /** The authorities (PEM) for `clientConfig.caBundle`; `undefined` when somebody else injects them. */
  readonly authorities: string | undefined;
}

/** A source of the listener's certificate that also knows the authorities. */
export interface TrustedSource extends CertificateSource {
  current(): TrustedCertificate | undefined;
}

/** Holds the present certificate of a source, and notifies subscribers. */
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

  /** Sets the certificate. @returns whether it differs from the previous one. */
  set(next: TrustedCertificate): boolean {
    const { cert, key, authorities } = this.#current ?? {};
    if (cert === next.cert && key === next.key && authorities === next.authorities) return false;
    this.#current = next;
    for (const listener of this.#listeners) listener();
    return true;
  }
}
