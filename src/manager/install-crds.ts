/** Applies the CustomResourceDefinitions of modules, unless that would lose data. */
import { ListSemaphore } from "../cache/list-semaphore.ts";
import type { Transport } from "../kube/transport/transport.ts";
import { isNotFound, isUnreachable } from "../kube/errors/api-error.ts";
import type { Log } from "../observe/log.ts";
import { type Clock, sleep } from "../platform/clock.ts";
import { type Crd, crdOf } from "../resource/crd.ts";
import {
  conversionNeeded,
  needsConversion,
  replacingOther,
  type WebhookClientConfig,
  withConversion,
} from "../resource/crd-conversion.ts";
import type { Resource } from "../resource/handle.ts";
import { sameJson } from "../resource/json.ts";
import { loanAnnotations } from "../webhook/registration/lent-conversion.ts";
import { ownerName } from "../webhook/registration/owner-mark.ts";
import { losses, type StoredCrd } from "./crd-changes.ts";

const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/**
 * Milliseconds between two looks at whether a new kind is served, at first and at most, and for how long it is looked.
 */
const ASK_FIRST = 1;
const ASK_EVERY = 25;
const ESTABLISHED_WITHIN = 30_000;
/**
 * The most installations at a time: the server establishes definitions one after the other, so more would only wait
 * longer.
 */
const AT_ONCE = 8;

export interface InstallOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Shared by all installations on one server. */
  readonly gate: ListSemaphore;
  /**
   * The address of the conversion webhook, as soon as it responds.
   *
   * @default none: kinds with several versions are refused
   */
  readonly conversion?: ((signal: AbortSignal) => Promise<WebhookClientConfig>) | undefined;
  /** Called before a definition gets an address that belongs to this process alone. */
  readonly onLent?: ((name: string) => void) | undefined;
}

export function installGate(): ListSemaphore {
  return new ListSemaphore(AT_ONCE);
}

/** Thrown for a change of a CustomResourceDefinition that would lose data. */
class CrdRefused extends Error {
  override readonly name = "CrdRefused" as const;
}

/**
 * Applies the definitions of these resources with server-side apply and waits until they are served.
 *
 * @throws CrdRefused when a change would lose data, ApiError, the signal's reason.
 * @see https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/
 */
export async function installCrds(resources: readonly Resource[], options: InstallOptions): Promise<void> {
  const crds = await Promise.all(resources.map((resource) => wantedCrd(resource, options)));
  await Promise.all(crds.map((crd) => installWhenReachable(crd, options)));
}

async function wantedCrd(resource: Resource, { conversion, signal }: InstallOptions): Promise<Crd> {
  const crd = crdOf(resource);
  if (!needsConversion(resource)) return crd;
  if (conversion === undefined) {
    throw new CrdRefused(
      `Cannot install the CustomResourceDefinition ${crd.metadata.name}: ${conversionNeeded(resource)}`,
    );
  }
  return withConversion(crd, await conversion(signal));
}

/** An unreachable server says nothing about the module, so this waits for it, and every step can be repeated. */
async function installWhenReachable(crd: Crd, options: InstallOptions): Promise<void> {
  const { transport, clock, signal } = options;
  for (;;) {
    try {
      using _turn = await options.gate.acquire(signal);
      return await install(crd, options);
    } catch (error) {
      if (!isUnreachable(error)) throw error;
      await transport.reachability.wait(signal);
      await sleep(ASK_EVERY, { clock, signal });
    }
  }
}

async function install(crd: Crd, options: InstallOptions): Promise<void> {
  const { transport, log, signal } = options;
  const { name } = crd.metadata;
  const path = `${CRDS}/${name}`;
  const stored = await find(path, options);
  if (stored !== undefined) await refuseLosses(stored, crd, options);
  if (stored !== undefined && hasOtherAddress(stored, crd)) await convertHere(stored, crd, options);
  const applied = await transport.request<StoredCrd>({
    method: "PATCH",
    path,
    query: "fieldManager=binnacle&force=true",
    contentType: "application/apply-patch+yaml",
    body: marked(crd, stored, options),
    signal,
  });
  await established(path, { applied, options });
  if (stored?.metadata.resourceVersion !== applied.metadata.resourceVersion) {
    log.info("CustomResourceDefinition applied", { name });
  }
}

