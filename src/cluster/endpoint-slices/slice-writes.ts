/** Writes the planned slices of one service. */
import { type Client, isNotFound } from "../../index.ts";
import { EndpointSlice, type EndpointSliceInput } from "../../resource/builtin/index.ts";
import { isNamespaceTerminating } from "../workload/pod-control.ts";
import { controlledBy, type Owner } from "../workload/owner.ts";
import type { PortGroup, Slice } from "./slice-plan.ts";

export const SERVICE = "kubernetes.io/service-name";
export const MANAGED_BY = "endpointslice.kubernetes.io/managed-by";

/** The parts that all slices of one owner and one address type have in common. */
export interface SliceFrame {
  readonly owner: Owner;
  readonly addressType: "IPv4" | "IPv6";
  readonly labels: Readonly<Record<string, string>>;
  /** Computes the annotations of a slice from those that it has. */
  annotate(annotations: Annotations): Annotations;
}

export type Annotations = Readonly<Record<string, string>>;

/** The planned writes of an owner, for all its address types. */
export interface SliceWrites {
  readonly create: readonly { readonly group: PortGroup; readonly frame: SliceFrame }[];
  readonly update: readonly { readonly slice: Slice; readonly group: PortGroup; readonly frame: SliceFrame }[];
  readonly remove: readonly Slice[];
}

/** Reuses a slice that would be deleted for one that would be created. */
export function reuseSlices({ create, update, remove }: SliceWrites): SliceWrites {
  const coming = [...create];
  const reused: SliceWrites["update"][number][] = [];
  const going = remove.filter((slice) => {
    const index = coming.findLastIndex(
      ({ frame }) => frame.addressType === slice.addressType && isOwnedBy(slice, frame.owner),
    );
    if (index < 0) return true;
    const [{ group, frame }] = coming.splice(index, 1) as [SliceWrites["create"][number]];
    reused.push({ slice, group, frame });
    return false;
  });
  return { create: coming, update: [...update, ...reused], remove: going };
}

export async function writeSlices(client: Client, { create, update, remove }: SliceWrites): Promise<void> {
  for (const { group, frame } of create) {
    const { namespace, name } = frame.owner.metadata;
    // A name of 253 characters leaves no room for the dash.
    const generateName = name.length < 253 ? `${name}-` : name;
    const { addressType, ports, endpoints, metadata } = sliceOf(group, frame);
    try {
      await client.create(EndpointSlice, {
        metadata: { ...metadata, generateName, namespace },
        addressType,
        ports,
        endpoints,
      });
    } catch (error) {
      if (isNamespaceTerminating(error)) return;
      throw error;
    }
  }
  for (const { slice, group, frame } of update) {
    const wanted = sliceOf(group, frame, slice.metadata.annotations);
    await client.update(EndpointSlice, { ...slice, ...wanted, metadata: { ...slice.metadata, ...wanted.metadata } });
  }
  for (const { metadata } of remove) await removeSlice(client, metadata);
}

/** Deletes a slice; it succeeds when the slice is already gone. */
export async function removeSlice(
  client: Client,
  {
    namespace = "",
    name,
    uid,
  }: { readonly namespace?: string | undefined; readonly name: string; readonly uid: string },
): Promise<void> {
  try {
    await client.delete(EndpointSlice, { namespace, name }, { preconditions: { uid } });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

export function isOwnedBy({ metadata }: Slice, owner: Owner): boolean {
  return metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid) === true;
}

function sliceOf({ ports, endpoints }: PortGroup, frame: SliceFrame, had: Annotations = {}): Made {
  const { owner, addressType, labels } = frame;
  const metadata = { labels, annotations: frame.annotate(had), ownerReferences: [controlledBy(owner)] };
  return { metadata, addressType, ports, endpoints };
}

type Made = Pick<EndpointSliceInput, "addressType" | "ports" | "endpoints"> & {
  readonly metadata: Pick<EndpointSliceInput["metadata"], "labels" | "annotations" | "ownerReferences">;
};
