/** Creating what each namespace has. */
import { type Client, isAlreadyExists, isApiError, isNotFound, type Resource, type Shape } from "../../index.ts";

/** Creates an object, unless it is there already or its namespace is being deleted or gone. */
export async function createInNamespace<S extends Shape>(
  client: Client,
  kind: Resource<S>,
  object: S["write"],
): Promise<void> {
  try {
    await client.create(kind, object);
  } catch (error) {
    if (!isAlreadyExists(error) && !isNotFound(error) && !isTerminating(error)) throw error;
  }
}

function isTerminating(error: unknown): boolean {
  return (
    isApiError(error) && error.status.details?.causes?.some(({ reason }) => reason === "NamespaceTerminating") === true
  );
}

export function isDefault({ metadata }: { readonly metadata: { readonly name: string } }): boolean {
  return metadata.name === "default";
}
