/** What a check of pod security is, and the words its findings are told in. */
import type { Fields, ObjectMetadata } from "../../hooks.ts";
import { each } from "../../validation/fill.ts";

export interface Finding {
  readonly reason: string;
  readonly detail: string;
}

export interface PodParts {
  readonly metadata: ObjectMetadata;
  readonly spec: Fields;
}

/** A check as it is from one minor version of Kubernetes on. */
export interface CheckVersion {
  readonly since: number;
  /** Checks of the level below that it stands for. */
  readonly overrides?: string;
  readonly check: (pod: PodParts) => Finding | undefined;
}

export interface Check {
  readonly id: string;
  /** The oldest first. */
  readonly versions: readonly CheckVersion[];
}

/** Init containers first. */
export function containersOf(spec: Fields): Fields[] {
  return ["initContainers", "containers", "ephemeralContainers"].flatMap((list) => each(spec, list));
}

export function nameOf(container: Fields): string {
  return String(container["name"]);
}

export function quotedList(items: Iterable<string>): string {
  return [...items].map((item) => `"${item}"`).join(", ");
}

/** Each once, in order. */
export function sorted(items: Iterable<string>): string[] {
  return [...new Set(items)].toSorted();
}

export function plural(singular: string, many: string, count: number): string {
  return count === 1 ? singular : many;
}

/** `container "a"`, `containers "a", "b"` */
export function containersText(names: readonly string[]): string {
  return `${plural("container", "containers", names.length)} ${quotedList(names)}`;
}

/** `pod and containers "a", "b"` */
export function settersText(isPod: boolean, names: readonly string[]): string {
  return [...(isPod ? ["pod"] : []), ...(names.length > 0 ? [containersText(names)] : [])].join(" and ");
}
