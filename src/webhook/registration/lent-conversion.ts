/**
 * Marks a CustomResourceDefinition whose objects a single process converts at an address of its own, such as a
 * developer's. The mark allows the address to be removed again, at the end of the process, or later if it has crashed.
 */
import { isConflict, isNotFound } from "../../kube/errors/api-error.ts";
import type { Transport } from "../../kube/transport/transport.ts";
import type { WebhookClientConfig } from "../../resource/crd-conversion.ts";
import { isGone } from "./owner-mark.ts";

const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/** The annotation with the process that converts. */
const BY = "binnacle.dev/converted-by";
/** The annotation with the client configuration of before, as JSON. */
const BEFORE = "binnacle.dev/converted-before";

/** The field managers that apply the definition, and that give it back. */
const APPLIER = "binnacle";
const GIVER = "binnacle-gives-back";

/**
 * The client configuration of a definition whose objects nobody converts. It makes the API server refuse requests that
 * need a conversion: without a webhook, it would drop fields that the other version lacks. Applying a definition with a
 * Service replaces it.
 */
const NOBODY: WebhookClientConfig = {
  service: { namespace: "default", name: "binnacle-process-has-ended", port: 443, path: "/convert" },
};

const ATTEMPTS = 5;

/** The fields of a CustomResourceDefinition that this file reads. */
export interface LentDefinition {
  readonly metadata: {
    readonly annotations?: Readonly<Record<string, string>> | undefined;
    readonly resourceVersion: string;
    readonly managedFields?: readonly { readonly manager?: string }[] | undefined;
  };
  readonly spec: {
    readonly conversion?:
      { readonly webhook?: { readonly clientConfig?: WebhookClientConfig | undefined } | undefined } | undefined;
  };
}

/**
 * Returns the annotations of a definition that this process is about to apply with an address of its own.
 *
 * @param stored the definition on the server, whose webhook is put back in the end.
 */
export function loanAnnotations(process: string, stored: LentDefinition | undefined): Readonly<Record<string, string>> {
  const { annotations = {} } = stored?.metadata ?? {};
  const client = stored?.spec.conversion?.webhook?.clientConfig;
  const before = annotations[BY] === undefined ? client && JSON.stringify(client) : annotations[BEFORE];
  return { [BY]: process, ...(before !== undefined && { [BEFORE]: before }) };
}

/** Whether a definition names the address of a single process, or has been given back to nobody. */
export function isLent({ metadata, spec }: LentDefinition): boolean {
  const { url, service } = spec.conversion?.webhook?.clientConfig ?? {};
  return service?.name === NOBODY.service?.name || (url !== undefined && metadata.annotations?.[BY] !== undefined);
}

/** Whether nobody converts the objects: the definition was given back, or its process of this machine is gone. */
export function isAbandoned(live: LentDefinition): boolean {
  const process = live.metadata.annotations?.[BY];
  return isLent(live) && (process === undefined || isGone(process) === true);
}

/**
 * Returns a merge patch by which this process takes over the conversion from the one to which the definition is lent.
 */
export function takeOverPatch(process: string, { url, caBundle }: WebhookClientConfig): object {
  const clientConfig = { service: null, url, caBundle };
  return { metadata: { annotations: { [BY]: process } }, spec: { conversion: { webhook: { clientConfig } } } };
}

export interface GiveBackOptions {
  readonly transport: Pick<Transport, "request">;
  /** Whether the process of this name no longer converts. */
  readonly hasEnded: (process: string) => boolean;
  readonly signal: AbortSignal;
}

/**
 * Restores the webhook that a definition had before a process lent it an address, and gives up the fields, so that
 * others can apply the definition without a conflict. Does nothing unless such a process has ended.
 *
 * @returns whether it restored the webhook. @throws ApiError, UnreachableError, the signal's reason.
 */
export async function giveBack(name: string, { transport, hasEnded, signal }: GiveBackOptions): Promise<boolean> {
  const path = `${CRDS}/${name}`;
  for (let attempt = 1; ; attempt++) {
    try {
      const live = await transport.request<LentDefinition>({ method: "GET", path, signal });
      const process = live.metadata.annotations?.[BY];
      if (process === undefined || !hasEnded(process)) return false;
      const patch = (body: object): Promise<LentDefinition> =>
        transport.request({
          method: "PATCH",
          path,
          query: `fieldManager=${GIVER}`,
          contentType: "application/merge-patch+json",
          body,
          signal,
        });
      const { metadata } = await patch(returnPatch(live));
      const { resourceVersion, managedFields = [] } = metadata;
      const others = managedFields.filter(({ manager }) => manager !== APPLIER && manager !== GIVER);
      await patch({ metadata: { resourceVersion, managedFields: others } });
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      if (!isConflict(error) || attempt === ATTEMPTS) throw error;
    }
  }
}

function returnPatch({ metadata: { annotations = {}, resourceVersion }, spec }: LentDefinition): object {
  const metadata = { resourceVersion, annotations: { [BY]: null, [BEFORE]: null } };
  // Somebody else may have applied the definition meanwhile, with a Service.
  if (spec.conversion?.webhook?.clientConfig?.url === undefined) return { metadata };
  const before = JSON.parse(annotations[BEFORE] ?? "null") as WebhookClientConfig | null;
  const clientConfig = { url: null, service: null, caBundle: null, ...(before ?? NOBODY) };
  return { metadata, spec: { conversion: { webhook: { clientConfig } } } };
}
