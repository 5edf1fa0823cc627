/** The table columns of webhook configurations and admission policies. */
import type { Fields, KubeObject } from "../../hooks.ts";
import { type Cell, at, count, get, name, selector, sinceCreation } from "../cell.ts";

function parameterKind(path: string): Cell {
  return (policy) => {
    const kind = get(policy, path) as Fields | undefined;
    return kind ? `${String(kind["apiVersion"] ?? "")}/${String(kind["kind"] ?? "")}` : "<unset>";
  };
}

function parameterReference(policyBinding: KubeObject): string {
  const reference = get(policyBinding, "spec.paramRef") as Fields | undefined;
  if (!reference) return "<unset>";
  if (reference["name"])
    return reference["namespace"]
      ? `${String(reference["namespace"])}/${String(reference["name"])}`
      : String(reference["name"]);
  return String(selector("spec.paramRef.selector")(policyBinding, 0));
}

export const admissionCells: Readonly<Record<string, readonly Cell[]>> = {
  "admissionregistration.k8s.io/MutatingAdmissionPolicy": [
    name,
    count("spec.mutations"),
    parameterKind("spec.paramKind"),
    sinceCreation,
  ],
  "admissionregistration.k8s.io/MutatingAdmissionPolicyBinding": [
    name,
    at("spec.policyName"),
    parameterReference,
    sinceCreation,
  ],
  "admissionregistration.k8s.io/MutatingWebhookConfiguration": [name, count("webhooks"), sinceCreation],
  "admissionregistration.k8s.io/ValidatingAdmissionPolicy": [
    name,
    count("spec.validations"),
    parameterKind("spec.paramKind"),
    sinceCreation,
  ],
  "admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding": [
    name,
    at("spec.policyName"),
    parameterReference,
    sinceCreation,
  ],
  "admissionregistration.k8s.io/ValidatingWebhookConfiguration": [name, count("webhooks"), sinceCreation],
};
