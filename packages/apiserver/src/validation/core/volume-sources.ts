/** Validates volume sources of pods; persistent volumes have some of them too. */
import { goRegExp } from "../../schema/go-regexp.ts";
import type { Field } from "../field.ts";
import { dnsLabel, dnsSubdomain } from "../formats.ts";

export type SourceRule = (source: Field) => void;

/** Requires that these fields are not empty. */
function needs(...names: readonly string[]): SourceRule {
  return (source) => {
    for (const name of names) source.at(name).require();
  };
}

const iqn = String.raw`iqn\.\d{4}-\d{2}\.([a-zA-Z0-9\-.]+)(:[^,;*&$|\s]+)$`;
const eui = /^eui.[a-zA-Z0-9]{16}$/;
const naa = /^naa.[a-zA-Z0-9]{32}$/;

function initiator(name: Field): void {
  const { text } = name;
  const isVolume = name.path.includes("persistentVolume") || /^spec\.(iscsi|source)/.test(name.path);
  if (!/^(iqn|eui|naa)/.test(text))
    name.invalid(`must be valid format${isVolume ? "" : " starting with iqn, eui, or naa"}`, text);
  else if (!(text.startsWith("iqn") ? goRegExp(iqn)! : text.startsWith("eui") ? eui : naa).test(text))
    name.invalid("must be valid format", text);
}

function partition(source: Field): void {
  const field = source.at("partition");
  if (field.number < 0 || field.number > 255)
    field.invalid("must be an integer between 0 and 255 inclusive", field.number);
}

export function backsteps(path: Field): void {
  if (path.text.split("/").includes("..")) path.invalid("must not contain '..'", path.text);
}

/** Requires a relative path that stays below its mount point. */
export function descending(path: Field): void {
  if (path.text.startsWith("/")) path.invalid("must be a relative path", path.text);
  backsteps(path);
}

/** Requires the same, and a name that is not reserved. */
export function notReserved(path: Field): void {
  descending(path);
  if (path.text.startsWith("..") && !path.text.startsWith("../")) path.invalid("must not start with '..'", path.text);
}

const pathTypes = ["BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"];

function hostPath(source: Field): void {
  source.at("path").require();
  backsteps(source.at("path"));
  const type = source.at("type");
  if (type.present && !["", ...pathTypes].includes(type.text)) type.oneOf(["", ...pathTypes], { sorted: false });
}

function fibreChannel(source: Field): void {
  const [names, ids, lun] = [source.at("targetWWNs"), source.at("wwids"), source.at("lun")];
  if (names.empty && ids.empty) names.required("must specify either targetWWNs or wwids, but not both");
  if (!names.empty && !ids.empty) names.invalid("targetWWNs and wwids can not be specified simultaneously");
  if (names.empty) return;
  if (!lun.present) lun.required("lun is required if targetWWNs is specified");
  else lun.inRange(0, 255);
}

function flocker(source: Field): void {
  const [name, id] = [source.at("datasetName"), source.at("datasetUUID")];
  if (name.empty && id.empty) source.required("one of datasetName and datasetUUID is required");
  if (!name.empty && !id.empty)
    source.invalid("datasetName and datasetUUID can not be specified simultaneously", "resource");
  if (name.text.includes("/")) name.invalid("must not contain '/'");
}

const pair = "must be a host:port pair or multiple pairs separated by commas";

function quobyte(source: Field): void {
  const registry = source.at("registry");
  if (registry.empty) registry.required(pair);
  else if (source.at("tenant").text.length >= 65)
    source.at("tenant").required("must be a UUID and may not exceed a length of 64 characters");
  else {
    for (const each of registry.text.split(",")) {
      if (!/^(\[[^\]]*\]|[^:]*):[^:]*$/.test(each)) registry.invalid(pair, registry.text);
    }
  }
  source.at("volume").require();
}

