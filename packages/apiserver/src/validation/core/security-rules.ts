/** Validates the security contexts of pods and containers. */
import type { Field } from "../field.ts";
import { dnsSubdomain } from "../formats.ts";
import { descending } from "./volume-sources.ts";

const profiles = ["Localhost", "RuntimeDefault", "Unconfined"];

export function securityContext(context: Field, { hostUsers }: { readonly hostUsers: boolean }): void {
  if (!context.present) return;
  for (const name of ["runAsUser", "runAsGroup"]) if (context.at(name).present) context.at(name).inRange(0, 2147483647);
  const mount = context.at("procMount");
  if (mount.present) {
    mount.oneOf(["Default", "Unmasked"]);
    if (hostUsers && mount.text === "Unmasked") mount.invalid("`hostUsers` must be false to use `Unmasked`");
  }
  seccomp(context.at("seccompProfile"));
  if (context.at("allowPrivilegeEscalation").value === false) {
    if (context.at("privileged").value === true)
      context.invalid("cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
    for (const added of context.at("capabilities").at("add").items) {
      if (added.text === "CAP_SYS_ADMIN")
        context.invalid("cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN");
    }
  }
  windowsOptions(context.at("windowsOptions"));
  appArmor(context.at("appArmorProfile"));
}

export function podSecurityContext(context: Field): void {
  if (!context.present) return;
  for (const name of ["fsGroup", "runAsUser", "runAsGroup"])
    if (context.at(name).present) context.at(name).inRange(0, 2147483647);
  for (const group of context.at("supplementalGroups").items) group.inRange(0, 2147483647);
  sysctls(context.at("sysctls"));
  const oneOf = (name: string, values: readonly string[]): void => {
    if (context.at(name).present) context.at(name).oneOf(values);
  };
  oneOf("fsGroupChangePolicy", ["Always", "OnRootMismatch"]);
  seccomp(context.at("seccompProfile"));
  windowsOptions(context.at("windowsOptions"));
  appArmor(context.at("appArmorProfile"));
  oneOf("supplementalGroupsPolicy", ["Merge", "Strict"]);
  oneOf("seLinuxChangePolicy", ["Recursive"]);
}

const sysctl = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?";
const sysctlText = `^(${sysctl}[\\./])*${sysctl}$`;
const sysctlMatcher = new RegExp(sysctlText);

function sysctls(list: Field): void {
  const seen = new Set<string>();
  for (const each of list.items) {
    const name = each.at("name");
    if (name.text === "") name.required();
    else if (name.text.length > 253 || !sysctlMatcher.test(name.text))
      name.invalid(`must have at most 253 characters and match regex ${sysctlText}`);
    else if (seen.has(name.text)) name.duplicate();
    seen.add(name.text);
  }
}

function seccomp(profile: Field): void {
  if (!profile.present) return;
  const [type, local] = [profile.at("type"), profile.at("localhostProfile")];
  if (type.text === "") type.required("type is required when seccompProfile is set");
  else type.oneOf(profiles, { sorted: false });
  if (type.text === "Localhost") {
    if (local.present) descending(local);
    else local.required("must be set when seccomp type is Localhost");
  } else if (local.present) local.invalid("can only be set when seccomp type is Localhost", profile.value);
}

function appArmor(profile: Field): void {
  if (!profile.present) return;
  const [type, local] = [profile.at("type"), profile.at("localhostProfile")];
  if (type.text === "Localhost") {
    const { text } = local;
    if (!local.present) local.required("must be set when AppArmor type is Localhost");
    else if (text.trim() !== text) local.invalid("must not be padded with whitespace");
    else if (text === "") local.required("must be set when AppArmor type is Localhost");
    if (text.length > 4095) local.tooLong(4095);
  } else if (type.text === "RuntimeDefault" || type.text === "Unconfined") {
    if (local.present) local.invalid("can only be set when AppArmor type is Localhost");
  } else if (type.text === "") type.required("type is required when appArmorProfile is set");
  else type.oneOf(profiles, { sorted: false });
}

function windowsOptions(options: Field): void {
  if (!options.present) return;
  const [name, spec, user] = [
    options.at("gmsaCredentialSpecName"),
    options.at("gmsaCredentialSpec"),
    options.at("runAsUserName"),
  ];
  if (name.present) name.matches(dnsSubdomain);
  if (spec.present) {
    if (spec.text === "") spec.invalid("gmsaCredentialSpec cannot be an empty string");
    else if (spec.text.length > 65_536) spec.invalid(`gmsaCredentialSpec size must be under 64 KiB`);
  }
  if (user.present) windowsUser(user);
}

function windowsUser(field: Field): void {
  const { text } = field;
  const parts = text.split("\\");
  const wrong = (detail: string): void => field.invalid(`runAsUserName${detail}`);
  if (text === "") return wrong(" cannot be an empty string");
  // oxlint-disable-next-line no-control-regex -- control characters are what the check is for
  if (/[\x00-\x1f\x7f]/.test(text)) return wrong(" cannot contain control characters");
  if (parts.length > 2) return wrong(" cannot contain more than one backslash");
  const domain = parts.length === 2 ? (parts[0] ?? "") : "";
  const user = parts.at(-1) ?? "";
  if (domain.length >= 256) wrong("'s Domain length must be under 256 characters");
  if (parts.length === 2 && !/^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/.test(domain) && !/^[\w.-]+$/.test(domain))
    wrong("'s Domain doesn't match the NetBios nor the DNS format");
  if (user === "") wrong("'s User cannot be empty");
  else if (user.length > 104) wrong("'s User length must not be longer than 104 characters");
  if (/^[. ]+$/.test(user)) wrong("'s User cannot contain only periods or spaces");
  if (/["/\\:;|=,+*?<>@[\]]/.test(user)) wrong(`'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]`);
}

/** Checks Windows HostProcess containers: either all containers of a pod are HostProcess containers, or none. */
export function hostProcesses(spec: Field): void {
  const flag = (holder: Field): Field => holder.at("securityContext").at("windowsOptions").at("hostProcess");
  const ofPod = flag(spec);
  const all = ["initContainers", "containers", "ephemeralContainers"].flatMap((list) => spec.at(list).items);
  let count = 0;
  for (const container of all) {
    const own = flag(container);
    if (ofPod.present && own.present && ofPod.value !== own.value)
      own.invalid(`pod hostProcess value must be identical if both are specified, was ${String(ofPod.value)}`);
    if ((own.present ? own : ofPod).value === true) count++;
  }
  if (count === 0) return;
  if (count !== all.length)
    spec.invalid("If pod contains any hostProcess containers then all containers must be HostProcess containers", "");
  if (spec.at("hostNetwork").value !== true)
    spec.at("hostNetwork").invalid("hostNetwork must be true if pod contains any hostProcess containers", false);
}
