/** Checks a certificate and its key as a TLS server would load them. */
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { pemBlocks } from "../certificates/pem.ts";
import type { Fields } from "../hooks.ts";

/** Returns in Go's words what is wrong with the pair in a Secret's data. */
export function pairWarnings(data: Fields): string[] {
  const [certificate, key] = ["tls.crt", "tls.key"].map((name) =>
    Buffer.from(String(data[name] ?? ""), "base64").toString("latin1"),
  ) as [string, string];
  const problem = certificateProblem(certificate) ?? keyProblem(key) ?? pairProblem(certificate, key);
  return problem === undefined ? [] : [problem];
}

function blocksOf(pem: string): string[] {
  return pemBlocks(pem).map(({ type }) => type);
}

function certificateProblem(pem: string): string | undefined {
  const types = blocksOf(pem);
  if (types.includes("CERTIFICATE")) return undefined;
  if (types.length === 0) return "tls: failed to find any PEM data in certificate input";
  if (types.length === 1 && types[0]?.endsWith("PRIVATE KEY") === true)
    return "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched";
  return `tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [${types.join(" ")}]`;
}

function keyProblem(pem: string): string | undefined {
  const types = blocksOf(pem);
  if (types.some((type) => type === "PRIVATE KEY" || type.endsWith(" PRIVATE KEY"))) return undefined;
  if (types.length === 0) return "tls: failed to find any PEM data in key input";
  if (types.length === 1 && types[0] === "CERTIFICATE")
    return "tls: found a certificate rather than a key in the PEM for the private key";
  return `tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: [${types.join(" ")}]`;
}

function pairProblem(certificate: string, pem: string): string | undefined {
  const shown = parsed(() => new X509Certificate(certificate));
  if (shown === undefined) return "x509: malformed certificate";
  const key = parsed(() => createPrivateKey(pem));
  if (key === undefined) return "tls: failed to parse private key";
  if (shown.publicKey.asymmetricKeyType !== key.asymmetricKeyType)
    return "tls: private key type does not match public key type";
  return shown.checkPrivateKey(key) ? undefined : "tls: private key does not match public key";
}

function parsed<T extends KeyObject | X509Certificate>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}
