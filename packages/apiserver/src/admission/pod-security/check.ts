/** The interface of pod security checks, and the wording of their findings. */
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

/** A check as it applies from one minor version of Kubernetes on. */
export interface CheckVersion {
  readonly since: number;
  /** The checks of the lower level that it replaces. */
  readonly overrides?: string;
  readonly check: (pod: PodParts) => Finding | undefined;
}

export interface Check {
  readonly id: string;
  /** Every version of the check, oldest first. */
  readonly versions: readonly CheckVersion[];
}

/** Returns all containers, init containers first. */
export function containersOf(spec: Fields): Fields[] {
  return ["initContainers", "containers", "ephemeralContainers"].flatMap((list) => each(spec, list));
}

export function nameOf(container: Fields): string {
  return String(container["name"]);
}

export function quotedList(items: Iterable<string>): string {
  return [...items].map((item) => `"${item}"`).join(", ");
}

/** Sorts items and removes duplicates. */
export function sorted(items: Iterable<string>): string[] {
  return [...new Set(items)].toSorted();
}

export function plural(singular: string, many: string, count: number): string {
  return count === 1 ? singular : many;
}

/** Returns `container "a"` or `containers "a", "b"`. */
export function containersText(names: readonly string[]): string {
  return `${plural("container", "containers", names.length)} ${quotedList(names)}`;
}

/** Returns a text such as `pod and containers "a", "b"`. */
export function settersText(isPod: boolean, names: readonly string[]): string {
  return [...(isPod ? ["pod"] : []), ...(names.length > 0 ? [containersText(names)] : [])].join(" and ");
}
