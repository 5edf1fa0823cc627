/** Reports an owner reference that crosses namespaces. */
import { type Client, type OwnerReference } from "../../index.ts";
import { CoreEvent } from "../../resource/builtin/index.ts";
import type { Identity } from "./node.ts";

interface Stray {
  readonly dependent: Identity;
  readonly owner: OwnerReference;
}

const COMPONENT = "garbage-collector-controller";

/** Records the Event; a namespace that is being deleted accepts none. */
export async function reportStray(client: Client, { dependent, owner }: Stray): Promise<void> {
  const { apiVersion, kind, name, namespace, uid } = dependent;
  const shown = `[${owner.apiVersion}/${owner.kind}, namespace: ${namespace ?? ""}, name: ${owner.name}, uid: ${owner.uid}]`;
  const now = `${new Date().toISOString().slice(0, 19)}Z`;
  await client
    .create(CoreEvent, {
      metadata: { generateName: `${name}.`, namespace: namespace ?? "default" },
      involvedObject: { apiVersion, kind, name, namespace, uid },
      type: "Warning",
      reason: "OwnerRefInvalidNamespace",
      message: `ownerRef ${shown} does not exist in namespace "${namespace ?? ""}"`,
      source: { component: COMPONENT },
      reportingComponent: COMPONENT,
      firstTimestamp: now,
      lastTimestamp: now,
      count: 1,
    })
    .catch(() => {});
}
