/** Validates the annotations of pods and templates that have a meaning for the server. */
import type { Fields } from "../../hooks.ts";
import { has, inner } from "../fill.ts";
import type { Field } from "../field.ts";

const seccompPod = "seccomp.security.alpha.kubernetes.io/pod";
const seccomp = "container.seccomp.security.alpha.kubernetes.io/";
const appArmor = "container.apparmor.security.beta.kubernetes.io/";
const mirror = "kubernetes.io/config.mirror";
const deletionCost = "controller.kubernetes.io/pod-deletion-cost";

export function podAnnotations(annotations: Field, spec: Field): void {
  const values = annotations.fields;
  if (values[mirror] !== undefined && spec.at("nodeName").text === "")
    annotations.key(mirror).invalid("must set spec.nodeName if mirror pod annotation is set");
  const cost = values[deletionCost];
  if (cost !== undefined && !isCost(String(cost))) annotations.key(deletionCost).invalid("must be a 32bit integer");
  for (const name of Object.keys(values).toSorted((one) => (one === seccompPod ? -1 : 0))) {
    if (name !== seccompPod && !name.startsWith(seccomp)) continue;
    if (!isSeccompProfile(String(values[name]))) annotations.at(name).invalid("must be a valid seccomp profile");
  }
  for (const [name, profile] of Object.entries(values)) {
    if (!name.startsWith(appArmor)) continue;
    const container = name.slice(appArmor.length);
    if (!hasContainer(spec, container)) annotations.key(name).invalid("container not found", container);
    const text = String(profile);
    if (["", "runtime/default", "unconfined"].includes(text) || text.startsWith("localhost/")) continue;
    annotations.key(name).invalid(`invalid AppArmor profile name: ${JSON.stringify(text)}`);
  }
}

function isCost(text: string): boolean {
  return /^(0|-?[1-9][0-9]*)$/.test(text) && Math.abs(Number(text)) < 2 ** 31;
}

function isSeccompProfile(profile: string): boolean {
  if (["runtime/default", "docker/default", "unconfined"].includes(profile)) return true;
  return profile.startsWith("localhost/") && !profile.includes("..") && !profile.startsWith("localhost//");
}

function hasContainer(spec: Field, name: string): boolean {
  return ["initContainers", "containers", "ephemeralContainers"].some((list) =>
    spec.at(list).items.some((container) => container.at("name").text === name),
  );
}

/** Rejects changes of annotations that only the creator of a pod may set. */
export function changedAnnotations(annotations: Field, old: Fields): void {
  const names = { [appArmor]: "AppArmor annotations", [mirror]: "mirror pod annotation" };
  const forbid = (name: string, how: string): void => {
    for (const [prefix, what] of Object.entries(names))
      if (name === prefix || (prefix === appArmor && name.startsWith(prefix)))
        annotations.key(name).forbidden(`may not ${how} ${what}`);
  };
  for (const [name, value] of Object.entries(old))
    if (annotations.fields[name] !== value) forbid(name, "remove or update");
  for (const name of annotations.keys) if (old[name] === undefined) forbid(name, "add");
}

/** Profiles are set in fields and used to be set in annotations; both must agree. */
export function matchingProfiles(annotations: Fields, spec: Field): void {
  const own = spec.at("securityContext");
  if (own.at("seccompProfile").present) matchSeccomp(own.at("seccompProfile"), annotations[seccompPod]);
  const all = containersOf(spec);
  for (const container of all) {
    const profile = container.at("securityContext").at("seccompProfile");
    if (profile.present) matchSeccomp(profile, annotations[seccomp + container.at("name").text]);
  }
  if (spec.at("os").at("name").text === "windows") return;
  for (const container of all) {
    const profile = container.at("securityContext").at("appArmorProfile");
    const used = profile.present ? profile.fields : inner(own.fields, "appArmorProfile");
    if (!profile.present && !has(own.fields, "appArmorProfile")) continue;
    matchProfile(profile.with(used), annotations[appArmor + container.at("name").text], {
      usual: ["runtime/default"],
      what: "apparmor",
    });
  }
}

function containersOf(spec: Field): Field[] {
  return ["initContainers", "containers", "ephemeralContainers"].flatMap((list) => spec.at(list).items);
}

function matchSeccomp(profile: Field, annotation: unknown): void {
  matchProfile(profile, annotation, { usual: ["runtime/default", "docker/default"], what: "seccomp" });
}

interface Words {
  readonly usual: readonly string[];
  readonly what: string;
}

function matchProfile(profile: Field, annotation: unknown, { usual, what }: Words): void {
  if (annotation === undefined) return;
  const text = String(annotation);
  const type = profile.at("type");
  const isOther =
    (type.text === "Unconfined" && text !== "unconfined") ||
    (type.text === "RuntimeDefault" && !usual.includes(text)) ||
    (type.text === "Localhost" && !text.startsWith("localhost/"));
  if (isOther) type.forbidden(`${what} type in annotation and field must match`);
  else if (type.text === "Localhost" && profile.at("localhostProfile").text !== text.slice("localhost/".length))
    profile.at("localhostProfile").forbidden(`${what} profile in annotation and field must match`);
}