function azureDisk(source: Field): void {
  needs("diskName", "diskURI")(source);
  const [caching, kind, uri] = [source.at("cachingMode"), source.at("kind"), source.at("diskURI")];
  if (caching.present) caching.oneOf(["None", "ReadOnly", "ReadWrite"]);
  if (!kind.present) return;
  kind.oneOf(["Dedicated", "Managed", "Shared"]);
  if (kind.text === "Managed") {
    if (!uri.text.startsWith("/subscriptions/"))
      uri.oneOf(["/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"]);
  } else if (!uri.text.startsWith("https://"))
    uri.oneOf(["https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"]);
}

/** Validates a driver, which may be any program. */
function flexVolume(source: Field): void {
  source.at("driver").require();
  for (const name of source.at("options").keys) {
    const domain = `.${(name.includes("/") ? (name.split("/")[0] ?? "") : name).toLowerCase()}`;
    if (domain.endsWith(".kubernetes.io") || domain.endsWith(".k8s.io"))
      source.at("options").key(name).with(name).invalid("kubernetes.io and k8s.io namespaces are reserved");
  }
}

function storageOs(source: Field): void {
  const [name, namespace] = [source.at("volumeName"), source.at("volumeNamespace")];
  if (name.require()) name.matches(dnsLabel);
  if (namespace.text !== "") namespace.matches(dnsLabel);
  if (source.at("secretRef").present) source.at("secretRef").at("name").require();
}

/** @see https://github.com/container-storage-interface/spec */
function driverName(name: Field): void {
  if (!name.require()) return;
  if (name.text.length > 63) name.tooLong(63);
  for (const detail of dnsSubdomain(name.text.toLowerCase())) name.invalid(detail, name.text);
}

function csi(source: Field): void {
  driverName(source.at("driver"));
  const secret = source.at("nodePublishSecretRef");
  if (secret.present && secret.at("name").require())
    for (const detail of dnsSubdomain(secret.at("name").text))
      source.at("name").invalid(detail, secret.at("name").text);
}

function iscsi(source: Field): void {
  needs("targetPortal")(source);
  const name = source.at("iqn");
  if (name.require()) initiator(name);
  source.at("lun").inRange(0, 255);
  const authenticated = source.at("chapAuthDiscovery").value === true || source.at("chapAuthSession").value === true;
  if (authenticated && !source.at("secretRef").present) source.at("secretRef").required();
  const own = source.at("initiatorName");
  if (own.present) initiator(source.at("initiatorname").with(own.value));
}

/** The rules by the name of the source, in the order in which the server checks them. */
export const simpleSources: Readonly<Record<string, SourceRule>> = {
  hostPath,
  gitRepo: (source) => {
    source.at("repository").require();
    descending(source.at("directory"));
  },
  gcePersistentDisk: (source) => {
    needs("pdName")(source);
    partition(source);
  },
  awsElasticBlockStore: (source) => {
    needs("volumeID")(source);
    partition(source);
  },
  nfs: (source) => {
    needs("server", "path")(source);
    if (!source.at("path").text.startsWith("/"))
      source.at("path").invalid("must be an absolute path", source.at("path").text);
  },
  iscsi,
  glusterfs: needs("endpoints", "path"),
  flocker,
  persistentVolumeClaim: needs("claimName"),
  rbd: needs("monitors", "image"),
  cinder: (source) => {
    needs("volumeID")(source);
    if (source.at("secretRef").present) source.at("secretRef").at("name").require();
  },
  cephfs: needs("monitors"),
  quobyte,
  fc: fibreChannel,
  flexVolume,
  azureFile: needs("secretName", "shareName"),
  vsphereVolume: needs("volumePath"),
  photonPersistentDisk: needs("pdID"),
  portworxVolume: needs("volumeID"),
  azureDisk,
  storageos: storageOs,
  scaleIO: needs("gateway", "system", "volumeName"),
  csi,
};
