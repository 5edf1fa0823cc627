/** Converts an object to another version and back, and finds the differences. */
import { isFields, sameJson } from "../../resource/json.ts";
import type { ResourceDefinition, VersionDefinition } from "../../resource/definition.ts";
import { convertObject } from "../../webhook/conversion/convert-object.ts";
import type { WireObject } from "../../webhook/conversion/wire-object.ts";
import { VersionSchema } from "binnacle-apiserver";
import { ownField } from "../../resource/any-key.ts";

/**
 * - `lost`: the field is gone, or a conversion returned a field that no schema has;
 * - `changed`: it has another value;
 * - `added`: there was none;
 * - `refused`: the other version's schema does not allow the result of the conversion;
 * - `failed`: the conversion threw.
 */
export type LossReason = "lost" | "changed" | "added" | "refused" | "failed";

/** A field of an object that is lost or changed. */
export interface Difference {
  readonly reason: LossReason;
  /** The path without the positions of list elements, such as `spec.ports[].name`. */
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
  /** The explanation of `refused` and `failed`. */
  readonly message?: string;
  /** Whether the loss occurs only when parts of an object are applied, not with the whole object. */
  readonly isPart?: boolean;
}

export class RoundTrip {
  /** The versions: the first and last one, and the one in between. */
  readonly from: string;
  readonly through: string;
  readonly #definition: ResourceDefinition;
  readonly #here: VersionSchema;
  readonly #there: VersionSchema;
  readonly #intended: readonly string[];

  constructor(definition: ResourceDefinition, from: VersionDefinition, through: VersionDefinition) {
    const { kind } = definition.names;
    this.#definition = definition;
    this.from = from.name;
    this.through = through.name;
    this.#here = new VersionSchema(kind, from.schema);
    this.#there = new VersionSchema(kind, through.schema);
    this.#intended = [...from.loses, ...through.loses];
  }

  /** Returns the object with defaults; `undefined` when it is invalid in its version. */
  begin(object: WireObject): WireObject | undefined {
    const admitted = this.#here.admit(object);
    return admitted.errors.length > 0 ? undefined : frozen(admitted.object);
  }

  /** Returns the differences from the result of `begin`, except intended losses. */
  differences(object: WireObject): readonly Difference[] {
    return this.all(object).filter(({ path }) => !this.#intended.some((one) => isWithin(path, one)));
  }

  /** Returns intended losses too. */
  all(object: WireObject): readonly Difference[] {
    let back: WireObject;
    const differences: Difference[] = [];
    try {
      const there = this.#there.admit(convertObject(this.#definition, object, { to: this.through }));
      for (const path of there.pruned)
        differences.push({ reason: "lost", path: bare(path), message: `${this.through} has no such field` });
      if (there.errors.length > 0) return [...differences, ...there.errors.map(refused)];
      const answer = this.#here.admit(convertObject(this.#definition, frozen(there.object), { to: this.from }));
      for (const path of answer.pruned)
        differences.push({ reason: "lost", path: bare(path), message: `${this.from} has no such field` });
      if (answer.errors.length > 0) return [...differences, ...answer.errors.map(refused)];
      back = answer.object;
    } catch (error) {
      return [
        {
          reason: "failed",
          path: "",
          message: error instanceof Error ? `${error.name}: ${error.message}` : String(error),
        },
      ];
    }
    differences.push(...compare(object.spec, back.spec, "spec"));
    // An empty status is equivalent to none.
    differences.push(...compare(object.status ?? {}, back.status ?? {}, "status"));
    for (const name of ["labels", "annotations"]) {
      const [before, after] = [object, back].map(({ metadata }) => (metadata[name] ?? {}) as Fields);
      // A conversion may keep fields that the other version lacks in annotations.
      differences.push(...compare(before, { ...after }, `metadata.${name}`).filter(({ reason }) => reason !== "added"));
    }
    return differences;
  }
}

type Fields = Readonly<Record<string, unknown>>;

function compare(before: unknown, after: unknown, path: string): readonly Difference[] {
  if (sameJson(before, after)) return [];
  if (before === undefined) return [{ reason: "added", path, after }];
  if (after === undefined) return [{ reason: "lost", path, before }];
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return before.flatMap((item, index) => compare(item, after[index], `${path}[]`));
  }
  if (!isFields(before) || !isFields(after)) return [{ reason: "changed", path, before, after }];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) => compare(ownField(before, name), ownField(after, name), `${path}.${name}`));
}

/** Makes a difference of a message such as `spec.size: Invalid value: …`. */
function refused(message: string): Difference {
  return { reason: "refused", path: bare(/^[^:\s]+/.exec(message)?.[0] ?? ""), message };
}

function bare(path: string): string {
  return path.replaceAll(/\[[^\]]*(?:\]|$)/g, "[]");
}

function isWithin(path: string, outer: string): boolean {
  return path === outer || path.startsWith(`${outer}.`) || path.startsWith(`${outer}[`);
}

/** Freezes the input, so that a conversion that changes it fails. */
function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}
