/** Compacts etcd, so that watches from earlier versions begin with 410, as after an hour in a busy cluster. */

import type { ControlPlane } from "./controlplane.ts";
import { readState } from "../../src/testing/control-plane/state.ts";

/**
 * Compacts every revision except the newest.
 *
 * kube-apiserver remembers changes itself; only after its restart it has none from before.
 *
 * @see https://etcd.io/docs/v3.6/op-guide/maintenance/
 */
export async function compact(plane: ControlPlane): Promise<void> {
  const state = await readState(plane.dir);
  if (state === undefined) throw new Error(`Cannot compact: nothing runs in ${plane.dir}`);
  const call = async (path: string, body: object): Promise<{ header?: { revision?: string } }> => {
    const url = `http://127.0.0.1:${state.ports.etcd}${path}`;
    const response = await fetch(url, { method: "POST", body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as { header?: { revision?: string } };
  };
  const { header } = await call("/v3/kv/range", { key: Buffer.from([0]).toString("base64") });
  await call("/v3/kv/compaction", { revision: header?.revision, physical: true });
}
