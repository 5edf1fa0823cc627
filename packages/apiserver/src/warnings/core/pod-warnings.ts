/** Warns of likely mistakes in pods that are allowed, in `Warning` headers. */
import { deepEquals } from "#platform/equality";
import { goQuoted } from "../../field-error.ts";
import type { Fields } from "../../hooks.ts";
import { formatQuantity, parseQuantity } from "../../schema/quantity.ts";
import { each, has, inner } from "../../validation/fill.ts";
import { addressWarnings } from "../../validation/addresses.ts";
import { labelAdvice, warningsOfExpressions, warningsOfMap } from "../deprecated-labels.ts";
import { type PlacedContainer, portWarnings } from "./pod-ports.ts";
import { volumeWarnings } from "./volume-paths.ts";

const annotations: Readonly<Record<string, string>> = {
  "scheduler.alpha.kubernetes.io/critical-pod": 'non-functional in v1.16+; use the "priorityClassName" field instead',
  "security.alpha.kubernetes.io/sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
  "security.alpha.kubernetes.io/unsafe-sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
};

const volumes: Readonly<Record<string, string>> = {
  photonPersistentDisk: "deprecated in v1.11, non-functional in v1.16+",
  gitRepo: "deprecated in v1.11, and disabled by default in v1.33+",
  scaleIO: "deprecated in v1.16, non-functional in v1.22+",
  flocker: "deprecated in v1.22, non-functional in v1.25+",
  storageos: "deprecated in v1.22, non-functional in v1.25+",
  quobyte: "deprecated in v1.22, non-functional in v1.25+",
  glusterfs: "deprecated in v1.25, non-functional in v1.26+",
  ephemeral: "",
  cephfs: "deprecated in v1.28, non-functional in v1.31+",
  rbd: "deprecated in v1.28, non-functional in v1.31+",
};

/** The names of volume sources in messages, when they differ from the JSON names. */
const shownNames: Readonly<Record<string, string>> = { storageos: "storageOS" };

export interface PodOf {
  readonly metadata: Fields;
  readonly spec: Fields;
  /** The path of the pod in the object; `""` when it is the object. */
  readonly path: string;
}

/** Returns the warnings of a pod or of a pod template. */
export function podWarnings({ metadata, spec, path }: PodOf): string[] {
  const before = path === "" ? "" : `${path}.`;
  const at = `${before}spec`;
  const containers = containersOf(spec, at);
  return [
    ...nodeWarnings(spec, at),
    ...spreadWarnings(spec, at),
    ...annotationWarnings(metadata, `${before}metadata`),
    ...each(spec, "volumes").flatMap((volume, index) => driverWarnings(volume, `${at}.volumes[${index}]`)),
    ...each(spec, "volumes").flatMap(volumeWarnings),
    ...repeated(spec, at),
    ...fractions(inner(spec, "overhead"), `${at}.overhead`),
    ...profileWarnings({ metadata, spec, path }, containers),
    ...portWarnings(containers),
    ...(Number(spec["terminationGracePeriodSeconds"]) < 0
      ? [`${at}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`]
      : []),
    ...affinityWarnings(spec, at),
    ...(((inner(spec, "dnsConfig")["nameservers"] ?? []) as string[]).flatMap((address, index) =>
      addressWarnings(`${at}.dnsConfig.nameservers[${index}]`, address),
    ) satisfies string[]),
    ...each(spec, "hostAliases").flatMap(({ ip }, index) =>
      addressWarnings(`${at}.hostAliases[${index}].ip`, String(ip ?? "")),
    ),
  ];
}

function containersOf(spec: Fields, path: string): PlacedContainer[] {
  return ["initContainers", "containers", "ephemeralContainers"].flatMap((list) =>
    each(spec, list).map((container, index) => ({ container, path: `${path}.${list}[${index}]` })),
  );
}

