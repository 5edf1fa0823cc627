/** Validates `metadata`. @see https://kubernetes.io/docs/concepts/overview/working-with-objects/names/ */
import { goQuoted } from "../field-error.ts";
import type { KindRow, KubeObject } from "../hooks.ts";
import type { Field } from "./field.ts";
import { dnsLabel, dnsSubdomain, type Format, labelValue, pathSegment, printable, qualifiedName } from "./formats.ts";

const labelNamed = new Set(["/namespaces", "/services"]);
const segmentNamed = new Set([
  "/events",
  "apiregistration.k8s.io/apiservices",
  "certificates.k8s.io/certificatesigningrequests",
  "policy/poddisruptionbudgets",
  "rbac.authorization.k8s.io/clusterrolebindings",
  "rbac.authorization.k8s.io/clusterroles",
  "rbac.authorization.k8s.io/rolebindings",
  "rbac.authorization.k8s.io/roles",
]);
/** Kinds whose finalizers need no domain, because an older rule applies to them. */
const looseFinalizers = new Set([
  "/events",
  "apiregistration.k8s.io/apiservices",
  "policy/poddisruptionbudgets",
  "apiextensions.k8s.io/customresourcedefinitions",
  "coordination.k8s.io/leases",
  "node.k8s.io/runtimeclasses",
]);
/** Kinds for which only the generated name is validated, not the prefix. */
const laxPrefix = new Set(["/replicationcontrollers", "resource.k8s.io/deviceclasses"]);
const standardFinalizers = new Set(["kubernetes", "orphan", "foregroundDeletion"]);
const annotationsLimit = 256 * 1024;

/** Returns the format of the names of a kind's objects. */
export function nameFormat({ group, plural }: KindRow): Format {
  const name = `${group}/${plural}`;
  if (labelNamed.has(name) || name === "apps/statefulsets") return dnsLabel;
  return segmentNamed.has(name) ? pathSegment : dnsSubdomain;
}

/** The kind of the object with this metadata. */
type Owner = Pick<KindRow, "group" | "plural" | "namespaced" | "custom">;

export interface MetadataOptions {
  readonly row: Owner;
  readonly format: Format;
  /** Whether only the rules for all kinds apply. @default false */
  readonly isBasic?: boolean;
}

export function validateMetadata(metadata: Field, { row, format, isBasic = false }: MetadataOptions): void {
  const generateName = metadata.at("generateName");
  // The prefix of a generated name may end in a character with which a name must not end.
  if (generateName.text !== "" && !laxPrefix.has(`${row.group}/${row.plural}`)) {
    const base = generateName.text.endsWith("-") ? `${generateName.text.slice(0, -1)}a` : generateName.text;
    for (const detail of format(base)) generateName.invalid(detail);
  }
  const name = metadata.at("name");
  if (name.text === "") name.required("name or generateName is required");
  else name.matches(format);
  const namespace = metadata.at("namespace");
  if (row.namespaced) {
    if (namespace.text === "") namespace.required();
    else namespace.matches(dnsLabel);
  }
  metadata.at("generation").nonNegative();
  validateLabels(metadata.at("labels"));
  validateAnnotations(metadata.at("annotations"));
  owners(metadata.at("ownerReferences"));
  finalizers(metadata.at("finalizers"), row, isBasic);
  managers(metadata.at("managedFields"));
}

const mostManagerBytes = 128;

function managers(list: Field): void {
  for (const entry of list.items) {
    const name = entry.at("manager");
    if (Buffer.byteLength(name.text) > mostManagerBytes) name.tooLong(mostManagerBytes);
    name.matches(printable);
  }
}

export function validateLabels(labels: Field): void {
  for (const [name, value] of Object.entries(labels.fields)) {
    labels.with(name).matches(qualifiedName);
    labels.with(value).matches(labelValue);
  }
}

export function validateAnnotations(annotations: Field): void {
  let size = 0;
  for (const [name, value] of Object.entries(annotations.fields)) {
    for (const detail of qualifiedName(name.toLowerCase())) annotations.invalid(detail, name);
    size += Buffer.byteLength(name) + Buffer.byteLength(String(value));
  }
  if (size > annotationsLimit) annotations.tooLong(annotationsLimit);
}

function owners(references: Field): void {
  let controller = "";
  for (const { fields } of references.items) {
    const [kind, name] = [String(fields["kind"] ?? ""), String(fields["name"] ?? "")];
    const apiVersion = String(fields["apiVersion"] ?? "");
    // An invalid apiVersion has neither group nor version.
    if (apiVersion === "" || apiVersion.split("/").length > 2)
      references.at("apiVersion").invalid("version must not be empty", apiVersion);
    for (const part of ["kind", "name", "uid"]) if (!fields[part]) references.at(part).invalid("must not be empty", "");
    if (fields["apiVersion"] === "v1" && kind === "Event") {
      references.invalid("/v1, Kind=Event is disallowed from being an owner");
    }
    if (fields["controller"] !== true) continue;
    if (controller === "") {
      controller = `${kind}/${name}`;
      continue;
    }
    const both = `${controller} and ${kind}/${name}`;
    const detail = `Only one reference can have Controller set to true. Found "true" in references for ${both}`;
    references.invalid(detail);
  }
}

function finalizers(list: Field, row: Owner, isBasic: boolean): void {
  const names = list.items.map(({ text }) => text);
  for (const name of names) list.with(name).matches(qualifiedName);
  if (names.includes("orphan") && names.includes("foregroundDeletion")) {
    list.invalid("finalizer orphan and foregroundDeletion cannot be both set", names);
  }
  if (!isBasic) finalizerNames(list, row);
}

/** Validates the names of finalizers of most built-in kinds. */
function finalizerNames(list: Field, row: Owner): void {
  const isLoose =
    row.custom || row.group === "admissionregistration.k8s.io" || looseFinalizers.has(`${row.group}/${row.plural}`);
  if (isLoose) return;
  for (const item of list.items) {
    if (item.text.includes("/") || standardFinalizers.has(item.text)) continue;
    item.invalid("name is neither a standard finalizer name nor is it fully qualified");
  }
}

/** Validates an update of metadata. @param row the kind whose own rules apply; @default the rules of every kind */
export function validateMetadataUpdate(metadata: Field, old: KubeObject, row?: Owner): void {
  if (old.metadata.deletionTimestamp !== undefined) {
    const before = new Set(old.metadata.finalizers);
    const added = metadata
      .at("finalizers")
      .items.map(({ text }) => text)
      .filter((name) => !before.has(name));
    if (added.length > 0) {
      const names = `[]string{${[...new Set(added)].toSorted().map(goQuoted).join(", ")}}`;
      metadata
        .at("finalizers")
        .forbidden(`no new finalizers can be added if the object is being deleted, found new finalizers ${names}`);
    }
  }
  metadata.at("name").immutable(old.metadata.name);
  metadata.at("namespace").immutable(old.metadata.namespace);
  metadata.at("uid").immutable(old.metadata.uid);
  metadata.at("deletionTimestamp").immutable(old.metadata.deletionTimestamp);
  metadata.at("deletionGracePeriodSeconds").immutable(old.metadata.deletionGracePeriodSeconds);
  validateLabels(metadata.at("labels"));
  validateAnnotations(metadata.at("annotations"));
  owners(metadata.at("ownerReferences"));
  managers(metadata.at("managedFields"));
  if (row !== undefined) finalizerNames(metadata.at("finalizers"), row);
}
