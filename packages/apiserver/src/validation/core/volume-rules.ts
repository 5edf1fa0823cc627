/** Validates the volumes of pods. */
import { claimTemplate } from "./claim-rules.ts";
import { signerName } from "../certificates/signer-name.ts";
import { fieldReference, resourceReference } from "./env-rules.ts";
import { isNegative } from "../quantities.ts";
import type { Field } from "../field.ts";
import { dnsLabel, dnsSubdomain } from "../formats.ts";
import { labelSelector } from "../selector-rules.ts";
import { notReserved, simpleSources } from "./volume-sources.ts";

export interface PodVolumes {
  readonly names: Set<string>;
  /** The volumes that may be used as block devices. */
  readonly claims: Set<string>;
}

export interface VolumesOf {
  /** The pod's name; `""` for templates. */
  readonly podName: string;
  readonly isPod: boolean;
}

/** Validates volumes. @returns the names that containers may mount */
export function volumes(list: Field, of: VolumesOf): PodVolumes {
  const [names, claims] = [new Set<string>(), new Set<string>()];
  const made = new Set(
    list.items
      .filter((volume) => of.podName !== "" && volume.at("ephemeral").present)
      .map((volume) => `${of.podName}-${volume.at("name").text}`),
  );
  for (const volume of list.items) {
    const before = volume.errors.length;
    source(volume, of);
    const name = volume.at("name");
    if (name.require()) name.matches(dnsLabel);
    if (names.has(name.text)) name.duplicate();
    const isGood = volume.errors.length === before;
    const claim = volume.at("persistentVolumeClaim");
    if (claim.present && made.has(claim.at("claimName").text))
      claim.at("claimName").invalid("must not reference a PVC that gets created for an ephemeral volume");
    if (!isGood) continue;
    names.add(name.text);
    if (claim.present || volume.at("ephemeral").present) claims.add(name.text);
  }
  return { names, claims };
}

const podFields = ["metadata.name", "metadata.namespace", "metadata.labels", "metadata.annotations", "metadata.uid"];

/** The sources in the server's order. The error about a surplus source names some of them differently. */
const order = [
  "emptyDir",
  "hostPath",
  "gitRepo",
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "secret",
  "nfs",
  "iscsi",
  "glusterfs",
  "flocker",
  "persistentVolumeClaim",
  "rbd",
  "cinder",
  "cephfs",
  "quobyte",
  "downwardAPI",
  "fc",
  "flexVolume",
  "configMap",
  "azureFile",
  "vsphereVolume",
  "photonPersistentDisk",
  "portworxVolume",
  "azureDisk",
  "storageos",
  "projected",
  "scaleIO",
  "csi",
  "ephemeral",
  "image",
];
const misnamed: Readonly<Record<string, string>> = { cephfs: "cephFS", downwardAPI: "downwarAPI" };
const named: Readonly<Record<string, string>> = { gcePersistentDisk: "persistentDisk" };

function source(volume: Field, of: VolumesOf): void {
  let count = 0;
  for (const name of order) {
    const source = volume.at(name);
    if (!source.present) continue;
    if (count > 0) {
      volume.at(misnamed[name] ?? name).forbidden("may not specify more than 1 volume type");
    } else {
      checkSource(name, volume.at(named[name] ?? name).with(source.value), { volume, of });
    }
    if (name === "iscsi") longPortal(volume, source);
    count += 1;
  }
  if (count === 0) volume.required("must specify a volume type");
}

function longPortal(volume: Field, given: Field): void {
  const text = `${volume.at("name").text}:${given.at("targetPortal").text}`;
  if (!given.at("initiatorName").present || text.length <= 64) return;
  volume
    .at("name")
    .invalid(
      "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.",
      volume.at("name").text,
    );
}

function checkSource(
  name: string,
  given: Field,
  { volume, of }: { readonly volume: Field; readonly of: VolumesOf },
): void {
  switch (name) {
    case "emptyDir":
      if (given.at("sizeLimit").present && isNegative(given.at("sizeLimit").value))
        given.at("sizeLimit").forbidden("SizeLimit field must be a valid resource quantity");
      return;
    case "secret":
      given.at("secretName").require();
      keyed(given);
      return;
    case "configMap":
      given.at("name").require();
      keyed(given);
      return;
    case "downwardAPI":
      mode(given.at("defaultMode"));
      for (const item of given.at("items").items) downward(item, given);
      return;
    case "projected":
      projected(given);
      return;
    case "ephemeral":
      if (given.at("volumeClaimTemplate").present) claimTemplate(given.at("volumeClaimTemplate"));
      else given.at("volumeClaimTemplate").required();
      claimName(volume, of.podName);
      return;
    case "image":
      if (of.isPod) given.at("reference").require();
      given.at("pullPolicy").requireOneOf(["Always", "IfNotPresent", "Never"]);
      return;
    default:
      simpleSources[name]?.(given);
  }
}

function claimName(volume: Field, podName: string): void {
  const name = volume.at("name");
  if (podName === "" || name.text === "") return;
  for (const detail of dnsSubdomain(`${podName}-${name.text}`))
    name.invalid(`PVC name "${podName}-${name.text}": ${detail}`, name.text);
}

