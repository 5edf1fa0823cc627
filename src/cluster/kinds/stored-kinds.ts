/** The kinds whose objects a cluster stores: the built-in ones and those of CustomResourceDefinitions. */
import { type Client, type Resource, resource } from "../../index.ts";
import * as builtin from "../../resource/builtin/index.ts";
import { CustomResourceDefinition } from "../../resource/builtin/index.ts";

/** A kind with the information that controllers of all kinds need. */
export interface StoredKind {
  readonly handle: Resource;
  /** The plural name, as in paths. */
  readonly plural: string;
  readonly isNamespaced: boolean;
  /** Whether it supports strategic merge patches; custom kinds do not. */
  readonly isCustom: boolean;
}

/** Kinds that the server computes or that show another kind's objects; they are never stored. */
const NOT_KEPT = /Review$|^(Binding|ComponentStatus|Eviction|Scale|TokenRequest)$/;

/** The kind in every version that has a handle, the preferred one first. */
const versions: readonly StoredKind[] = Object.values(builtin)
  .filter((value) => isHandle(value))
  .filter(({ kind }) => !NOT_KEPT.test(kind))
  .map((handle) => ({
    handle,
    plural: handle.plural ?? "",
    isNamespaced: handle.scope === "Namespaced",
    isCustom: false,
  }));

const byName = new Map(versions.map((kind) => [nameOf(kind.handle), kind]));

/** Each built-in kind once. Events exist in two groups and are stored once, as those of the core group. */
export const builtinKinds: readonly StoredKind[] = [
  ...new Map(versions.toReversed().map((kind) => [`${kind.handle.group}/${kind.plural}`, kind])).values(),
].filter(({ handle }) => handle.kind !== "Event" || handle.group === "");

/** The built-in kind with an `apiVersion` and a name. */
function builtinKind(of: { readonly apiVersion: string; readonly kind: string }): StoredKind | undefined {
  return byName.get(nameOf(of));
}

/** The kinds of established definitions, each in its storage version. */
export async function customKinds(client: Client): Promise<readonly StoredKind[]> {
  const definitions = await client.list(CustomResourceDefinition);
  return definitions.filter(isEstablished).flatMap((definition) => {
    const stored = definition.spec.versions.find(({ storage, served }) => storage && served);
    const version = stored ?? definition.spec.versions.find(({ served }) => served);
    return version === undefined ? [] : [kindOf(definition, version.name)];
  });
}

/** Returns the served kind with an `apiVersion` and a name; `undefined` when there is none. */
export async function servedKind(
  client: Client,
  named: { readonly apiVersion: string; readonly kind: string },
): Promise<StoredKind | undefined> {
  const known = builtinKind(named);
  if (known !== undefined) return known;
  const [group = "", version] = named.apiVersion.split("/");
  for (const definition of await client.list(CustomResourceDefinition)) {
    const { spec } = definition;
    if (spec.group !== group || spec.names.kind !== named.kind || !isEstablished(definition)) continue;
    if (spec.versions.some(({ name, served }) => served && name === version)) return kindOf(definition, version!);
  }
  return undefined;
}

type Definition = CustomResourceDefinition;

function kindOf({ spec }: Definition, version: string): StoredKind {
  return {
    handle: resource(`${spec.group}/${version}`, spec.names.kind),
    plural: spec.names.plural,
    isNamespaced: spec.scope === "Namespaced",
    isCustom: true,
  };
}

function isEstablished({ status }: Definition): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === "Established" && is === "True") ?? false;
}

function nameOf({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): string {
  return `${apiVersion}/${kind}`;
}

function isHandle(value: unknown): value is Resource {
  return typeof value === "object" && value !== null && "plural" in value && "kind" in value;
}
