/** A module in two versions: the second one has another field, and says so in the status. */

import type { Show } from "./show.ts";

export const PARCELS = "parcels.node.binnacle.dev";

/** Writes the folder `one` or `two`, with a package from npm that the module imports. */
export async function writeParcels(show: Show, version: 1 | 2): Promise<void> {
  const folder = version === 1 ? "one" : "two";
  const more = version === 1 ? "" : "weight: z.int().default(1),";
  await show.write(
    "node_modules/tiny-label/package.json",
    '{ "name": "tiny-label", "version": "1.0.0", "main": "index.js" }',
  );
  await show.write("node_modules/tiny-label/index.js", "module.exports = (text) => `to ${text}`;");
  await show.write(
    `${folder}/parcel.ts`,
    `import { conditions, defineController, defineResource, of, z } from "binnacle";
import { ConfigMap } from "binnacle/resources";
// @ts-expect-error the package has no types
import label from "tiny-label";
export const Parcel = defineResource({
  group: "node.binnacle.dev", version: "v1", kind: "Parcel",
  spec: z.object({ to: z.string(), ${more} }),
  status: z.object({ conditions: conditions("Ready") }),
});
export const parcel = defineController({
  for: Parcel,
  owns: [ConfigMap],
  async reconcile({ metadata: { name }, spec }, { children, status }) {
    await children.sync({ label: of(ConfigMap, { metadata: { name }, data: { text: label(spec.to) } }) });
    status.condition({ type: "Ready", status: true, reason: "Sent", message: "version ${version}" });
  },
});
`,
  );
}

/** @param name another one in each show: the garbage collector may take minutes for children of a kind that is gone. */
export function parcel(name: string, namespace = "default"): string {
  const metadata = { name, namespace };
  return JSON.stringify({ apiVersion: "node.binnacle.dev/v1", kind: "Parcel", metadata, spec: { to: "world" } });
}

/** Waits until this version of the module has reconciled a parcel. */
export async function sentBy(
  show: Show,
  version: 1 | 2,
  { name, namespace = "default" }: { name: string; namespace?: string },
): Promise<void> {
  const path = `/apis/node.binnacle.dev/v1/namespaces/${namespace}/parcels/${name}`;
  await show.see(path, `version ${version} has reconciled it`, ({ status }) =>
    JSON.stringify(status ?? {}).includes(`"version ${version}"`),
  );
}
