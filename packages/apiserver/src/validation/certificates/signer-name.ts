/** Validates signer names such as `example.com/signer-name`. */
import type { Field } from "../field.ts";
import { dnsLabel, dnsSubdomain } from "../formats.ts";

/** @see https://kubernetes.io/docs/reference/access-authn-authz/certificate-signing-requests/#signers */
export function signerName(signer: Field): void {
  const { text } = signer;
  if (text === "") return signer.required();
  const [domain = "", path = "", ...more] = text.split("/");
  if (!text.includes("/") || more.length > 0)
    return signer.invalid("must be a fully qualified domain and path of the form 'example.com/signer-name'");
  if (domain.length > 253) signer.tooLong(253);
  for (const label of domain.split(".")) {
    const wrong = dnsLabel(label);
    for (const detail of wrong) signer.invalid(`validating label ${JSON.stringify(label)}: ${detail}`, domain);
    if (wrong.length > 0) break;
  }
  if (domain.split(".").length < 2)
    signer.invalid("should be a domain with at least two segments separated by dots", domain);
  for (const label of path.split(".")) {
    const wrong = dnsSubdomain(label);
    for (const detail of wrong) signer.invalid(`validating label ${JSON.stringify(label)}: ${detail}`, path);
    if (wrong.length > 0) break;
  }
  if (text.length > 571) signer.tooLong(571);
}
