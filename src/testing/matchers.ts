/**
 * What tests ask of objects: for `expect.extend` of any runner that knows it.
 *
 * @example
 * import { expect } from "bun:test";
 * import { matchers } from "binnacle/testing";
 * expect.extend(matchers);
 */
import type { Condition } from "../resource/meta.ts";

/** An object that a test got from the client. */
interface Observed {
  readonly kind?: string;
  readonly metadata?: {
    readonly name?: string;
    readonly uid?: string;
    readonly generation?: number;
    readonly ownerReferences?: readonly {
      readonly kind: string;
      readonly name: string;
      readonly uid: string;
      readonly controller?: boolean;
    }[];
  };
  readonly status?: unknown;
}

interface MatcherResult {
  readonly pass: boolean;
  readonly message: () => string;
}

/** The expected condition. */
export interface ExpectedCondition {
  /** @default "True" */
  readonly status?: "True" | "False" | "Unknown" | undefined;
  readonly reason?: string | undefined;
  /** A text that the message contains. */
  readonly message?: string | undefined;
}

/** Returns the condition of a type; `undefined` when there is none. */
export function conditionOf(object: object, type: string): Condition | undefined {
  const { status } = object as { readonly status?: { readonly conditions?: readonly Condition[] } };
  return status?.conditions?.find((one) => one.type === type);
}

/** Returns the objects whose controller is the owner, by UID. */
export function childrenOf<T extends object>(owner: object, objects: readonly T[]): readonly T[] {
  const uid = (owner as Observed).metadata?.uid;
  return objects.filter((object) => controllerOf(object)?.uid === uid && uid !== undefined);
}

interface ObjectMatchers {
  /** The condition exists and refers to the object's newest generation. */
  toHaveCondition(object: unknown, type: string, expected?: ExpectedCondition): MatcherResult;
  /** The owner is the object's controller, by UID. */
  toBeControlledBy(object: unknown, owner: object): MatcherResult;
  /**
   * Checks that the objects among `objects` that the owner controls have these kinds and names, such as `["ConfigMap
   * first"]`.
   */
  toHaveChildren(owner: unknown, objects: readonly object[], names: readonly string[]): MatcherResult;
}

export const matchers: ObjectMatchers = {
  toHaveCondition(object, type, expected = {}) {
    const { status = "True", reason, message } = expected;
    const condition = conditionOf(object as object, type);
    const isStale =
      condition?.observedGeneration !== undefined && condition.observedGeneration !== generationOf(object);
    const pass =
      condition !== undefined &&
      !isStale &&
      condition.status === status &&
      (reason === undefined || condition.reason === reason) &&
      (message === undefined || condition.message.includes(message));
    const wanted = [`${type}=${status}`, reason, message].filter((part) => part !== undefined).join(" ");
    const stale = isStale ? `, of generation ${condition.observedGeneration} and not ${generationOf(object)}` : "";
    return {
      pass,
      message: () =>
        `expected ${nameOf(object)} ${pass ? "not " : ""}to have the condition ${wanted}; it has ${conditionsText(object)}${stale}`,
    };
  },
  toBeControlledBy(object, owner) {
    const controller = controllerOf(object as object);
    const pass = controller !== undefined && controller.uid === (owner as Observed).metadata?.uid;
    const isOther = !pass && controller?.name === (owner as Observed).metadata?.name;
    const uid = isOther ? ` of the UID ${controller?.uid}, not ${(owner as Observed).metadata?.uid}` : "";
    const has =
      controller === undefined
        ? "it has no controller"
        : `it is controlled by ${controller.kind} ${controller.name}${uid}`;
    return {
      pass,
      message: () => `expected ${nameOf(object)} ${pass ? "not " : ""}to be controlled by ${nameOf(owner)}; ${has}`,
    };
  },
  toHaveChildren(owner, objects, names) {
    const children = childrenOf(owner as object, objects)
      .map(nameOf)
      .sort();
    const pass = JSON.stringify(children) === JSON.stringify([...names].sort());
    return {
      pass,
      message: () =>
        `expected ${nameOf(owner)} ${pass ? "not " : ""}to have the children [${names.join(", ")}]; it has [${children.join(", ")}]`,
    };
  },
};

function controllerOf(object: object) {
  return (object as Observed).metadata?.ownerReferences?.find(({ controller }) => controller === true);
}

function generationOf(object: unknown): number | undefined {
  return (object as Observed).metadata?.generation;
}

function nameOf(object: unknown): string {
  const { kind, metadata } = object as Observed;
  return `${kind ?? "object"} ${metadata?.name ?? ""}`;
}

function conditionsText(object: unknown): string {
  const { conditions = [] } = ((object as Observed).status ?? {}) as { readonly conditions?: readonly Condition[] };
  const each = conditions.map(({ type, status, reason, message }) => `${type}=${status} ${reason} ${message}`.trim());
  return each.length === 0 ? "none" : each.join("; ");
}
