/** Says why a server's certificate is refused, in Go's words first, because these are what people look for. */
import type { X509Certificate } from "node:crypto";

/** The failure of a handshake, with the certificate that the server has shown, where the platform tells it. */
export interface HandshakeError extends Error {
  certificate?: Pick<X509Certificate, "subject" | "issuer" | "subjectAltName" | "validFrom" | "validTo"> | undefined;
}

/** Returns what is wrong and what helps; `undefined` when the certificate is not what failed. */
export function distrust(code: string, error: unknown): string | undefined {
  const { certificate } = error as HandshakeError;
  const shown = (text: (of: NonNullable<HandshakeError["certificate"]>) => string): string =>
    certificate === undefined ? "" : ` (${text(certificate)})`;
  switch (code) {
    case "UNABLE_TO_VERIFY_LEAF_SIGNATURE":
    case "UNABLE_TO_GET_ISSUER_CERT":
    case "UNABLE_TO_GET_ISSUER_CERT_LOCALLY":
    case "SELF_SIGNED_CERT_IN_CHAIN":
    case "DEPTH_ZERO_SELF_SIGNED_CERT":
    case "CERT_SIGNATURE_FAILURE":
    case "INVALID_CA": {
      const names = shown(({ subject, issuer }) => `it is of ${oneLine(subject)}, issued by ${oneLine(issuer)}`);
      return (
        `x509: certificate signed by unknown authority: its certificate is not signed by the kubeconfig's certificate-authority${names}. ` +
        "Get a new kubeconfig, or put the certificate of that issuer into certificate-authority-data"
      );
    }
    case "CERT_HAS_EXPIRED":
    case "CERT_NOT_YET_VALID": {
      const dates = shown(({ validFrom, validTo }) => `it is valid from ${validFrom} until ${validTo}`);
      const fault = code === "CERT_HAS_EXPIRED" ? "its certificate has expired" : "its certificate is not valid yet";
      return `x509: certificate has expired or is not yet valid: ${fault}${dates}. Renew it, or check this machine's clock`;
    }
    case "ERR_TLS_CERT_ALTNAME_INVALID": {
      const names = certificate === undefined ? "" : `, to one of ${oneLine(certificate.subjectAltName ?? "")}`;
      return (
        "x509: certificate is not valid for this name: its certificate is for another host name: " +
        `set tls-server-name in the kubeconfig${names}`
      );
    }
    case "INVALID_PURPOSE":
      return "x509: certificate specifies an incompatible key usage: its certificate is not one for servers";
    default:
      return undefined;
  }
}

/** The most characters of a name that are shown, because the server chooses its names. */
const MOST = 200;

/** A distinguished name has a line for each of its parts. */
function oneLine(name: string): string {
  return JSON.stringify(name.slice(0, MOST).replaceAll("\n", ","));
}