function nodeWarnings(spec: Fields, path: string): string[] {
  const affinity = inner(inner(spec, "affinity"), "nodeAffinity");
  const at = `${path}.affinity.nodeAffinity`;
  const required = "requiredDuringSchedulingIgnoredDuringExecution";
  const preferred = "preferredDuringSchedulingIgnoredDuringExecution";
  return [
    ...warningsOfMap(inner(spec, "nodeSelector"), (label) => `${path}.nodeSelector[${label}]`),
    ...each(inner(affinity, required), "nodeSelectorTerms").flatMap((term, index) =>
      warningsOfExpressions(term, `${at}.${required}.nodeSelectorTerms[${index}]`),
    ),
    ...each(affinity, preferred).flatMap((term, index) =>
      warningsOfExpressions(inner(term, "preference"), `${at}.${preferred}[${index}].preference`, {
        checksValues: true,
      }),
    ),
  ];
}

function spreadWarnings(spec: Fields, path: string): string[] {
  return each(spec, "topologySpreadConstraints").flatMap((constraint, index) => {
    const at = `${path}.topologySpreadConstraints[${index}]`;
    const advice = labelAdvice(constraint["topologyKey"]);
    const warnings =
      advice === undefined ? [] : [`${at}.topologyKey: ${String(constraint["topologyKey"])} is ${advice}`];
    return has(constraint, "labelSelector") ? warnings : [...warnings, selectsNothing(at)];
  });
}

function selectsNothing(path: string): string {
  return `${path}.labelSelector: a null labelSelector results in matching no pod`;
}

function annotationWarnings(metadata: Fields, path: string): string[] {
  const metadataAnnotations = inner(metadata, "annotations");
  return Object.entries(annotations)
    .filter(([name]) => metadataAnnotations[name] !== undefined)
    .map(([name, advice]) => `${path}.annotations[${name}]: ${advice}`);
}

function driverWarnings(volume: Fields, path: string): string[] {
  return Object.entries(volumes).flatMap(([name, advice]) => {
    if (!has(volume, name)) return [];
    if (name !== "ephemeral") return [`${path}.${shownNames[name] ?? name}: ${advice}`];
    const claim = inner(inner(inner(volume, "ephemeral"), "volumeClaimTemplate"), "spec");
    return claimWarnings(claim, `${path}.ephemeral.volumeClaimTemplate.spec`);
  });
}

/** Returns the warnings of a claim's spec. */
export function claimWarnings(spec: Fields, path: string): string[] {
  return ["requests", "limits"].flatMap((list) => {
    const { storage } = inner(inner(spec, "resources"), list);
    return fractions({ storage }, `${path}.resources.${list}`);
  });
}

/** Warns of fractions of bytes. */
function fractions(amounts: Fields, path: string): string[] {
  return ["memory", "ephemeral-storage", "storage"].flatMap((name) => {
    const quantity = amounts[name] === undefined ? undefined : parseQuantity(String(amounts[name]));
    if (quantity === undefined || quantity instanceof Error || isWhole(String(amounts[name]))) return [];
    return [
      `${path}[${name}]: fractional byte value ${goQuoted(formatQuantity(quantity))} is invalid, must be an integer`,
    ];
  });
}

function isWhole(text: string): boolean {
  const quantity = parseQuantity(text);
  if (quantity instanceof Error) return true;
  // The comparison uses thousandths, rounded up.
  const thousandths = (quantity.nanos + 999_999n) / 1_000_000n;
  return thousandths % 1000n === 0n;
}

function repeated(spec: Fields, path: string): string[] {
  const warnings: string[] = [];
  const addresses = new Set<unknown>();
  for (const [index, { ip }] of each(spec, "hostAliases").entries()) {
    if (addresses.has(ip)) warnings.push(`${path}.hostAliases[${index}].ip: duplicate ip ${goQuoted(String(ip))}`);
    addresses.add(ip);
  }
  const secrets = each(spec, "imagePullSecrets").map(({ name }) => String(name ?? ""));
  const at = (index: number): string => `${path}.imagePullSecrets[${index}].name`;
  for (const [index, name] of secrets.entries())
    if (secrets.indexOf(name) < index) warnings.push(`${at(index)}: duplicate name ${goQuoted(name)}`);
  for (const [index, name] of secrets.entries()) if (name === "") warnings.push(`${at(index)}: invalid empty name ""`);
  return warnings;
}

