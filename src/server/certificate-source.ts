/**
 * The sources of a TLS listener's certificate.
 *
 * Files that are replaced (`--webhook-cert-path`) and certificates that the process issues itself are two sources;
 * tests have a third one. A listener reads `current` when it starts and whenever it is notified of a change, and uses
 * the new pair for every handshake from then on.
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
