/** The protobuf messages of the built-in kinds, as kube-apiserver declares them. */
import messagesText from "./messages.txt" with { type: "text" };

/** The number, the JSON name, the type (with `<` in front for the type of a map's values), and whether the field is repeated. */
export type FieldRow = readonly [number: number, name: string, type: string, repeated?: 1];

export interface Message {
  readonly fields: ReadonlyMap<number, FieldRow>;
  /** The fields in the order of their numbers. */
  readonly rows: readonly FieldRow[];
}

let table: Readonly<Record<string, readonly FieldRow[]>> | undefined;
const messages = new Map<string, Message>();

/** The package of the kinds that every group shares. */
export const meta = "k8s.io.apimachinery.pkg.apis.meta.v1";

export interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export function nameOf({ group, version, kind }: Kind): string {
  const part = group === "" ? "core" : (group.split(".")[0] ?? "");
  if (group === "apiextensions.k8s.io")
    return `k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.${version}.${kind}`;
  if (group === "apiregistration.k8s.io") return `k8s.io.kube_aggregator.pkg.apis.apiregistration.${version}.${kind}`;
  if (group === "meta.k8s.io") return `${meta}.${kind}`;
  return `k8s.io.api.${part}.${version}.${kind}`;
}

export function messageOf(name: string): Message | undefined {
  const known = messages.get(name);
  if (known !== undefined) return known;
  table ??= JSON.parse(messagesText) as Readonly<Record<string, readonly FieldRow[]>>;
  const rows = Object.hasOwn(table, name) ? table[name] : undefined;
  if (rows === undefined) return undefined;
  const named = rows.map(([number, field, ...rest]): FieldRow => [number, jsonName(field, name), ...rest]);
  const message = {
    fields: new Map(named.map((row) => [row[0], row])),
    rows: named.toSorted(([one], [other]) => one - other),
  };
  messages.set(name, message);
  return message;
}

const renamed: Readonly<Record<string, string>> = {
  aPIGroup: "apiGroup",
  Expression: "expression",
  Name: "name",
  Webhooks: "webhooks",
};

/** Returns the JSON name of a field, which differs from its name in some messages. */
function jsonName(field: string, message: string): string {
  if (message.endsWith(".JSONSchemaProps")) {
    if (field === "schema" || field === "ref") return `$${field}`;
    return field.startsWith("xKubernetes") ? field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`) : field;
  }
  return renamed[field] ?? field;
}
