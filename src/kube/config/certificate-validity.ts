/** Reads the validity and the public key of a certificate. `node:crypto` could too, but costs 2 MiB at every start. */
import { type DerReader, pemReader, SEQUENCE } from "./der-reader.ts";

const VERSION = 0xa0;

export interface Validity {
  /** Milliseconds since the epoch. */
  readonly from: number;
  readonly until: number;
}

/**
 * Reads the first certificate of a PEM text.
 *
 * @throws Error when the text has no certificate.
 * @see https://www.rfc-editor.org/rfc/rfc5280#section-4.1
 */
export function validityOf(pem: string): Validity {
  const validity = afterIssuer(pem).enter(SEQUENCE);
  return { from: validity.time(), until: validity.time() };
}

/**
 * Returns the public key of the first certificate in a PEM text: the modulus of an RSA key, the point of an elliptic
 * curve.
 *
 * @throws Error when there is none.
 */
export function publicKeyOf(pem: string): Buffer {
  const fields = afterIssuer(pem);
  for (const _ of ["validity", "subject"]) fields.skip();
  const info = fields.enter(SEQUENCE);
  info.skip(); // the algorithm
  const bits = info.bits();
  return bits.tag === SEQUENCE ? bits.enter(SEQUENCE).value() : bits.rest();
}

function afterIssuer(pem: string): DerReader {
  const fields = pemReader(pem, "CERTIFICATE").enter(SEQUENCE).enter(SEQUENCE);
  if (fields.tag === VERSION) fields.skip();
  for (const _ of ["serial number", "signature", "issuer"]) fields.skip();
  return fields;
}
