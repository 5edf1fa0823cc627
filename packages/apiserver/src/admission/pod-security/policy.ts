/**
 * Reads from a namespace's labels which security levels apply to its pods. @see
 * https://kubernetes.io/docs/concepts/security/pod-security-admission/
 */
import type { FieldError } from "../../field-error.ts";
import { baseline } from "./baseline.ts";
import type { Check, CheckVersion, Finding, PodParts } from "./check.ts";
import { restricted } from "./restricted.ts";

const levels = ["privileged", "baseline", "restricted"] as const;

export type Level = (typeof levels)[number];

/** A security level and the version of Kubernetes that defines it. */
export interface LevelVersion {
  readonly level: Level;
  /** The version: `latest` or one such as `v1.25`. */
  readonly version: string;
}

export interface Policy {
  readonly enforce: LevelVersion;
  readonly audit: LevelVersion;
  readonly warn: LevelVersion;
  readonly errors: readonly FieldError[];
}

const prefix = "pod-security.kubernetes.io/";

/** Reads the labels. An invalid one enforces the strictest level, but requests no warnings and no audit. */
export function policyOf(labels: Readonly<Record<string, string>> = {}): Policy {
  const errors: FieldError[] = [];
  const wrong = (label: string, detail: string): void =>
    void errors.push({ type: "Invalid", field: `metadata.labels[${label}]`, badValue: labels[label], detail });
  const read = (mode: string, otherwise: Level): LevelVersion => {
    const [levelLabel, versionLabel] = [`${prefix}${mode}`, `${prefix}${mode}-version`];
    const label = labels[levelLabel];
    const isLevel = label === undefined || (levels as readonly string[]).includes(label);
    if (!isLevel) wrong(levelLabel, `must be one of ${levels.join(", ")}`);
    const version = labels[versionLabel] ?? "latest";
    const isVersion = version === "latest" || /^v1\.([0-9]|[1-9][0-9]*)$/.test(version);
    if (!isVersion) wrong(versionLabel, 'must be "latest" or "v1.x"');
    const level = isLevel ? ((label ?? "privileged") as Level) : otherwise;
    return { level, version: isVersion ? version : "latest" };
  };
  const enforce = read("enforce", "restricted");
  const audit = read("audit", "privileged");
  let warn = read("warn", "privileged");
  const isGood = !errors.some(({ field }) => field === `metadata.labels[${prefix}enforce]`);
  if (labels[`${prefix}warn`] === undefined && labels[`${prefix}enforce`] !== undefined && isGood) {
    const version = labels[`${prefix}warn-version`] === undefined ? enforce.version : warn.version;
    if (strictness(enforce.level) > strictness(warn.level)) warn = { level: enforce.level, version };
  }
  return { enforce, audit, warn, errors };
}

export function strictness(level: Level): number {
  return levels.indexOf(level);
}

export function levelText({ level, version }: LevelVersion): string {
  return `${level}:${version}`;
}

/** Returns the violations of a level in a pod, in the order in which they are reported. */
export function findings({ level, version }: LevelVersion, pod: PodParts): Finding[] {
  if (level === "privileged") return [];
  const minor = version === "latest" ? Number.POSITIVE_INFINITY : Number(version.slice("v1.".length));
  const inForce = (checks: readonly Check[]): [string, CheckVersion][] =>
    checks.flatMap(({ id, versions }) => {
      const last = versions.findLast(({ since }) => since <= minor);
      return last === undefined ? [] : [[id, last] as [string, CheckVersion]];
    });
  const strict = level === "restricted" ? inForce(restricted) : [];
  const overridden = new Set(strict.map(([, { overrides }]) => overrides));
  const basic = inForce(baseline).filter(([id]) => !overridden.has(id));
  return [...basic, ...strict].map(([, { check }]) => check(pod)).filter((finding) => finding !== undefined);
}

export function detailText(all: readonly Finding[]): string {
  return all.map(({ reason, detail }) => (detail === "" ? reason : `${reason} (${detail})`)).join(", ");
}
