/** Fields that requests to a path of a kind cannot write, so that no manager comes to own them by such requests. */
import type { KindRow } from "../hooks.ts";

type Paths = readonly (readonly string[])[];

const spec = [["spec"]];
const status = [["status"]];
const metadataAndSpec = [["metadata"], ["spec"]];

/** The exceptions, by `resource/subresource` or by the resource alone. */
const others: Readonly<Record<string, Paths>> = {
  "certificatesigningrequests.certificates.k8s.io": [["spec"], ["status"]],
  "certificatesigningrequests.certificates.k8s.io/approval": [["spec"], ["status", "certificate"]],
  "certificatesigningrequests.certificates.k8s.io/status": [["spec"], ["status", "conditions"]],
  "deployments.apps/status": [["spec"], ["metadata", "labels"]],
  "namespaces/finalize": status,
  "pods/status": [["spec"], ["metadata", "deletionTimestamp"], ["metadata", "ownerReferences"]],
};

/** Kinds whose status cannot be written together with metadata. */
const statusOnly: ReadonlySet<string> = new Set([
  "apiservices.apiregistration.k8s.io",
  "flowschemas.flowcontrol.apiserver.k8s.io",
  "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io",
  "resourceclaims.resource.k8s.io",
  "servicecidrs.networking.k8s.io",
  "validatingadmissionpolicies.admissionregistration.k8s.io",
  "volumeattachments.storage.k8s.io",
]);

/** Returns the fields that a write through `subresource` does not change; `""` stands for the object itself. */
export function resetFields(row: KindRow, subresource: string): Paths {
  const resource = row.group === "" ? row.plural : `${row.plural}.${row.group}`;
  const own = others[subresource === "" ? resource : `${resource}/${subresource}`];
  if (own) return own;
  if (subresource === "") return row.subresources.some(({ name }) => name === "status") ? status : [];
  if (subresource !== "status") return [];
  return row.custom || statusOnly.has(resource) ? metadataAndSpec : spec;
}
