/** Reads every version of a Lease from etcd itself, because a line of the audit log may be lost with the server. */
import type { ControlPlane } from "../../scripts/controlplane/controlplane.ts";
import { readState } from "../../src/testing/control-plane/state.ts";

/** Flags of kube-apiserver with which etcd keeps all versions, in JSON. */
export const HISTORY_FLAGS: readonly string[] = [
  "--storage-media-type=application/json",
  "--etcd-compaction-interval=0",
];

export interface StoredLease {
  readonly revision: number;
  /** The holder; empty when the Lease was released. */
  readonly holder: string;
  /** The duration in milliseconds. */
  readonly duration: number;
  /** The renewal in milliseconds since the epoch, by the holder's clock. */
  readonly renewed: number;
}

interface Stored {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly renewTime?: string;
  };
}

/** Reads the history. @returns the versions, the first one first. @see https://etcd.io/docs/v3.6/learning/api/#range */
export async function leaseHistory(
  plane: ControlPlane,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<readonly StoredLease[]> {
  const state = await readState(plane.dir);
  if (state === undefined) throw new Error(`Cannot read the history of a Lease: nothing runs in ${plane.dir}`);
  const key = Buffer.from(`/registry/leases/${namespace}/${name}`).toString("base64");
  const versions: StoredLease[] = [];
  for (let revision: number | undefined; revision === undefined || revision > 0;) {
    const response = await fetch(`http://127.0.0.1:${state.ports.etcd}/v3/kv/range`, {
      method: "POST",
      body: JSON.stringify({ key, ...(revision !== undefined && { revision }) }),
    });
    if (!response.ok) throw new Error(`Cannot read the history of a Lease: ${await response.text()}`);
    const { kvs = [] } = (await response.json()) as { kvs?: { mod_revision: string; value: string }[] };
    const [found] = kvs;
    if (found === undefined) break;
    const { spec } = JSON.parse(Buffer.from(found.value, "base64").toString()) as Stored;
    versions.unshift({
      revision: Number(found.mod_revision),
      holder: spec?.holderIdentity ?? "",
      duration: (spec?.leaseDurationSeconds ?? 0) * 1_000,
      renewed: Date.parse(spec?.renewTime ?? ""),
    });
    revision = Number(found.mod_revision) - 1;
  }
  return versions;
}
