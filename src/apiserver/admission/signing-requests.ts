/** CertificateSubjectRestriction. @see https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#certificatesubjectrestriction */
import { inner } from "../validation/fill.ts";
import { type Plugin, refusal } from "./plugin.ts";

const signer = "kubernetes.io/kube-apiserver-client";

export const subjectRestriction: Plugin = {
  resources: ["certificates.k8s.io/certificatesigningrequests"],
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

/** The attribute organization (2.5.4.10) of the subject with that value, whatever kind of text it is; PrintableString has no colon. */
const mastersAsOrganization = Buffer.concat([
  Buffer.from([0x06, 0x03, 0x55, 0x04, 0x0a, 0x0c, masters.length]),
  masters,
]);
