/**
 * The types of the fields of a kubeconfig. As in kubectl, a field of the wrong type is refused instead of interpreted.
 */
import { ConfigError } from "./config-error.ts";

type Shape = "text" | "boolean" | ListOf | MapOf | Fields;

interface ListOf {
  readonly each: Shape;
}

interface MapOf {
  readonly values: Shape;
}

interface Fields {
  readonly fields: Readonly<Record<string, Shape>>;
}

/**
 * The fields of entries, by the entry's key in its list.
 *
 * @see https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/
 */
const ENTRIES = {
  cluster: {
    fields: {
      server: "text",
      "certificate-authority": "text",
      "certificate-authority-data": "text",
      "insecure-skip-tls-verify": "boolean",
      "tls-server-name": "text",
      "proxy-url": "text",
    },
  },
  user: {
    fields: {
      "client-certificate": "text",
      "client-certificate-data": "text",
      "client-key": "text",
      "client-key-data": "text",
      token: "text",
      tokenFile: "text",
      username: "text",
      password: "text",
      as: "text",
      "as-uid": "text",
      "as-groups": { each: "text" },
      "as-user-extra": { values: { each: "text" } },
      /** @see https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins */
      exec: {
        fields: {
          apiVersion: "text",
          command: "text",
          args: { each: "text" },
          env: { each: { fields: { name: "text", value: "text" } } },
          installHint: "text",
          /** `Never`, `IfAvailable` or `Always`: whether the plugin reads what a person types. */
          interactiveMode: "text",
          provideClusterInfo: "boolean",
        },
      },
      "auth-provider": { fields: { name: "text", config: { values: "text" } } },
    },
  },
  context: { fields: { cluster: "text", user: "text", namespace: "text" } },
} as const;

/** The value that a shape allows; every field of an entry may be absent. */
type ValueOf<S> = S extends "text"
  ? string
  : S extends "boolean"
    ? boolean
    : S extends { readonly each: infer Each }
      ? readonly ValueOf<Each>[]
      : S extends { readonly values: infer Values }
        ? Readonly<Record<string, ValueOf<Values>>>
        : S extends { readonly fields: infer Named }
          ? { readonly [K in keyof Named]?: ValueOf<Named[K]> | undefined }
          : never;

export type ClusterEntry = ValueOf<(typeof ENTRIES)["cluster"]>;
export type UserEntry = ValueOf<(typeof ENTRIES)["user"]>;
export type ContextEntry = ValueOf<(typeof ENTRIES)["context"]>;
export type ExecEntry = NonNullable<UserEntry["exec"]>;

/** The maximum number of characters of a value that a message repeats. */
const LONGEST_SHOWN = 40;

/**
 * Checks the entry of a named cluster, user or context.
 *
 * @param where the entry in messages, such as `cluster "kind" of kubeconfig.yaml`.
 * @throws ConfigError naming the field. A value is only repeated when it cannot be a secret.
 */
export function checkEntry(item: keyof typeof ENTRIES, entry: unknown, where: string): void {
  check(entry, ENTRIES[item], { where, path: "" });
}

interface Place {
  readonly where: string;
  /** The path of the field, such as `exec.args[0]`. */
  readonly path: string;
}

function check(value: unknown, shape: Shape, { where, path }: Place): void {
  if (value === undefined || value === null) return;
  const refuse = (problem: string): never => {
    throw new ConfigError(`Cannot use ${where}: ${path === "" ? "it" : path} ${problem}`);
  };
  if (shape === "text") {
    if (typeof value !== "string") refuse(`is ${typeName(value)} instead of a string: put it in quotes`);
    return;
  }
  if (shape === "boolean") {
    if (typeof value === "boolean") return;
    const text = typeof value === "string" ? JSON.stringify(value.slice(0, LONGEST_SHOWN)) : typeName(value);
    refuse(`is ${text} instead of a boolean: write true or false`);
    return;
  }
  if ("each" in shape) {
    if (!Array.isArray(value)) return void refuse(`is ${typeName(value)} instead of a list`);
    value.forEach((element, index) => check(element, shape.each, { where, path: `${path}[${index}]` }));
    return;
  }
  if (typeof value !== "object" || Array.isArray(value)) refuse(`is ${typeName(value)} instead of an object`);
  const within = path === "" ? "" : `${path}.`;
  for (const [name, field] of Object.entries(value)) {
    const its = "values" in shape ? shape.values : Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined;
    if (its !== undefined) check(field, its, { where, path: within + name });
  }
}

function typeName(value: unknown): string {
  return Array.isArray(value) ? "a list" : typeof value === "object" ? "an object" : `a ${typeof value}`;
}
