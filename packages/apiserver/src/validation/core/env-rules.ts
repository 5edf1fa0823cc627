/** Validates environment variables and their references. */
import type { Field } from "../field.ts";
import { configMapKey, dnsLabel, dnsSubdomain, envVarName, qualifiedName } from "../formats.ts";
import { backsteps } from "./volume-sources.ts";

const fieldPaths = [
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "spec.nodeName",
  "spec.serviceAccountName",
  "status.hostIP",
  "status.hostIPs",
  "status.podIP",
  "status.podIPs",
];
/** The fields of a pod that may be referenced. */
const known = new Set([
  ...fieldPaths,
  "metadata.annotations",
  "metadata.labels",
  "spec.restartPolicy",
  "spec.schedulerName",
  "status.phase",
]);
const resourcePaths = [
  "limits.cpu",
  "limits.ephemeral-storage",
  "limits.memory",
  "requests.cpu",
  "requests.ephemeral-storage",
  "requests.memory",
];

export function environment(container: Field): void {
  for (const variable of container.at("env").items) {
    const name = variable.at("name");
    if (name.require()) name.matches(envVarName);
    if (variable.at("valueFrom").present) valueFrom(variable.at("valueFrom"), variable.at("value").text);
  }
  const list = container.at("envFrom");
  for (const source of list.items) {
    const prefix = source.at("prefix");
    if (prefix.text !== "") prefix.matches(envVarName);
    const sources = ["configMapRef", "secretRef"].filter((name) => source.at(name).present);
    for (const name of sources) {
      const reference = source.at(name).at("name");
      if (reference.require()) reference.matches(dnsSubdomain);
    }
    if (sources.length === 0) list.invalid("must specify one of: `configMapRef` or `secretRef`", "");
    else if (sources.length > 1) list.invalid("may not have more than one field specified at a time", "");
  }
}

function valueFrom(from: Field, value: string): void {
  const [field, resource, file] = [from.at("fieldRef"), from.at("resourceFieldRef"), from.at("fileKeyRef")];
  let count = 0;
  const check = (source: Field, rule: (source: Field) => void): void => {
    if (!source.present) return;
    count += 1;
    rule(source);
  };
  check(field, (source) => fieldReference(source, fieldPaths));
  check(resource, (source) => resourceReference(source));
  check(from.at("configMapKeyRef"), keyReference);
  check(from.at("secretKeyRef"), keyReference);
  check(file, fileReference);
  if (count === 0) {
    from.invalid(
      "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`",
      "",
    );
  } else if (value !== "") from.invalid("may not be specified when `value` is not empty", "");
  else if (count > 1) from.invalid("may not have more than one field specified at a time", "");
}

function keyReference(reference: Field): void {
  reference.at("name").matches(dnsSubdomain);
  if (reference.at("key").require()) reference.at("key").matches(configMapKey);
}

function fileReference(reference: Field): void {
  const [key, volume, path] = [reference.at("key"), reference.at("volumeName"), reference.at("path")];
  if (key.require()) key.matches(envVarName);
  if (volume.require()) volume.matches(dnsLabel);
  if (path.require()) backsteps(path);
}

export function fieldReference(reference: Field, allowed: readonly string[]): void {
  const [version, path] = [reference.at("apiVersion"), reference.at("fieldPath")];
  if (!version.require() || !path.require()) return;
  const subscript = /^(?=.*'\]$)(.*)\['(.*)'\]$/s.exec(path.text);
  const [whole, key] = subscript ? [subscript[1] ?? "", subscript[2] ?? ""] : [path.text, undefined];
  if (version.text !== "v1") {
    path.invalid(`error converting fieldPath: unsupported pod version: ${version.text}`);
  } else if (key !== undefined) {
    if (whole === "metadata.labels") reference.with(key).matches(qualifiedName);
    else if (whole === "metadata.annotations") reference.with(key.toLowerCase()).matches(qualifiedName);
    else path.invalid(`error converting fieldPath: field label does not support subscript: ${path.text}`);
  } else if (!known.has(whole)) path.invalid(`error converting fieldPath: field label not supported: ${whole}`);
  else if (!allowed.includes(whole)) path.oneOf(allowed);
}

const bytes = ["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];

export function resourceReference(reference: Field, { isVolume = false }: { readonly isVolume?: boolean } = {}): void {
  const [container, resource] = [reference.at("containerName"), reference.at("resource")];
  const isPages = /^(limits|requests)\.hugepages-/.test(resource.text);
  if (isVolume && container.text === "") container.required();
  else if (resource.text === "") resource.required();
  else if (!resourcePaths.includes(resource.text) && !isPages) resource.oneOf(resourcePaths);
  divisor(reference.at("divisor"), resource.text, isPages);
}

function divisor(field: Field, resource: string, isPages: boolean): void {
  const text = field.present ? String(field.value) : "0";
  if (text === "0") return;
  const name = resource.split(".")[1] ?? "";
  if (name === "cpu") {
    if (text !== "1m" && text !== "1")
      field.invalid("only divisor's values 1m and 1 are supported with the cpu resource", resource);
    return;
  }
  const what = isPages
    ? "hugepages"
    : resource === `limits.${name}` || resource === `requests.${name}`
      ? { memory: "memory", "ephemeral-storage": "local ephemeral storage" }[name]
      : undefined;
  if (what !== undefined && !bytes.includes(text))
    field.invalid(`only divisor's values ${bytes.join(", ")} are supported with the ${what} resource`, resource);
}
