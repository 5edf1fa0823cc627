/** Rules of the volumes of pods. */
import { claimSpec } from "./claim-rules.ts";
import { fieldReference, resourceReference } from "./container-rules.ts";
import type { Field } from "./field.ts";
import { dnsLabel, dnsSubdomain } from "./formats.ts";

export interface PodVolumes {
  readonly names: Set<string>;
  readonly claims: Set<string>;
}

/** @returns the names that containers may mount */
export function volumes(list: Field, podName: string): PodVolumes {
  const [names, claims] = [new Set<string>(), new Set<string>()];
  for (const volume of list.items) {
    const before = volume.errors.length;
    source(volume, podName);
    const name = volume.at("name");
    if (name.require()) name.matches(dnsLabel);
    if (names.has(name.text)) name.duplicate();
    if (volume.errors.length > before) continue;
    names.add(name.text);
    if (volume.at("persistentVolumeClaim").present) claims.add(name.text);
  }
  return { names, claims };
}

type SourceRule = (source: Field, volume: Field, podName: string) => void;

const podFields = new Set([
  "metadata.name",
  "metadata.namespace",
  "metadata.labels",
  "metadata.annotations",
  "metadata.uid",
]);

const sourceRules: Readonly<Record<string, SourceRule>> = {
  emptyDir: () => undefined,
  hostPath: (source) => {
    if (source.at("path").require()) backsteps(source.at("path"));
    const type = source.at("type");
    if (type.present && type.text !== "") {
      type.oneOf(["BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"]);
    }
  },
  secret: (source) => {
    source.at("secretName").require();
    mode(source.at("defaultMode"));
    items(source);
  },
  configMap: (source) => {
    source.at("name").require();
    mode(source.at("defaultMode"));
    items(source);
  },
  persistentVolumeClaim: (source) => void source.at("claimName").require(),
  downwardAPI: (source) => {
    mode(source.at("defaultMode"));
    for (const item of source.at("items").items) downward(item, source);
  },
  projected: (source, volume) => {
    mode(source.at("defaultMode"));
    for (const each of source.at("sources").items) projection(each, source);
    void volume;
  },
  ephemeral: (source, volume, podName) => {
    const template = source.at("volumeClaimTemplate");
    if (!template.present) template.required();
    else claimSpec(template.at("spec"));
    const name = volume.at("name");
    if (podName !== "" && name.text !== "") {
      for (const detail of dnsSubdomain(`${podName}-${name.text}`))
        name.invalid(`PVC name "${podName}-${name.text}": ${detail}`);
    }
  },
  nfs: (source) => {
    source.at("server").require();
    if (source.at("path").require() && !source.at("path").text.startsWith("/"))
      source.at("path").invalid("must be an absolute path");
  },
  csi: (source) => {
    if (source.at("driver").require()) source.at("driver").matches(dnsSubdomain);
  },
  image: (source) => void source.at("reference").require(),
};

function source(volume: Field, podName: string): void {
  const given = volume.keys.filter((name) => name !== "name" && volume.at(name).present);
  for (const [index, name] of given.entries()) {
    if (index > 0) volume.at(name).forbidden("may not specify more than 1 volume type");
    else sourceRules[name]?.(volume.at(name), volume, podName);
  }
  if (given.length === 0) volume.required("must specify a volume type");
}

function items(source: Field): void {
  for (const item of source.at("items").items) {
    item.at("key").require();
    if (item.at("path").require()) relative(item.at("path"));
    mode(item.at("mode"));
  }
}

function downward(item: Field, place: Field): void {
  const [path, field, resource] = [item.at("path"), item.at("fieldRef"), item.at("resourceFieldRef")];
  const at = (name: string, value: unknown) => place.at(name).with(value);
  if (path.text === "") at("path", undefined).required();
  else relative(at("path", path.value));
  if (field.present) fieldReference(at("fieldRef", field.value), podFields);
  else if (resource.present) resourceReference(at("resourceFieldRef", resource.value));
  else place.required("one of fieldRef and resourceFieldRef is required");
}

function projection(each: Field, projected: Field): void {
  const token = each.at("serviceAccountToken");
  if (token.present && token.at("path").text === "") projected.at("path").required();
  for (const name of ["secret", "configMap"]) {
    if (!each.at(name).present) continue;
    each.at(name).at("name").require();
    items(each.at(name));
  }
  for (const item of each.at("downwardAPI").at("items").items) downward(item, each.at("downwardAPI"));
}

function mode(field: Field): void {
  if (field.present && (field.number < 0 || field.number > 511)) {
    field.invalid("must be a number between 0 and 0777 (octal), both inclusive", field.number);
  }
}

function relative(path: Field): void {
  if (path.text.startsWith("/")) path.invalid("must be a relative path");
  backsteps(path);
}

function backsteps(path: Field): void {
  if (path.text.split("/").includes("..")) path.invalid("must not contain '..'");
}
