/** The sources of configuration values, as they were read at one time. */

/** The values that `--module-config` names, and the environment. */
export interface ConfigSources {
  /** The environment; `undefined` when it does not count. */
  readonly env: Readonly<Record<string, string | undefined>> | undefined;
  /** The files and folders; later ones take precedence. */
  readonly places: readonly ConfigPlace[];
}

export type ConfigPlace = ConfigFile | ConfigFolder;

/** A YAML or JSON file: values by field, by the name of the configuration. */
export interface ConfigFile {
  readonly kind: "file";
  /** The path as the user named it. */
  readonly path: string;
  readonly sections: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** A folder with a file for each value, such as a mounted ConfigMap or Secret. */
export interface ConfigFolder {
  readonly kind: "folder";
  readonly path: string;
  /** The texts by `NAME.FIELD`, with the path of the file. */
  readonly texts: ReadonlyMap<string, { readonly text: string; readonly file: string }>;
}

export const NO_SOURCES: ConfigSources = { env: undefined, places: [] };

/** A value and its origin. */
export interface SourceValue {
  readonly value: unknown;
  /** Whether the value is a text for any type, as variables and the files of a folder are. */
  readonly isText: boolean;
  /** `GUESTBOOK_REPLICAS`, `config.yaml`, `/etc/config/guestbook.replicas`. */
  readonly from: string;
}

/** Returns the value of a field. An empty variable counts as none, and so does `null` in a file. */
export function sourceValue(
  { name, path, key, variable }: { name: string; path: readonly string[]; key: string; variable: string },
  { env, places }: ConfigSources,
): SourceValue | undefined {
  const text = env?.[variable];
  if (text !== undefined && text !== "") return { value: text, isText: true, from: variable };
  for (const place of places.toReversed()) {
    if (place.kind === "file") {
      const value = valueAt(place.sections[name], path);
      if (value !== undefined && value !== null) return { value, isText: false, from: place.path };
    } else {
      const text = place.texts.get(`${name}.${key}`);
      if (text !== undefined) return { value: text.text, isText: true, from: text.file };
    }
  }
  return undefined;
}

/** Returns the value at a path of own properties. */
export function valueAt(section: unknown, path: readonly string[]): unknown {
  let value = section;
  for (const property of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, property)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[property];
  }
  return value;
}

/** Whether two sets of sources have the same values. */
export function isSame(a: ConfigSources, b: ConfigSources): boolean {
  const all = ({ places }: ConfigSources): string =>
    JSON.stringify(places.map((place) => (place.kind === "file" ? place.sections : [...place.texts])));
  return all(a) === all(b);
}

/** Returns a text that changes whenever a source value of these configurations changes. */
export function printOf({ places }: ConfigSources, names: Iterable<string>): string {
  const entries = [...names].map((name) =>
    places.map((place) =>
      place.kind === "file"
        ? place.sections[name]
        : [...place.texts].filter(([key]) => key.startsWith(`${name}.`)).map(([key, { text }]) => [key, text]),
    ),
  );
  return JSON.stringify(entries);
}
