/** The defaults of pods and of their parts. */
import type { Fields } from "../../hooks.ts";
import { containerResources, isOfPods } from "../../admission/pod-resources.ts";
import { formatQuantity } from "../../schema/quantity.ts";
import { type DefaultTable, each, fill, filled, fillNumbers, has, inner } from "../fill.ts";

const sources = new Set(["name"]);

export const podDefaults: DefaultTable = {
  Pod: (pod) => {
    const spec = inner(pod, "spec");
    for (const container of [...each(spec, "containers"), ...each(spec, "initContainers")]) requestLimits(container);
    if (has(spec, "resources")) requestForPod(spec);
    fill(spec, { enableServiceLinks: true });
    hostPorts(spec);
  },
  PodSpec: (spec) => {
    fill(spec, {
      dnsPolicy: "ClusterFirst",
      restartPolicy: "Always",
      securityContext: {},
      terminationGracePeriodSeconds: 30,
      schedulerName: "default-scheduler",
    });
    // The older name of the field is set as well.
    fill(spec, has(spec, "serviceAccountName") ? {} : { serviceAccountName: spec["serviceAccount"] });
    if (spec["serviceAccountName"]) spec["serviceAccount"] = spec["serviceAccountName"];
    else {
      delete spec["serviceAccount"];
      delete spec["serviceAccountName"];
    }
  },
  PodStatus: addresses,
  Container: container,
  EphemeralContainer: container,
  ContainerPort: filled({ protocol: "TCP" }),
  Probe: (probe) => {
    fillNumbers(probe, { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 });
  },
  HTTPGetAction: filled({ path: "/", scheme: "HTTP" }),
  GRPCAction: (action) => {
    if (!has(action, "service")) action["service"] = "";
  },
  ObjectFieldSelector: filled({ apiVersion: "v1" }),
  ResourceFieldSelector: (selector) => {
    if (!has(selector, "divisor")) selector["divisor"] = "0";
  },
  Volume: (volume) => {
    if (!Object.keys(volume).some((name) => !sources.has(name) && has(volume, name))) volume["emptyDir"] = {};
  },
  HostPathVolumeSource: (source) => {
    if (!has(source, "type")) source["type"] = "";
  },
  SecretVolumeSource: filled({ defaultMode: 420 }),
  ConfigMapVolumeSource: filled({ defaultMode: 420 }),
  DownwardAPIVolumeSource: filled({ defaultMode: 420 }),
  ProjectedVolumeSource: filled({ defaultMode: 420 }),
  ServiceAccountTokenProjection: filled({ expirationSeconds: 3600 }),
  ISCSIVolumeSource: filled({ iscsiInterface: "default" }),
  ISCSIPersistentVolumeSource: filled({ iscsiInterface: "default" }),
  RBDVolumeSource: filled({ pool: "rbd", user: "admin", keyring: "/etc/ceph/keyring" }),
  RBDPersistentVolumeSource: filled({ pool: "rbd", user: "admin", keyring: "/etc/ceph/keyring" }),
  ImageVolumeSource: (source) => {
    const image = typeof source["reference"] === "string" ? source["reference"] : "";
    fill(source, { pullPolicy: pullsLatest(image) ? "Always" : "IfNotPresent" });
  },
  AzureDiskVolumeSource: filled({ cachingMode: "ReadWrite", kind: "Shared", fsType: "ext4", readOnly: false }),
  ScaleIOVolumeSource: filled({ storageMode: "ThinProvisioned", fsType: "xfs" }),
  ScaleIOPersistentVolumeSource: filled({ storageMode: "ThinProvisioned", fsType: "xfs" }),
};

/** Keeps `podIP` and the first of `podIPs` equal; `podIP` wins where both are set, for compatibility with older kubelets. */
function addresses(status: Fields): void {
  const one = status["podIP"];
  const [first] = each(status, "podIPs");
  if (one && one !== first?.["ip"]) status["podIPs"] = [{ ip: one }];
  else if (!one && first?.["ip"]) status["podIP"] = first["ip"];
}

function container(fields: Fields): void {
  const image = typeof fields["image"] === "string" ? fields["image"] : "";
  fill(fields, {
    imagePullPolicy: pullsLatest(image) ? "Always" : "IfNotPresent",
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
  });
}

const part = "[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*";
const host =
  "(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])(?:\\.(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))*";
const reference = new RegExp(
  `^((?:(?:${host}|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?/)?${part}(?:/${part})*)(?::[\\w][\\w.-]{0,127})?(?:@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?$`,
);

/** Whether an image has the tag `latest` or none; an invalid image has no tag. */
function pullsLatest(image: string): boolean {
  const name = reference.exec(image)?.[1];
  if (name === undefined || name.length > 255) return false;
  const last = image.slice(image.lastIndexOf("/") + 1);
  const at = last.indexOf("@");
  const colon = (at < 0 ? last : last.slice(0, at)).indexOf(":");
  if (colon >= 0) return (at < 0 ? last : last.slice(0, at)).slice(colon + 1) === "latest";
  return at < 0;
}

function requestLimits(fields: Fields): void {
  const resources = inner(fields, "resources");
  const limits = inner(resources, "limits");
  if (Object.keys(limits).length === 0) return;
  resources["requests"] = { ...limits, ...inner(resources, "requests") };
}

/** Completes the requests of a pod with limits of its own: from its containers' requests, then from its limits. */
function requestForPod(spec: Fields): void {
  const resources = inner(spec, "resources");
  const limits = inner(resources, "limits");
  if (Object.keys(limits).length === 0) return;
  const requests = containerResources(spec, "requests");
  const needed = [...requests].filter(([name]) => name === "cpu" || name === "memory");
  const own = Object.fromEntries(Object.entries(limits).filter(([name]) => isOfPods(name)));
  resources["requests"] = {
    ...own,
    ...Object.fromEntries(needed.map(([name, quantity]) => [name, formatQuantity(quantity)])),
    ...inner(resources, "requests"),
  };
}

function hostPorts(spec: Fields): void {
  if (spec["hostNetwork"] !== true) return;
  for (const one of [...each(spec, "containers"), ...each(spec, "initContainers")]) {
    for (const port of each(one, "ports")) if (!port["hostPort"]) port["hostPort"] = port["containerPort"];
  }
}
