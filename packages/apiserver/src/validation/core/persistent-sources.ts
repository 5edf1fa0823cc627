/** Validates the sources of persistent volumes. */
import type { Field } from "../field.ts";
import { dnsLabel, dnsSubdomain } from "../formats.ts";
import { backsteps, driverName, flexVolume, hostPath, simpleSources, storageOs } from "./volume-sources.ts";

/** The sources in the order in which the server checks them. */
const order = [
  "hostPath",
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "glusterfs",
  "flocker",
  "nfs",
  "rbd",
  "quobyte",
  "cephfs",
  "iscsi",
  "cinder",
  "fc",
  "flexVolume",
  "azureFile",
  "vsphereVolume",
  "photonPersistentDisk",
  "portworxVolume",
  "azureDisk",
  "scaleIO",
  "local",
  "storageos",
  "csi",
];

export function persistentSource(spec: Field, name: string): void {
  let count = 0;
  for (const kind of order) {
    const source = spec.at(kind);
    if (!source.present) continue;
    if (count > 0 && kind !== "flexVolume")
      spec.at(kind === "cephfs" ? "cephFS" : kind).forbidden("may not specify more than 1 volume type");
    else
      check(kind, kind === "gcePersistentDisk" ? spec.at("persistentDisk").with(source.value) : source, { spec, name });
    count += 1;
  }
  if (count === 0) spec.required("must specify a volume type");
}

function check(kind: string, source: Field, { spec, name }: { readonly spec: Field; readonly name: string }): void {
  switch (kind) {
    case "hostPath":
      return hostPath(source);
    case "flexVolume":
      return flexVolume(source);
    case "local":
      source.at("path").require();
      backsteps(source.at("path"));
      if (!spec.at("nodeAffinity").at("required").present)
        spec.at("nodeAffinity").required("Local volume requires node affinity");
      return;
    case "csi":
      driverName(source.at("driver"));
      source.at("volumeHandle").require();
      for (const secret of [
        "controllerPublishSecretRef",
        "controllerExpandSecretRef",
        "nodePublishSecretRef",
        "nodeExpandSecretRef",
      ])
        if (source.at(secret).present) secretReference(source.at(secret));
      return;
    case "storageos":
      storageOs(source);
      if (source.at("secretRef").present) source.at("secretRef").at("namespace").require();
      return;
    case "cinder":
      simpleSources["cinder"]?.(source);
      if (source.at("secretRef").present) source.at("secretRef").at("namespace").require();
      return;
    case "glusterfs":
      simpleSources["glusterfs"]?.(source);
      if (source.at("endpointsNamespace").present) gluster(source.at("endpointsNamespace"));
      return;
    case "azureFile":
      simpleSources["azureFile"]?.(source);
      if (source.at("secretNamespace").present) source.at("secretNamespace").require();
      return;
    case "iscsi":
      if (source.at("initiatorName").present && `${name}:${source.at("targetPortal").text}`.length > 64)
        source
          .at("targetportal")
          .invalid(
            "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.",
            source.at("targetPortal").text,
          );
      simpleSources["iscsi"]?.(source);
      return;
    default:
      simpleSources[kind]?.(source);
  }
}

function gluster(namespace: Field): void {
  if (namespace.text === "")
    namespace.invalid("if the endpointnamespace is set, it must be a valid namespace name", "");
  else namespace.matches(dnsLabel);
}

function secretReference(secret: Field): void {
  const [name, namespace] = [secret.at("name"), secret.at("namespace")];
  if (name.require()) name.matches(dnsSubdomain);
  if (namespace.require()) namespace.matches(dnsLabel);
}
