/** Checks the configurations of all modules together: their sources, and their relations to each other. */
import { suggestion } from "../nearest.ts";
import type { ModuleConfig } from "./config.ts";
import type { ConfigField } from "./fields.ts";
import type { ConfigPlace, ConfigSources } from "./sources.ts";

/** Names that files and folders may use. */
export interface KnownNames {
  readonly configs: readonly ModuleConfig[];
  /** The names of modules that could not be loaded, so that their configurations are unknown. */
  readonly unknown?: readonly string[];
}

/** Returns the values of files that no module takes, a sentence each; for folders see {@link unusedKeys}. */
export function unknownKeys({ places }: Pick<ConfigSources, "places">, known: KnownNames): readonly string[] {
  const faults: string[] = [];
  const names = namesOf(known);
  for (const place of places) {
    if (place.kind !== "file") continue;
    for (const [name, section] of Object.entries(place.sections)) {
      const fields = fieldsFor(name, known);
      if (fields === undefined && known.unknown?.includes(name) === true) continue;
      if (fields === undefined) faults.push(`unknown '${name}' in ${place.path}${suggestion(name, names)}`);
      else faults.push(...unknownIn(section, { path: [], name, fields, place }));
    }
  }
  return faults;
}

/** Returns the keys of folders that no module takes: mistakes, or keys of a Secret for other programs. */
export function unusedKeys({ places }: Pick<ConfigSources, "places">, known: KnownNames): readonly string[] {
  const keys = known.configs.flatMap(({ name, fields }) => fields.map(({ key }) => `${name}.${key}`));
  const unused: string[] = [];
  for (const place of places) {
    if (place.kind !== "folder") continue;
    for (const [key, { file }] of place.texts) {
      if (keys.includes(key) || known.unknown?.some((name) => key.startsWith(`${name}.`)) === true) continue;
      const advice = /\.(ya?ml|json)$/.test(key)
        ? ", if it has the values of modules, name the file itself with --module-config"
        : suggestion(key, keys);
      unused.push(`${file}${advice}`);
    }
  }
  return unused;
}

/** Returns a sentence for each variable that two fields would take. */
export function variableClashes(configs: readonly ModuleConfig[]): readonly string[] {
  const fieldOfVariable = new Map<string, string>();
  const faults = new Set<string>();
  for (const { name, fields } of configs) {
    for (const { key, variable } of fields) {
      const field = `${name}.${key}`;
      const other = fieldOfVariable.get(variable);
      if (other === undefined) fieldOfVariable.set(variable, field);
      else if (other !== field) {
        faults.add(`'${other}' and '${field}' would both be ${variable} in the environment: rename one of them`);
      }
    }
  }
  return [...faults];
}

function namesOf({ configs, unknown = [] }: KnownNames): readonly string[] {
  return [...new Set([...configs.map(({ name }) => name), ...unknown])];
}

/** Returns the fields of all configurations with a name, because two modules may share one; `undefined` for none. */
function fieldsFor(name: string, { configs }: KnownNames): readonly ConfigField[] | undefined {
  const ofName = configs.filter((one) => one.name === name);
  return ofName.length === 0 ? undefined : ofName.flatMap(({ fields }) => fields);
}

interface Section {
  readonly path: readonly string[];
  readonly name: string;
  readonly fields: readonly ConfigField[];
  readonly place: ConfigPlace;
}

function unknownIn(section: unknown, at: Section): readonly string[] {
  const { path, name, fields, place } = at;
  const below = fields.filter((field) => path.every((part, index) => field.path[index] === part));
  if (below.some((field) => field.path.length === path.length)) return []; // a single value
  if (section === undefined || section === null) return [];
  if (typeof section !== "object" || Array.isArray(section)) {
    return [`'${[name, ...path].join(".")}' in ${place.path}: expected values by name`];
  }
  const known = new Set(below.map((field) => field.path[path.length]!));
  return Object.entries(section).flatMap(([key, value]) =>
    known.has(key)
      ? unknownIn(value, { ...at, path: [...path, key] })
      : [`unknown '${[name, ...path, key].join(".")}' in ${place.path}${suggestion(key, known)}`],
  );
}
