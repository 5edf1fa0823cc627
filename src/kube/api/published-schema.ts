/** The schema of a kind as the API server publishes it. */
import { groupOf } from "../../resource/handle.ts";
import type { StructuralSchema } from "../../resource/schema/structural.ts";
import { isApiError } from "../errors/api-error.ts";
import type { Transport } from "../transport/transport.ts";

interface PublishedSchema extends StructuralSchema {
  readonly "x-kubernetes-group-version-kind"?: readonly {
    readonly group: string;
    readonly version: string;
    readonly kind: string;
  }[];
}

interface OpenApi {
  readonly components?: { readonly schemas?: Readonly<Record<string, PublishedSchema>> };
}

/**
 * Asks for the schema of a kind in a group. Only schemas of CustomResourceDefinitions are complete: those of built-in
 * kinds refer to others.
 *
 * @returns `undefined` while the server does not publish the schema, or does not let us read it. The schema of a new
 * kind follows a moment later.
 * @see https://kubernetes.io/docs/concepts/overview/kubernetes-api/#openapi-v3
 */
export async function publishedSchema(
  { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string },
  { transport, signal }: { readonly transport: Pick<Transport, "request">; readonly signal?: AbortSignal | undefined },
): Promise<StructuralSchema | undefined> {
  const group = groupOf(apiVersion);
  let document: OpenApi;
  try {
    document = await transport.request<OpenApi>({ method: "GET", path: `/openapi/v3/apis/${apiVersion}`, signal });
  } catch (error) {
    if (isApiError(error)) return undefined;
    throw error;
  }
  return Object.values(document.components?.schemas ?? {}).find((schema) =>
    schema["x-kubernetes-group-version-kind"]?.some(
      (one) => one.group === group && one.kind === kind && `${group}/${one.version}` === apiVersion,
    ),
  );
}
