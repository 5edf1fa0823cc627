import { expect, test } from "bun:test";
import { type Client, isAlreadyExists, isConflict, isInvalid, isNotFound, type OwnerReference } from "../../index.ts";
import { ConfigMap } from "../../resource/builtin/index.ts";
import { eventually } from "../../testing/eventually.ts";
import { startCluster } from "../../testing/start-cluster.ts";

const namespace = "default";
const policies = ["Background", "Foreground", "Orphan"] as const;

/** Generates the same numbers for the same seed. */
function numbers(seed: number): (below: number) => number {
  let state = seed * 7_919 + 13;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >> 8) % below;
  };
}

/** Ignores that others may have been faster. */
function unlessGone(error: unknown): undefined {
  if (isNotFound(error) || isConflict(error) || isInvalid(error) || isAlreadyExists(error)) return undefined;
  throw error;
}

interface Known {
  readonly name: string;
  readonly uid: string;
}

/** Creates objects, deletes them in each of the three ways and changes their owners, many at the same time. */
async function disorder(client: Client, seed: number, { isCircular }: { readonly isCircular: boolean }): Promise<void> {
  const random = numbers(seed);
  const known: Known[] = [];
  const owners = (below: number): OwnerReference[] => {
    const chosen = Array.from({ length: below === 0 ? 0 : random(3) }, () => known[random(below)]!);
    const blockOwnerDeletion = random(2) === 1;
    return [...new Set(chosen)].map((owner) => ({ apiVersion: "v1", kind: "ConfigMap", ...owner, blockOwnerDeletion }));
  };
  const underWay: Promise<unknown>[] = [];
  for (let step = 0; step < 250; step++) {
    const what = random(10);
    const index = random(Math.max(known.length, 1));
    const { name, uid } = known[index] ?? { name: "", uid: "" };
    let change: Promise<unknown> | undefined;
    if (what < 5) {
      const metadata = { name: `object-${random(100)}`, namespace, ownerReferences: owners(known.length) };
      const made = await client.create(ConfigMap, { metadata }).catch(unlessGone);
      if (made !== undefined) known.push({ name: made.metadata.name, uid: made.metadata.uid });
    } else if (what < 8 && name !== "") {
      const options = { propagation: policies[random(3)]!, preconditions: { uid } };
      change = client.delete(ConfigMap, { namespace, name }, options).catch(unlessGone);
    } else if (name !== "") {
      const body = { metadata: { uid, ownerReferences: owners(isCircular ? known.length : index) } };
      change = client.patch(ConfigMap, { namespace, name }, { type: "merge", body }).catch(unlessGone);
    }
    if (random(3) > 0) await change;
    else if (change !== undefined) underWay.push(change);
  }
  await Promise.all(underWay);
}

test.each([
  [1, false],
  [2, false],
  [3, true],
  [4, true],
])(
  "garbageCollector at rest leaves nothing that waits and no owner that is not there (%d, in circles: %p)",
  async (seed, isCircular) => {
    await using cluster = await startCluster({ server: "embedded", pods: false });
    await disorder(cluster.client, seed, { isCircular });
    await eventually(async () => {
      const objects = await cluster.client.list(ConfigMap, { namespace });
      const there = new Set(objects.map(({ metadata }) => metadata.uid));
      const wrong = objects.filter(
        ({ metadata: { deletionTimestamp, ownerReferences = [] } }) =>
          deletionTimestamp !== undefined || ownerReferences.some(({ uid }) => !there.has(uid)),
      );
      expect(wrong).toEqual([]);
    });
  },
);
