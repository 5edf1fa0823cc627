/**
 * The checks of level `restricted`, besides those that it takes over from `baseline`. @see
 * https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted
 */
import type { Fields } from "../../hooks.ts";
import { each, has, inner } from "../../validation/fill.ts";
import { procMount } from "./baseline.ts";
import { badSeccomp, withoutSeccomp } from "./baseline-profiles.ts";
import { type Check, type CheckVersion, containersOf, containersText, type Finding } from "./check.ts";
import { nameOf, plural, type PodParts, quotedList, settersText, sorted } from "./check.ts";

/** The checks by name, which is the order in which findings are reported. */
export const restricted: readonly Check[] = [
  {
    id: "allowPrivilegeEscalation",
    versions: [
      { since: 8, check: escalation },
      { since: 25, check: notOnWindows(escalation) },
    ],
  },
  { id: "capabilities_restricted", versions: sinceWindows(22, "capabilities_baseline", capabilities) },
  { id: "procMount_restricted", versions: [{ since: 35, overrides: "procMount", check: procMount }] },
  { id: "restrictedVolumes", versions: [{ since: 0, overrides: "hostPathVolumes", check: volumes }] },
  {
    id: "runAsNonRoot",
    versions: [
      { since: 0, check: nonRoot },
      { since: 35, check: notInUserNamespace(nonRoot) },
    ],
  },
  {
    id: "runAsUser",
    versions: [
      { since: 23, check: user },
      { since: 35, check: notInUserNamespace(user) },
    ],
  },
  { id: "seccompProfile_restricted", versions: sinceWindows(19, "seccompProfile_baseline", seccomp) },
];

type CheckPod = CheckVersion["check"];

function notOnWindows(check: CheckPod): CheckPod {
  return (pod) => (inner(pod.spec, "os")["name"] === "windows" ? undefined : check(pod));
}

function notInUserNamespace(check: CheckPod): CheckPod {
  return (pod) => (pod.spec["hostUsers"] === false ? undefined : check(pod));
}

function sinceWindows(since: number, overrides: string, check: CheckPod): CheckVersion[] {
  return [
    { since, overrides, check },
    { since: 25, overrides, check: notOnWindows(check) },
  ];
}

function security(holder: Fields): Fields {
  return inner(holder, "securityContext");
}

function escalation({ spec }: PodParts): Finding | undefined {
  const bad = containersOf(spec).filter((container) => security(container)["allowPrivilegeEscalation"] !== false);
  if (bad.length === 0) return undefined;
  const detail = `${containersText(bad.map(nameOf))} must set securityContext.allowPrivilegeEscalation=false`;
  return { reason: "allowPrivilegeEscalation != false", detail };
}

function capabilities({ spec }: PodParts): Finding | undefined {
  const of = (container: Fields, field: string): string[] =>
    (inner(security(container), "capabilities")[field] ?? []) as string[];
  const keeping = containersOf(spec).filter((container) => !of(container, "drop").includes("ALL"));
  const added = (container: Fields): string[] => of(container, "add").filter((name) => name !== "NET_BIND_SERVICE");
  const adding = containersOf(spec).filter((container) => added(container).length > 0);
  const details: string[] = [];
  if (keeping.length > 0) {
    details.push(`${containersText(keeping.map(nameOf))} must set securityContext.capabilities.drop=["ALL"]`);
  }
  if (adding.length > 0) {
    const names = quotedList(sorted(adding.flatMap(added)));
    details.push(`${containersText(adding.map(nameOf))} must not include ${names} in securityContext.capabilities.add`);
  }
  return details.length === 0 ? undefined : { reason: "unrestricted capabilities", detail: details.join("; ") };
}

const fineVolumes = "configMap csi downwardAPI emptyDir ephemeral image persistentVolumeClaim projected secret".split(
  " ",
);
const otherVolumes =
  "hostPath gcePersistentDisk awsElasticBlockStore gitRepo nfs iscsi glusterfs rbd flexVolume cinder cephfs flocker fc azureFile vsphereVolume quobyte azureDisk photonPersistentDisk portworxVolume scaleIO storageos".split(
    " ",
  );

function volumes({ spec }: PodParts): Finding | undefined {
  const bad = each(spec, "volumes").filter((volume) => !fineVolumes.some((type) => has(volume, type)));
  if (bad.length === 0) return undefined;
  const types = sorted(bad.map((volume) => otherVolumes.find((type) => has(volume, type)) ?? "unknown"));
  const detail = [
    plural("volume", "volumes", bad.length),
    quotedList(bad.map(nameOf)),
    plural("uses", "use", bad.length),
    plural("restricted volume type", "restricted volume types", types.length),
    quotedList(types),
  ].join(" ");
  return { reason: "restricted volume types", detail };
}

function nonRoot({ spec }: PodParts): Finding | undefined {
  const reason = "runAsNonRoot != true";
  const runAsNonRoot = (holder: Fields): unknown => security(holder)["runAsNonRoot"] ?? undefined;
  const roots = containersOf(spec).filter((container) => runAsNonRoot(container) === false);
  if (runAsNonRoot(spec) === false || roots.length > 0) {
    const who = settersText(runAsNonRoot(spec) === false, roots.map(nameOf));
    return { reason, detail: `${who} must not set securityContext.runAsNonRoot=false` };
  }
  if (runAsNonRoot(spec) === true) return undefined;
  const silent = containersOf(spec).filter((container) => runAsNonRoot(container) === undefined);
  if (silent.length === 0) return undefined;
  const detail = `pod or ${containersText(silent.map(nameOf))} must set securityContext.runAsNonRoot=true`;
  return { reason, detail };
}

function user({ spec }: PodParts): Finding | undefined {
  const isRoot = (holder: Fields): boolean => security(holder)["runAsUser"] === 0;
  const bad = containersOf(spec).filter(isRoot).map(nameOf);
  if (!isRoot(spec) && bad.length === 0) return undefined;
  return { reason: "runAsUser=0", detail: `${settersText(isRoot(spec), bad)} must not set runAsUser=0` };
}

function seccomp({ spec }: PodParts): Finding | undefined {
  const detail = badSeccomp(spec) ?? withoutSeccomp(spec);
  return detail === undefined ? undefined : { reason: "seccompProfile", detail };
}
