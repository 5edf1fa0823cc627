/** Custom kinds that cases define. */
import type { Loose, Session } from "./session.ts";

export const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

export interface CustomKind {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
  /** @default "Namespaced" */
  readonly scope?: "Namespaced" | "Cluster";
  /** More names, such as short ones. */
  readonly names?: object;
  /** The schema of the whole object. @default one that permits anything */
  readonly schema?: object;
  /** More of the version `v1`, such as its subresources. */
  readonly version?: object;
  /** Instead of the one version `v1`. */
  readonly versions?: readonly object[];
  /** More of the definition's spec, such as its conversion. */
  readonly spec?: object;
}

export function definitionOf(custom: CustomKind): Loose {
  const { group, plural, kind, scope = "Namespaced", names, schema, version, versions, spec } = custom;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: { plural, kind, ...names },
      versions: versions ?? [versionOf("v1", schema, version)],
      ...spec,
    },
  };
}

/** Makes a version of a definition, which is stored if it is `v1`. */
export function versionOf(name: string, schema: object = anything, more: object = {}): object {
  return { name, served: true, storage: name === "v1", schema: { openAPIV3Schema: schema }, ...more };
}

const anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

/** The schema of an object with these fields in its spec. */
export function withSpec(properties: object, more: object = {}): object {
  return { type: "object", properties: { spec: { type: "object", properties, ...more } } };
}

/**
 * Sends a definition, without recording it, and waits until all of its versions are served.
 *
 * @param text its JSON, where that has numbers which JavaScript spells otherwise
 */
export async function define(session: Session, definition: Loose, text: unknown = definition): Promise<void> {
  const { group, names, versions } = definition.spec;
  const answer = await session.quietly("POST", definitions, text);
  if (answer?.kind === "Status" && answer.code !== 409) session.note("the definition", answer.message);
  for (const { name, served } of versions) {
    if (!served) continue;
    await session.waitFor(`/apis/${group}/${name}/${names.plural}`, (list) => list?.kind === `${names.kind}List`);
  }
  // Its schema is in use a moment after it is served.
  await session.noticed(300);
}
