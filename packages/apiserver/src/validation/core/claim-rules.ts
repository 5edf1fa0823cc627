/** Validates persistent volume claims and their templates. */
import type { Field } from "../field.ts";
import { dnsLabel, dnsSubdomain } from "../formats.ts";
import { validateAnnotations, validateLabels } from "../metadata.ts";
import { isNegative, quantityOrder } from "../quantities.ts";
import { labelSelector } from "../selector-rules.ts";

const accessModes: readonly string[] = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];

export function modesOf(modes: Field): void {
  for (const mode of modes.items) if (!accessModes.includes(mode.text)) modes.with(mode.text).oneOf(accessModes);
  const known = modes.items.filter(({ text }) => accessModes.includes(text));
  const alone = known.filter(({ text }) => text === "ReadWriteOncePod").length;
  if (alone > 0 && alone < known.length) modes.forbidden("may not use ReadWriteOncePod with other access modes");
}

export function claimSpec(spec: Field): void {
  const modes = spec.at("accessModes");
  if (modes.empty) modes.required("at least 1 access mode is required");
  if (spec.at("selector").present) labelSelector(spec.at("selector"));
  modesOf(modes);
  const storage = spec.at("resources").at("requests").at("storage");
  const place = spec.at("resources").key("storage").with(storage.value);
  if (!storage.present) place.required();
  else if (quantityOrder(storage.value, "0") === 0 || isNegative(storage.value))
    place.invalid("must be greater than zero", String(storage.value));
  const storageClass = spec.at("storageClassName");
  if (storageClass.text !== "") storageClass.matches(dnsSubdomain);
  const mode = spec.at("volumeMode");
  if (mode.present) mode.oneOf(["Block", "Filesystem"]);
  const [source, reference] = [spec.at("dataSource"), spec.at("dataSourceRef")];
  for (const each of [source, reference]) if (each.present) dataSource(each);
  const namespace = reference.at("namespace");
  if (namespace.text !== "") {
    namespace.matches(dnsLabel);
    if (source.present) spec.invalid("may not be specified when dataSourceRef.namespace is specified");
  } else if (source.present && reference.present && !isSame(source, reference)) {
    spec.invalid("must match dataSourceRef");
  }
  const attributes = spec.at("volumeAttributesClassName");
  if (attributes.text !== "") attributes.matches(dnsSubdomain);
}

function isSame(one: Field, other: Field): boolean {
  return ["apiGroup", "kind", "name"].every((name) => one.at(name).text === other.at(name).text);
}

function dataSource(source: Field): void {
  source.at("name").require();
  source.at("kind").require();
  const [group, kind] = [source.at("apiGroup"), source.at("kind").text];
  if (group.text === "" && kind !== "PersistentVolumeClaim")
    source.invalid("must be 'PersistentVolumeClaim' when referencing the default apiGroup", kind);
  if (group.text !== "") group.matches(dnsSubdomain);
}

const templateFields = new Set(["annotations", "labels", "creationTimestamp"]);

/** Validates a claim that is created together with a pod. */
export function claimTemplate(template: Field): void {
  const metadata = template.at("metadata");
  validateAnnotations(metadata.at("annotations"));
  validateLabels(metadata.at("labels"));
  for (const name of metadata.keys) {
    const field = metadata.at(name);
    if (!templateFields.has(name) && !field.empty) field.forbidden("cannot be set");
  }
  claimSpec(template.at("spec"));
}
