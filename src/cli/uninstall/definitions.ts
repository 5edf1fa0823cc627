/** The CustomResourceDefinitions of uninstalled modules, and their objects. */
import { collectionPath, RestMapper } from "../../kube/api/mapper.ts";
import { isNotFound } from "../../kube/errors/api-error.ts";
import type { Transport } from "../../kube/transport/transport.ts";
import { sleep } from "../../platform/clock.ts";
import { needsConversion } from "../../resource/crd-conversion.ts";
import { crdOf } from "../../resource/crd.ts";
import { handle, type Resource } from "../../resource/handle.ts";
import { countFinalizers, type ObjectCounts } from "../finalizer-counts.ts";
import { CRDS, type CustomDefinition, isMigrated, storageVersion } from "../migration/custom-definition.ts";
import { migrate } from "../migration/migration.ts";
import { UserError } from "../usage-error.ts";
import { change, deletionTarget, type DeletionTarget, find, type ClusterObject } from "./cluster-objects.ts";

/** Milliseconds until every API server knows a definition. */
const SETTLING = 5_000;

/** A definition that exists on the cluster. */
export interface Definition extends DeletionTarget {
  readonly resource: Resource;
  readonly objects: ObjectCounts;
  /** Whether a webhook converts its objects. */
  readonly isConverted: boolean;
  /** The versions other than the module's in which objects are, or may be, stored. */
  readonly storedElsewhere: readonly string[];
}

export async function definition(transport: Transport, resource: Resource): Promise<Definition | undefined> {
  const path = pathOf(resource);
  const stored = await find<ClusterObject & CustomDefinition>(transport, path);
  if (stored === undefined) return undefined;
  return {
    ...deletionTarget(path, "CustomResourceDefinition", stored),
    resource,
    isConverted: stored.spec.conversion?.strategy === "Webhook",
    storedElsewhere: (stored.status?.storedVersions ?? []).filter((version) => version !== resource.version),
    objects: await objectsOf(transport, resource),
  };
}

function pathOf(resource: Resource): string {
  return `${CRDS}/${crdOf(resource).metadata.name}`;
}

/**
 * Returns the kind in the version in which all of its objects are stored, if that version is served: reading it needs
 * no webhook.
 */
export async function asStored(transport: Transport, resource: Resource): Promise<Resource> {
  if (!needsConversion(resource)) return resource;
  const stored = await find<ClusterObject & CustomDefinition>(transport, pathOf(resource));
  if (stored === undefined || !isMigrated(stored)) return resource;
  const version = storageVersion(stored);
  const isServed = stored.spec.versions.some(({ name, served }) => name === version && served);
  return isServed ? handle({ ...resource, apiVersion: `${resource.group}/${version}` }) : resource;
}

/**
 * Ends the conversion of objects that are about to be deleted. The garbage collector reads objects in the version that
 * the API server prefers, and deletes their children only if that succeeds. It reads only metadata, which is the same
 * in all versions.
 */
export async function convertNoMore(transport: Transport, definition: DeletionTarget): Promise<void> {
  await change(transport, definition, { spec: { conversion: { strategy: "None", webhook: null } } });
}

/** Makes the module's version the storage version, and stores all objects in it, while they can be converted. */
export async function storeAsRead(
  transport: Transport,
  { path, what, resource }: Definition,
  { signal, concurrency }: { readonly signal: AbortSignal; readonly concurrency: number },
): Promise<void> {
  const { version } = resource;
  const live = await transport.request<CustomDefinition>({ method: "GET", path });
  const versions = live.spec.versions.map((one) => ({ ...one, storage: one.name === version }));
  const body = { ...live, spec: { ...live.spec, versions } };
  const definition = await transport.request<CustomDefinition>({ method: "PUT", path, body });
  // Until every API server knows it, some would still store the other version.
  await sleep(SETTLING, { signal });
  const options = { transport, definition, pageSize: 500, concurrency, dryRun: false, signal, onProgress() {} };
  const { failed, failures, interrupted } = await migrate(options);
  signal.throwIfAborted();
  if (failed === 0 && !interrupted) return;
  const [first] = failures;
  throw new UserError(
    `Cannot store the objects of ${what} in version ${version}, in which they are finalized: ${first?.object ?? ""} ${first?.message ?? ""}. ` +
      "Run the modules, whose webhook converts them, and run this again; or leave out what `finalize` does with --release",
  );
}

/** Reads the metadata of all objects of a kind; there are none when the kind does not exist. */
export async function objectsOf(transport: Transport, resource: Resource): Promise<ObjectCounts> {
  try {
    const type = await asStored(transport, resource);
    const mapper = new RestMapper(transport);
    const path = collectionPath(mapper.known(type) ?? (await mapper.resolve(type)), "");
    return await countFinalizers(transport, { path, type });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return { count: 0, namespaces: new Set(), finalizers: new Map() };
  }
}

/** Finalizers that the API server's own garbage collector removes. */
const COLLECTED = ["foregroundDeletion", "orphan"];

/**
 * Returns why the deletion of a definition would not finish; `undefined` when it would.
 *
 * @param own the finalizers that are removed before the deletion. @default none
 */
export function whatHoldsUp({ finalizers }: ObjectCounts, own: readonly string[] = []): string | undefined {
  const held = [...finalizers].filter(([name]) => !COLLECTED.includes(name) && !own.includes(name));
  if (held.length === 0) return undefined;
  return held.map(([name, { objects, example }]) => `${name} (objects: ${objects}, such as ${example})`).join(", ");
}