const seccomp = 'non-functional in v1.27+; use the "seccompProfile" field instead';
const appArmor = 'deprecated since v1.30; use the "appArmorProfile" field instead';

function profileWarnings({ metadata, spec, path }: PodOf, containers: readonly PlacedContainer[]): string[] {
  const warnings: string[] = [];
  const annotations = inner(metadata, "annotations");
  const at = `${path === "" ? "" : `${path}.`}metadata.annotations`;
  const say = (name: string, advice: string): void => {
    if (annotations[name] !== undefined) warnings.push(`${at}[${name}]: ${advice}`);
  };
  const own = inner(spec, "securityContext");
  if (!has(own, "seccompProfile")) say("seccomp.security.alpha.kubernetes.io/pod", seccomp);
  for (const { container, path: place } of containers) {
    const context = inner(container, "securityContext");
    const name = String(container["name"]);
    if (!has(context, "seccompProfile")) say(`container.seccomp.security.alpha.kubernetes.io/${name}`, seccomp);
    const annotation = `container.apparmor.security.beta.kubernetes.io/${name}`;
    // In a pod itself, the annotation is copied to the field.
    if (path !== "" && !has(context, "appArmorProfile")) {
      const profile = profileOf(String(annotations[annotation]));
      const isSame = has(own, "appArmorProfile") && deepEquals(own["appArmorProfile"], profile);
      if (!isSame) say(annotation, appArmor);
    }
    const resources = inner(container, "resources");
    for (const unit of ["memory", "ephemeral-storage"])
      for (const list of ["limits", "requests"])
        warnings.push(...fractions({ [unit]: inner(resources, list)[unit] }, `${place}.resources.${list}`));
    warnings.push(...hidden(container, place));
  }
  return warnings;
}

/** Returns the AppArmor profile that an annotation stands for; `undefined` for none. */
export function profileOf(annotation: string): Fields | undefined {
  if (annotation === "unconfined") return { type: "Unconfined" };
  if (annotation === "runtime/default") return { type: "RuntimeDefault" };
  const local = annotation.startsWith("localhost/") ? annotation.slice("localhost/".length) : "";
  return local === "" ? undefined : { type: "Localhost", localhostProfile: local };
}

function hidden(container: Fields, path: string): string[] {
  const seen = new Set<unknown>();
  return each(container, "env").flatMap(({ name, value, valueFrom }, index) => {
    if (!seen.has(name)) {
      seen.add(name);
      return [];
    }
    const reference = `$(${String(name)})`;
    const text = String(value ?? "");
    const isHarmless =
      (valueFrom === undefined || valueFrom === null) && text !== reference && text.includes(reference);
    if (isHarmless) return [];
    const what = `hides previous definition of ${goQuoted(String(name))}, which may be dropped when using apply`;
    return [`${path}.env[${index}]: ${what}`];
  });
}

function affinityWarnings(spec: Fields, path: string): string[] {
  return ["podAffinity", "podAntiAffinity"].flatMap((kind) => {
    const affinity = inner(inner(spec, "affinity"), kind);
    const [required, preferred] = ["required", "preferred"].map(
      (word) => `${word}DuringSchedulingIgnoredDuringExecution`,
    ) as [string, string];
    const at = `${path}.affinity.${kind}`;
    return [
      ...each(affinity, required).flatMap((term, index) =>
        has(term, "labelSelector") ? [] : [selectsNothing(`${at}.${required}[${index}]`)],
      ),
      ...each(affinity, preferred).flatMap((term, index) =>
        has(inner(term, "podAffinityTerm"), "labelSelector")
          ? []
          : [selectsNothing(`${at}.${preferred}[${index}].podAffinityTerm`)],
      ),
    ];
  });
}
