/** Validates affinities. */
import type { Field } from "../field.ts";
import { dnsLabel, qualifiedName } from "../formats.ts";
import { labelKeys } from "./scheduling-rules.ts";
import { labelSelector, nodeSelector, nodeSelectorTerm } from "../selector-rules.ts";

const required = "requiredDuringSchedulingIgnoredDuringExecution";
const preferred = "preferredDuringSchedulingIgnoredDuringExecution";

export function affinity(field: Field): void {
  const node = field.at("nodeAffinity");
  if (node.at(required).present) nodeSelector(node.at(required));
  for (const term of node.at(preferred).items) {
    weight(term);
    nodeSelectorTerm(term.at("preference"), true);
  }
  for (const name of ["podAffinity", "podAntiAffinity"]) {
    const pods = field.at(name);
    for (const term of pods.at(required).items) podTerm(term);
    for (const term of pods.at(preferred).items) {
      weight(term);
      podTerm(term.at("podAffinityTerm"));
    }
  }
}

function weight(term: Field): void {
  const field = term.at("weight");
  if (field.number < 1 || field.number > 100) field.invalid("must be in the range 1-100", field.number);
}

function podTerm(term: Field): void {
  if (term.at("labelSelector").present) labelSelector(term.at("labelSelector"));
  if (term.at("namespaceSelector").present) labelSelector(term.at("namespaceSelector"));
  for (const namespace of term.at("namespaces").items)
    for (const detail of dnsLabel(namespace.text)) term.at("namespace").invalid(detail, namespace.text);
  labelKeys(term);
  const key = term.at("topologyKey");
  if (key.text === "") key.required("can not be empty");
  key.matches(qualifiedName);
}
