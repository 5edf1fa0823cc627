/**
 * Finds kinds on a cluster by name: kinds of CustomResourceDefinitions, and those that an aggregated API server serves.
 */
import { isApiError } from "../kube/errors/api-error.ts";
import type { Transport } from "../kube/transport/transport.ts";
import type { StructuralSchema } from "../resource/schema/structural.ts";
import { type ServedKind, everyKind } from "./every-kind.ts";
import type { ForeignKind } from "./handle-source.ts";
import { type Definition, versionsOf } from "./kind-versions.ts";
import { CRDS, namesOf } from "./migration/custom-definition.ts";
import { UserError } from "./usage-error.ts";

/**
 * Finds kinds by the names that kubectl accepts: `Certificate`, `certificates`, `cert`, `certificates.cert-manager.io`.
 *
 * @returns the versions of each kind, the preferred one first.
 * @throws UserError naming the kind that the cluster lacks, ApiError.
 */
export async function kindsOfCluster(
  names: readonly string[],
  transport: Pick<Transport, "request">,
): Promise<readonly (readonly ForeignKind[])[]> {
  const { items } = await transport.request<{ readonly items: readonly Definition[] }>({
    method: "GET",
    path: CRDS,
  });
  let others: readonly ServedKind[] | undefined;
  const kinds: (readonly ForeignKind[])[] = [];
  for (const name of names) {
    // Items of a list have neither apiVersion nor kind.
    const defined = items.filter(({ spec }) => namesOf(spec).includes(name.toLowerCase()));
    const versions = defined.map((one) =>
      versionsOf({ ...one, apiVersion: "apiextensions.k8s.io/v1" }, one.spec.names.plural),
    );
    if (versions.length === 0) {
      others ??= await everyKind(transport);
      const served = others.filter(({ resource: { kind, plural = "", group } }) =>
        namesOf({ group, names: { kind, plural } }).includes(name.toLowerCase()),
      );
      versions.push(...(await Promise.all(served.map(async (one) => [await published(one, transport)]))));
    }
    if (versions.length === 0) {
      throw new UserError(`Cannot find the kind '${name}' on the cluster, nor a file of that name`);
    }
    kinds.push(...versions);
  }
  return kinds;
}

interface Referring extends Omit<StructuralSchema, "properties" | "items" | "additionalProperties" | "allOf"> {
  readonly $ref?: string;
  readonly allOf?: readonly Referring[];
  readonly properties?: Readonly<Record<string, Referring>>;
  readonly items?: Referring;
  readonly additionalProperties?: Referring;
  readonly "x-kubernetes-group-version-kind"?: readonly GroupVersionKind[];
}

interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/**
 * Returns a kind without CustomResourceDefinition: its schema is in the OpenAPI document of its group, and refers to
 * others.
 */
async function published(
  { resource, namespaced }: ServedKind,
  { request }: Pick<Transport, "request">,
): Promise<ForeignKind> {
  const { apiVersion, group, version, kind, plural = "" } = resource;
  if (group === "" || group.endsWith(".k8s.io") || !group.includes(".")) {
    throw new UserError(`Cannot write types for ${kind}: it is built in, import { ${kind} } from "binnacle/resources"`);
  }
  const path = `/openapi/v3/apis/${apiVersion}`;
  const answer = await request<{ readonly components?: { readonly schemas?: Readonly<Record<string, Referring>> } }>({
    method: "GET",
    path,
  }).catch((error: unknown) => {
    if (!isApiError(error)) throw error;
    throw new UserError(`Cannot write types for ${kind}: the cluster does not publish its schema: ${error.message}`);
  });
  const schemas = answer.components?.schemas ?? {};
  const schema = Object.values(schemas).find((one) =>
    one["x-kubernetes-group-version-kind"]?.some(
      (id) => id.group === group && id.version === version && id.kind === kind,
    ),
  );
  if (schema === undefined) throw new UserError(`Cannot write types for ${kind}: ${path} has no schema of it`);
  const scope = namespaced ? "Namespaced" : "Cluster";
  return { group, version, kind, plural, scope, schema: resolved(schema, { schemas, within: [] }) };
}

/** Replaces every reference by its target; a recursive reference becomes any type. */
function resolved(
  schema: Referring,
  { schemas, within }: { readonly schemas: Readonly<Record<string, Referring>>; readonly within: readonly string[] },
): StructuralSchema {
  // A reference with a description of its own is in `allOf`.
  const { $ref = schema.allOf?.[0]?.$ref, properties, items, additionalProperties, allOf: _, ...rest } = schema;
  if ($ref !== undefined) {
    const name = $ref.split("/").at(-1)!;
    const target = schemas[name];
    if (target === undefined || within.includes(name)) return { description: schema.description };
    const full = resolved(target, { schemas, within: [...within, name] });
    return { ...full, description: schema.description ?? full.description };
  }
  const inner = (one: Referring): StructuralSchema => resolved(one, { schemas, within });
  return {
    ...rest,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([field, one]) => [field, inner(one)])),
    }),
    ...(items && { items: inner(items) }),
    ...(typeof additionalProperties === "object" && { additionalProperties: inner(additionalProperties) }),
  };
}