function keyed(given: Field): void {
  mode(given.at("defaultMode"));
  for (const item of given.at("items").items) keyToPath(item);
}

function keyToPath(item: Field): void {
  item.at("key").require();
  item.at("path").require();
  notReserved(item.at("path"));
  mode(item.at("mode"));
}

/** Validates an item; its errors have the path of the list's parent. */
function downward(item: Field, place: Field): void {
  const at = (name: string): Field => place.at(name).with(item.fields[name]);
  at("path").require();
  notReserved(at("path"));
  const [field, resource] = [at("fieldRef"), at("resourceFieldRef")];
  if (field.present) {
    fieldReference(field, podFields);
    if (resource.present)
      place.invalid("fieldRef and resourceFieldRef can not be specified simultaneously", "resource");
  } else if (resource.present) resourceReference(resource, { isVolume: true });
  else place.required("one of fieldRef and resourceFieldRef is required");
  mode(at("mode"));
}

function projected(given: Field): void {
  const paths = new Set<string>();
  const once = (path: string, shown: string): void => {
    if (path === "") return;
    if (paths.has(path)) given.invalid("conflicting duplicate paths", shown);
    paths.add(path);
  };
  mode(given.at("defaultMode"));
  for (const each of given.at("sources").items) {
    const kinds = ["secret", "configMap", "downwardAPI", "serviceAccountToken", "clusterTrustBundle", "podCertificate"];
    for (const name of ["secret", "configMap"]) {
      const from = each.at(name);
      if (!from.present) continue;
      from.at("name").require();
      for (const item of from.at("items").items) {
        keyToPath(item);
        once(item.at("path").text, from.at("name").text);
      }
    }
    for (const item of each.at("downwardAPI").at("items").items) {
      downward(item, each.at("downwardAPI"));
      once(item.at("path").text, item.at("path").text);
    }
    if (each.at("serviceAccountToken").present) tokenSource(each.at("serviceAccountToken"), given);
    if (each.at("clusterTrustBundle").present) trustBundle(each.at("clusterTrustBundle"), once);
    if (each.at("podCertificate").present) certificate(each.at("podCertificate"), once);
    if (kinds.filter((name) => each.at(name).present).length > 1)
      each.forbidden("may not specify more than 1 volume type per source");
  }
}

function tokenSource(token: Field, place: Field): void {
  const lifetime = token.at("expirationSeconds");
  if (lifetime.number < 600) lifetime.invalid("may not specify a duration less than 10 minutes", lifetime.number);
  if (lifetime.number > 2 ** 32)
    lifetime.invalid("may not specify a duration larger than 2^32 seconds", lifetime.number);
  const path = place.at("path").with(token.at("path").value);
  if (path.text === "") path.required();
  else notReserved(path);
}

function trustBundle(bundle: Field, once: (path: string, shown: string) => void): void {
  const [name, signer, selector, path] = [
    bundle.at("name"),
    bundle.at("signerName"),
    bundle.at("labelSelector"),
    bundle.at("path"),
  ];
  if (name.present && signer.present) bundle.invalid("only one of name and signerName may be used", bundle.value);
  else if (name.present) {
    if (name.text === "") name.required("must be a valid object name");
    for (const detail of dnsSubdomain(name.text))
      name.invalid(`not a valid clustertrustbundlename: ${detail}`, name.text);
    if (selector.present) selector.invalid("labelSelector must be unset if name is specified", selector.value);
  } else if (signer.present) {
    if (signer.text === "") signer.required("must be a valid signer name");
    labelSelector(selector);
  } else bundle.required("either name or signerName must be specified");
  path.require();
  notReserved(path);
  once(path.text, path.text);
}

const keyTypes = ["RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"];

function certificate(source: Field, once: (path: string, shown: string) => void): void {
  const [signer, lifetime] = [source.at("signerName"), source.at("maxExpirationSeconds")];
  signerName(signer);
  if (!keyTypes.includes(source.at("keyType").text)) source.at("keyType").oneOf(keyTypes, { sorted: false });
  if (lifetime.present) {
    const most = /^([^/]+\.)?kubernetes\.io\//.test(signer.text) ? 86_400 : 7_862_400;
    if (lifetime.number < 3600) lifetime.invalid("if provided, maxExpirationSeconds must be >= 3600", lifetime.number);
    if (lifetime.number > most)
      lifetime.invalid(`if provided, maxExpirationSeconds must be <= ${most}`, lifetime.number);
  }
  const paths = ["credentialBundlePath", "keyPath", "certificateChainPath"].map((name) => source.at(name));
  for (const path of paths) {
    if (path.text === "") continue;
    notReserved(path);
    once(path.text, path.text);
  }
  if (paths.every((path) => path.text === ""))
    source.required("specify at least one of credentialBundlePath, keyPath, and certificateChainPath");
}

function mode(field: Field): void {
  if (field.present && (field.number < 0 || field.number > 511)) {
    field.invalid("must be a number between 0 and 0777 (octal), both inclusive", field.number);
  }
}
