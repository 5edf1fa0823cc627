/** CertificateApproval, CertificateSigning and CertificateSubjectRestriction. @see https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/ */
import { deepEquals } from "#platform/equality";
import { goQuoted } from "../field-error.ts";
import type { AdmissionAttributes } from "../hooks.ts";
import { inner } from "../validation/fill.ts";
import { type Plugin, refusal } from "./plugin.ts";

const requests = "certificates.k8s.io/certificatesigningrequests";

/** Approving requires the permission to approve for the signer. */
export const approval: Plugin = {
  name: "CertificateApproval",
  resources: [requests],
  validate(attributes) {
    if (attributes.context.subresource !== "approval") return;
    const name = signerOf(attributes);
    if (maySigner(attributes, "approve", name)) return;
    throw refusal(attributes, `user not permitted to approve requests with signerName ${goQuoted(name)}`);
  },
};

/** Adding certificates or conditions requires the permission to sign for the signer. */
export const signing: Plugin = {
  name: "CertificateSigning",
  resources: [requests],
  validate(attributes) {
    const { context, object, oldObject } = attributes;
    if (context.subresource !== "status" || object === undefined || oldObject === undefined) return;
    const [next, old] = [inner(object, "status"), inner(oldObject, "status")];
    if (["certificate", "conditions"].every((field) => deepEquals(next[field], old[field]))) return;
    const name = signerOf(attributes);
    if (maySigner(attributes, "sign", name)) return;
    throw refusal(attributes, `user not permitted to sign requests with signerName ${goQuoted(name)}`);
  },
};

function signerOf({ oldObject }: AdmissionAttributes): string {
  return oldObject === undefined ? "" : String(inner(oldObject, "spec")["signerName"] ?? "");
}

/** Checks the permission for the signer's own name, then for its whole domain. */
function maySigner({ context: { authorizer, user } }: AdmissionAttributes, verb: string, signerName: string): boolean {
  const names = [signerName, `${signerName.split("/")[0] ?? ""}/*`];
  const about = { user, isResource: true, path: "", verb, group: "certificates.k8s.io", resource: "signers" };
  return names.some((name) => authorizer.authorize({ ...about, subresource: "", namespace: "", name }).allowed);
}

const signer = "kubernetes.io/kube-apiserver-client";

export const subjectRestriction: Plugin = {
  name: "CertificateSubjectRestriction",
  resources: [requests],
  validate(attributes) {
    const { context, object } = attributes;
    if (context.operation !== "CREATE" || context.subresource !== "" || object === undefined) return;
    const spec = inner(object, "spec");
    if (spec["signerName"] !== signer) return;
    const pem = Buffer.from(String(spec["request"] ?? ""), "base64").toString("latin1");
    const body = /-----BEGIN CERTIFICATE REQUEST-----([^-]*)-----END/.exec(pem)?.[1] ?? "";
    if (!Buffer.from(body, "base64").includes(mastersAsOrganization)) return;
    throw refusal(attributes, `use of ${signer} signer with system:masters group is not allowed`);
  },
};

const masters = Buffer.from("system:masters");

/** The encoded organization (2.5.4.10) `system:masters`, whatever its string type is; PrintableString has no colon. */
const mastersAsOrganization = Buffer.concat([
  Buffer.from([0x06, 0x03, 0x55, 0x04, 0x0a, 0x0c, masters.length]),
  masters,
]);
