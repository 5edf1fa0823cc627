/** Lists the kinds that a cluster serves. */
import { isApiError, isNotFound } from "../kube/errors/api-error.ts";
import type { Transport } from "../kube/transport/transport.ts";
import { groupOf, handle, type Resource } from "../resource/handle.ts";

export interface ServedKind {
  readonly resource: Resource;
  readonly namespaced: boolean;
  /**
   * Whether objects are stored. Kinds that cannot be watched, such as ComponentStatus or the metrics of pods, are
   * computed for each request.
   */
  readonly isStored: boolean;
}

interface ResourceList {
  readonly resources?: readonly {
    readonly name: string;
    readonly kind: string;
    readonly namespaced: boolean;
    readonly verbs: readonly string[];
  }[];
}

interface GroupList {
  readonly groups?: readonly { readonly preferredVersion: { readonly groupVersion: string } }[];
}

/** Returns each kind that can be listed, in the server's preferred version. */
export async function everyKind(transport: Pick<Transport, "request">): Promise<readonly ServedKind[]> {
  const { groups = [] } = await answerOf<GroupList>(transport, "/apis");
  const versions = ["v1", ...groups.map(({ preferredVersion }) => preferredVersion.groupVersion)];
  const kinds: ServedKind[] = [];
  for (const apiVersion of versions) {
    const root = groupOf(apiVersion) === "" ? "/api" : "/apis";
    const { resources = [] } = await answerOf<ResourceList>(transport, `${root}/${apiVersion}`);
    for (const { name, kind, namespaced, verbs } of resources) {
      if (name.includes("/") || !verbs.includes("list")) continue;
      const scope = namespaced ? "Namespaced" : "Cluster";
      kinds.push({
        resource: handle({ apiVersion, kind, scope, plural: name }),
        namespaced,
        isStored: verbs.includes("watch"),
      });
    }
  }
  return kinds;
}

/** Returns nothing for a missing path, because an API service may be unavailable. */
async function answerOf<T extends object>(transport: Pick<Transport, "request">, path: string): Promise<Partial<T>> {
  try {
    return await transport.request<T>({ method: "GET", path });
  } catch (error) {
    if (isNotFound(error) || (isApiError(error) && error.code >= 500)) return {};
    throw error;
  }
}