/**
 * Whether both addresses would be set afterwards, which the server refuses: an apply removes only fields that it
 * applied before.
 */
function hasOtherAddress({ spec }: StoredCrd, wanted: Crd): boolean {
  const [before, after] = [spec, wanted.spec].map(({ conversion }) => conversion?.webhook?.clientConfig);
  return before !== undefined && after !== undefined && (before.url === undefined) !== (after.url === undefined);
}

/** Marks a definition with an address that belongs to this process alone. */
function marked(crd: Crd, stored: StoredCrd | undefined, { onLent }: InstallOptions): Crd {
  if (crd.spec.conversion?.webhook?.clientConfig?.url === undefined) return crd;
  const { metadata } = crd;
  onLent?.(metadata.name);
  return {
    ...crd,
    metadata: { ...metadata, annotations: { ...metadata.annotations, ...loanAnnotations(ownerName(), stored) } },
  };
}

async function refuseLosses(stored: StoredCrd, crd: Crd, options: InstallOptions): Promise<void> {
  const { outright, withObjects } = losses(stored, crd);
  let lost = outright;
  if (lost.length === 0 && withObjects.length > 0) {
    await convertHere(stored, crd, options);
    if (await hasObjects(stored, options)) lost = withObjects;
  }
  if (lost.length === 0) return;
  throw new CrdRefused(
    `Cannot change the CustomResourceDefinition ${crd.metadata.name}: ${lost.join("; ")}. ` +
      `Keep what is there, ${lost === outright ? "" : "delete the objects, "}or add a new version beside it and migrate the objects first`,
  );
}

/** Objects can be listed only while something converts them, and the process that the definition names may be gone. */
async function convertHere({ metadata, spec }: StoredCrd, wanted: Crd, options: InstallOptions): Promise<void> {
  const { conversion } = wanted.spec;
  const clientConfig = conversion?.webhook?.clientConfig;
  if (clientConfig === undefined || spec.conversion?.strategy !== "Webhook" || sameJson(spec.conversion, conversion))
    return;
  const webhook = { ...conversion?.webhook, clientConfig: replacingOther(clientConfig) };
  await options.transport.request({
    method: "PATCH",
    path: `${CRDS}/${metadata.name}`,
    query: "fieldManager=binnacle",
    contentType: "application/merge-patch+json",
    body: { spec: { conversion: { ...conversion, webhook } } },
    signal: options.signal,
  });
}

async function find(path: string, { transport, signal }: InstallOptions): Promise<StoredCrd | undefined> {
  try {
    return await transport.request<StoredCrd>({ method: "GET", path, signal });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

async function hasObjects(crd: StoredCrd, { transport, signal }: InstallOptions): Promise<boolean> {
  const { group, names, versions } = crd.spec;
  const served = versions.find((version) => version.served);
  if (served === undefined) return true; // this is unknown, so it is refused
  const path = `/apis/${group}/${served.name}/${names.plural}`;
  try {
    const list = await transport.request<{ items: readonly unknown[] }>({
      method: "GET",
      path,
      query: "limit=1",
      signal,
    });
    return list.items.length > 0;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

async function established(path: string, wait: { applied: StoredCrd; options: InstallOptions }): Promise<void> {
  const { transport, clock, signal } = wait.options;
  const deadline = clock.now() + ESTABLISHED_WITHIN;
  let crd = wait.applied;
  let pause = ASK_FIRST;
  while (condition(crd, "Established")?.status !== "True") {
    const refused = condition(crd, "NamesAccepted");
    if (refused?.status === "False") {
      throw new CrdRefused(
        `Cannot install the CustomResourceDefinition ${crd.metadata.name}: ${refused.message ?? refused.reason}`,
      );
    }
    if (clock.now() > deadline) {
      throw new CrdRefused(
        `Cannot install the CustomResourceDefinition ${crd.metadata.name}: the server does not serve it after 30 s`,
      );
    }
    await sleep(pause, { clock, signal });
    pause = Math.min(pause * 2, ASK_EVERY);
    crd = await transport.request<StoredCrd>({ method: "GET", path, signal });
  }
}

function condition(crd: StoredCrd, type: string) {
  return crd.status?.conditions?.find((one) => one.type === type);
}
