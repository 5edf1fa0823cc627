/** Creates the objects that every namespace has. */
import { type Client, isAlreadyExists, isNotFound, type Resource, type Shape } from "../../index.ts";
import { isNamespaceTerminating } from "../workload/pod-control.ts";

/** Creates an object, unless it exists already or its namespace is gone or being deleted. */
export async function createInNamespace<S extends Shape>(
  client: Client,
  kind: Resource<S>,
  object: S["write"],
): Promise<void> {
  try {
    await client.create(kind, object);
  } catch (error) {
    if (!isAlreadyExists(error) && !isNotFound(error) && !isNamespaceTerminating(error)) throw error;
  }
}

export function isDefault({ metadata }: { readonly metadata: { readonly name: string } }): boolean {
  return metadata.name === "default";
}
