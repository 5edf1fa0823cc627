/** Checks what an author gives to `children.sync`, because modules run without a type check. */
import type { MetaInput } from "../resource/meta.ts";

/** A member of the set that `children.sync` was given. */
export interface DesiredObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: MetaInput;
}

/** The members of the set that `children.sync` was given, by name. */
export type DesiredSet = Readonly<Record<string, DesiredObject | readonly DesiredObject[] | undefined>>;

const OPTIONS: ReadonlySet<string> = new Set([
  "after",
  "keep",
  "release",
  "allowEmpty",
  "adopt",
  "onForeign",
  "dryRun",
]);

/** Checks a set and its options. @throws TypeError when the set has no named children, or an option does not exist. */
export function checkSet(desired: unknown, options: object): void {
  if (typeof desired !== "object" || desired === null || Array.isArray(desired)) {
    throw new TypeError(`Cannot sync children: expected an object that gives each child a name, got ${shown(desired)}`);
  }
  for (const option in options) {
    if (OPTIONS.has(option)) continue;
    throw new TypeError(`Cannot sync children: there is no option '${option}', only ${[...OPTIONS].join(", ")}`);
  }
  const { onForeign } = options as { readonly onForeign?: unknown };
  if (onForeign === undefined || onForeign === "skip" || onForeign === "fail") return;
  throw new TypeError(`Cannot sync children: 'onForeign' must be "skip" or "fail", got ${shown(onForeign)}`);
}

/** Fields that only objects from the server have. */
const OF_THE_SERVER = ["uid", "resourceVersion", "managedFields"] as const;

/**
 * The objects under one name of the set.
 *
 * @throws TypeError when one of them cannot be applied.
 */
export function objectsOf(name: string, given: DesiredSet[string]): readonly DesiredObject[] {
  if (given === undefined) return [];
  const objects = Array.isArray(given) ? (given as readonly DesiredObject[]) : [given as DesiredObject];
  for (const object of objects) check(name, object);
  return objects;
}

function check(name: string, object: DesiredObject): void {
  const refuse = (why: string): never => {
    throw new TypeError(`Cannot sync children: '${name}' ${why}`);
  };
  if (typeof object !== "object" || object === null || Array.isArray(object)) {
    refuse(`is ${shown(object)}; give an object, several in an array, or undefined where none is wanted`);
  }
  const { apiVersion, kind, metadata } = object;
  if (!apiVersion || !kind) refuse("has no apiVersion or no kind; `of(Kind, { metadata, … })` fills them in");
  if (!metadata?.name) {
    const isGenerated = metadata !== undefined && Object.hasOwn(metadata, "generateName");
    refuse(
      isGenerated
        ? `(${kind}) has generateName, and children go by their names: derive one from the owner's name`
        : `(${kind}) has no metadata.name`,
    );
  }
  for (const field of OF_THE_SERVER) {
    if ((metadata as MetaInput & { readonly [K in typeof field]?: unknown })[field] === undefined) continue;
    refuse(`(${kind}) has metadata.${field} of an object that was read; give its name, labels and annotations only`);
  }
}

function shown(value: unknown): string {
  return Array.isArray(value) ? "an array" : typeof value === "string" ? `'${value}'` : String(value);
}
