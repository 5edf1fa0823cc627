/**
 * Where a TLS listener gets its certificate from.
 *
 * Files that are swapped (`--webhook-cert-path`) and certificates that the process makes itself are two sources; tests have
 * a third. A listener reads `current` when it starts and whenever it is told of a change, and shows the new pair to every
 * handshake from then on.
 */

/** A certificate chain and its private key, both PEM. */
export interface ServingCertificate {
  readonly cert: string;
  readonly key: string;
}

export interface CertificateSource {
  /** The pair for new handshakes; `undefined` while there is none yet. */
  current(): ServingCertificate | undefined;
  /** Calls the listener after each change of `current`, until it is disposed of. */
  subscribe(listener: () => void): Disposable;
}
