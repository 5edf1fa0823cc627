/** The checks of security profiles at level `baseline`: AppArmor, SELinux, seccomp. */
import { goQuoted } from "../../field-error.ts";
import type { Fields } from "../../hooks.ts";
import { has, inner } from "../../validation/fill.ts";
import { type Check, containersOf, containersText, type Finding, nameOf } from "./check.ts";
import { plural, type PodParts, quotedList, settersText, sorted } from "./check.ts";

export const profiles: readonly Check[] = [
  { id: "appArmorProfile", versions: [{ since: 0, check: appArmor }] },
  {
    id: "seLinuxOptions",
    versions: [
      { since: 0, check: seLinux(["", "container_t", "container_init_t", "container_kvm_t"]) },
      { since: 31, check: seLinux(["", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"]) },
    ],
  },
  {
    id: "seccompProfile_baseline",
    versions: [
      { since: 0, check: seccompAnnotations },
      { since: 19, check: seccomp },
    ],
  },
];

function security(holder: Fields): Fields {
  return inner(holder, "securityContext");
}

/** Returns the type of a profile; `undefined` when none is set. */
function typeOf(holder: Fields, profile: string): string | undefined {
  const context = security(holder);
  return has(context, profile) ? String(inner(context, profile)["type"] ?? "") : undefined;
}

const appArmorPrefix = "container.apparmor.security.beta.kubernetes.io/";

function appArmor({ metadata, spec }: PodParts): Finding | undefined {
  const isBad = (type: string | undefined): type is string =>
    type !== undefined && type !== "RuntimeDefault" && type !== "Localhost";
  const ofPod = typeOf(spec, "appArmorProfile");
  const bad = containersOf(spec).filter((container) => isBad(typeOf(container, "appArmorProfile")));
  const types = sorted([ofPod, ...bad.map((container) => typeOf(container, "appArmorProfile"))].filter(isBad));
  const annotations = Object.entries(metadata.annotations ?? {})
    .filter(([key, value]) => key.startsWith(appArmorPrefix) && !isAllowedAnnotation(value))
    .map(([key, value]) => `${key}=${goQuoted(value)}`)
    .toSorted();
  const values = [...types, ...annotations];
  if (values.length === 0) return undefined;
  const marks = annotations.length === 0 ? [] : [plural("annotation", "annotations", annotations.length)];
  const who = [settersText(isBad(ofPod), bad.map(nameOf)), ...marks].filter((part) => part !== "").join(" and ");
  const reason = plural("forbidden AppArmor profile", "forbidden AppArmor profiles", values.length);
  return { reason, detail: `${who} must not set AppArmor profile type to ${quotedList(values)}` };
}

function isAllowedAnnotation(value: string): boolean {
  return value === "" || value === "runtime/default" || value.startsWith("localhost/");
}

function seLinux(allowed: readonly string[]): (pod: PodParts) => Finding | undefined {
  return ({ spec }) => {
    const types: string[] = [];
    let [isUserSet, isRoleSet] = [false, false];
    const isBad = (holder: Fields): boolean => {
      if (!has(security(holder), "seLinuxOptions")) return false;
      const { type = "", user, role } = inner(security(holder), "seLinuxOptions");
      const isWrongType = !allowed.includes(String(type));
      if (isWrongType) types.push(String(type));
      if (user) isUserSet = true;
      if (role) isRoleSet = true;
      return isWrongType || Boolean(user) || Boolean(role);
    };
    const isPod = isBad(spec);
    const bad = containersOf(spec).filter(isBad).map(nameOf);
    if (!isPod && bad.length === 0) return undefined;
    const wrong = sorted(types);
    const data = [
      ...(wrong.length > 0 ? [`${plural("type", "types", wrong.length)} ${quotedList(wrong)}`] : []),
      ...(isUserSet ? ["user may not be set"] : []),
      ...(isRoleSet ? ["role may not be set"] : []),
    ].join("; ");
    const who = settersText(isPod, bad);
    return { reason: "seLinuxOptions", detail: `${who} set forbidden securityContext.seLinuxOptions: ${data}` };
  };
}

const seccompPod = "seccomp.security.alpha.kubernetes.io/pod";
const seccompContainer = "container.seccomp.security.alpha.kubernetes.io/";

function seccompAnnotations({ metadata, spec }: PodParts): Finding | undefined {
  const keys = [seccompPod, ...containersOf(spec).map((container) => `${seccompContainer}${nameOf(container)}`)];
  const bad = keys.flatMap((key) => {
    const value = metadata.annotations?.[key];
    const isFine =
      value === undefined ||
      value === "runtime/default" ||
      value === "docker/default" ||
      value.startsWith("localhost/");
    return isFine ? [] : [`${key}=${goQuoted(value)}`];
  });
  if (bad.length === 0) return undefined;
  const texts = sorted(bad);
  const detail = `forbidden ${plural("annotation", "annotations", texts.length)} ${texts.join(", ")}`;
  return { reason: "seccompProfile", detail };
}

function seccomp({ spec }: PodParts): Finding | undefined {
  const bad = badSeccomp(spec);
  return bad === undefined ? undefined : { reason: "seccompProfile", detail: bad };
}

/** Returns the description of the fields that set a forbidden profile. */
export function badSeccomp(spec: Fields): string | undefined {
  const isBad = (holder: Fields): boolean => {
    const type = typeOf(holder, "seccompProfile");
    return type !== undefined && type !== "Localhost" && type !== "RuntimeDefault";
  };
  const bad = containersOf(spec).filter(isBad);
  if (bad.length === 0 && !isBad(spec)) return undefined;
  const holders = [...(isBad(spec) ? [spec] : []), ...bad];
  const types = quotedList(sorted(holders.map((holder) => typeOf(holder, "seccompProfile") ?? "")));
  return `${settersText(isBad(spec), bad.map(nameOf))} must not set securityContext.seccompProfile.type to ${types}`;
}

/** Returns the containers that run without a profile. */
export function withoutSeccomp(spec: Fields): string | undefined {
  if (typeOf(spec, "seccompProfile") !== undefined) return undefined;
  const bare = containersOf(spec).filter((container) => typeOf(container, "seccompProfile") === undefined);
  if (bare.length === 0) return undefined;
  const requirement = 'must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"';
  return `pod or ${containersText(bare.map(nameOf))} ${requirement}`;
}
