/** The checks of level `baseline`. @see https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline */
import type { Fields } from "../../hooks.ts";
import { each, has, inner } from "../../validation/fill.ts";
import { profiles } from "./baseline-profiles.ts";
import { type Check, containersOf, containersText, type Finding, nameOf } from "./check.ts";
import { plural, type PodParts, quotedList, settersText, sorted } from "./check.ts";

/** The checks by name, which is the order in which findings are reported. */
export const baseline: readonly Check[] = [
  ...profiles,
  { id: "capabilities_baseline", versions: [{ since: 0, check: capabilities }] },
  { id: "hostNamespaces", versions: [{ since: 0, check: hostNamespaces }] },
  { id: "hostPathVolumes", versions: [{ since: 0, check: hostPaths }] },
  { id: "hostPorts", versions: [{ since: 0, check: hostPorts }] },
  { id: "hostProbesAndHostLifecycle", versions: [{ since: 34, check: probeHosts }] },
  { id: "privileged", versions: [{ since: 0, check: privileged }] },
  {
    id: "procMount",
    versions: [
      { since: 0, check: procMount },
      { since: 35, check: (pod: PodParts) => (pod.spec["hostUsers"] === false ? undefined : procMount(pod)) },
    ],
  },
  {
    id: "sysctls",
    versions: [
      { since: 0, check: sysctls(0) },
      { since: 27, check: sysctls(27) },
      { since: 29, check: sysctls(29) },
      { since: 32, check: sysctls(32) },
    ],
  },
  { id: "windowsHostProcess", versions: [{ since: 0, check: hostProcess }] },
].toSorted((one, other) => (one.id < other.id ? -1 : 1));

const usual = new Set(
  "AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE SETFCAP SETGID SETPCAP SETUID SYS_CHROOT".split(
    " ",
  ),
);

function security(container: Fields): Fields {
  return inner(container, "securityContext");
}

function capabilities({ spec }: PodParts): Finding | undefined {
  const added = (container: Fields): string[] =>
    ((inner(security(container), "capabilities")["add"] ?? []) as string[]).filter((name) => !usual.has(name));
  const bad = containersOf(spec).filter((container) => added(container).length > 0);
  if (bad.length === 0) return undefined;
  const names = quotedList(sorted(bad.flatMap(added)));
  const detail = `${containersText(bad.map(nameOf))} must not include ${names} in securityContext.capabilities.add`;
  return { reason: "non-default capabilities", detail };
}

function hostNamespaces({ spec }: PodParts): Finding | undefined {
  const shared = ["hostNetwork", "hostPID", "hostIPC"].filter((name) => spec[name] === true);
  if (shared.length === 0) return undefined;
  return { reason: "host namespaces", detail: shared.map((name) => `${name}=true`).join(", ") };
}

function hostPaths({ spec }: PodParts): Finding | undefined {
  const bad = each(spec, "volumes").filter((volume) => has(volume, "hostPath"));
  if (bad.length === 0) return undefined;
  const detail = `${plural("volume", "volumes", bad.length)} ${quotedList(bad.map(nameOf))}`;
  return { reason: "hostPath volumes", detail };
}

function hostPorts({ spec }: PodParts): Finding | undefined {
  const ports = (container: Fields): string[] =>
    each(container, "ports")
      .filter((port) => port["hostPort"])
      .map((port) => String(port["hostPort"]));
  const bad = containersOf(spec).filter((container) => ports(container).length > 0);
  if (bad.length === 0) return undefined;
  const all = sorted(bad.flatMap(ports));
  const use = plural("uses", "use", bad.length);
  const detail = `${containersText(bad.map(nameOf))} ${use} ${plural("hostPort", "hostPorts", all.length)} ${all.join(", ")}`;
  return { reason: "hostPort", detail };
}

function probeHosts({ spec }: PodParts): Finding | undefined {
  const hosts = (container: Fields): string[] => {
    const lifecycle = inner(container, "lifecycle");
    const handlers = [
      ...["livenessProbe", "readinessProbe", "startupProbe"].map((name) => inner(container, name)),
      ...["postStart", "preStop"].map((name) => inner(lifecycle, name)),
    ];
    return handlers
      .flatMap((handler) => ["httpGet", "tcpSocket"].map((how) => inner(handler, how)["host"]))
      .filter((host): host is string => typeof host === "string" && host !== "");
  };
  const bad = containersOf(spec).filter((container) => hosts(container).length > 0);
  if (bad.length === 0) return undefined;
  const all = sorted(bad.flatMap(hosts));
  const names = sorted(bad.map(nameOf));
  const what = plural("probe or lifecycle host", "probe or lifecycle hosts", all.length);
  const detail = `${containersText(names)} ${plural("uses", "use", names.length)} ${what} ${quotedList(all)}`;
  return { reason: "probe or lifecycle host", detail };
}

function privileged({ spec }: PodParts): Finding | undefined {
  const bad = containersOf(spec).filter((container) => security(container)["privileged"] === true);
  if (bad.length === 0) return undefined;
  const detail = `${containersText(bad.map(nameOf))} must not set securityContext.privileged=true`;
  return { reason: "privileged", detail };
}

export function procMount({ spec }: PodParts): Finding | undefined {
  const mount = (container: Fields): unknown => security(container)["procMount"];
  const bad = containersOf(spec).filter((container) => (mount(container) ?? "Default") !== "Default");
  if (bad.length === 0) return undefined;
  const types = quotedList(sorted(bad.map((container) => String(mount(container)))));
  const detail = `${containersText(bad.map(nameOf))} must not set securityContext.procMount to ${types}`;
  return { reason: "procMount", detail };
}

/** The allowed sysctls, each with the minor version since which it is allowed. */
const allowedSysctls: Readonly<Record<string, number>> = {
  "kernel.shm_rmid_forced": 0,
  "net.ipv4.ip_local_port_range": 0,
  "net.ipv4.tcp_syncookies": 0,
  "net.ipv4.ping_group_range": 0,
  "net.ipv4.ip_unprivileged_port_start": 0,
  "net.ipv4.ip_local_reserved_ports": 27,
  "net.ipv4.tcp_keepalive_time": 29,
  "net.ipv4.tcp_fin_timeout": 29,
  "net.ipv4.tcp_keepalive_intvl": 29,
  "net.ipv4.tcp_keepalive_probes": 29,
  "net.ipv4.tcp_rmem": 32,
  "net.ipv4.tcp_wmem": 32,
};

function sysctls(version: number): (pod: PodParts) => Finding | undefined {
  return ({ spec }) => {
    const bad = each(security(spec), "sysctls")
      .map(nameOf)
      .filter((name) => !Object.hasOwn(allowedSysctls, name) || (allowedSysctls[name] ?? 0) > version);
    return bad.length === 0 ? undefined : { reason: "forbidden sysctls", detail: bad.join(", ") };
  };
}

function hostProcess({ spec }: PodParts): Finding | undefined {
  const isSet = (holder: Fields): boolean => inner(security(holder), "windowsOptions")["hostProcess"] === true;
  const bad = containersOf(spec).filter(isSet).map(nameOf);
  if (!isSet(spec) && bad.length === 0) return undefined;
  const who = settersText(isSet(spec), bad);
  return { reason: "hostProcess", detail: `${who} must not set securityContext.windowsOptions.hostProcess=true` };
}
