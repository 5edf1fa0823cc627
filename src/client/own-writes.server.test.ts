import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { allow, isAlreadyExists, isNotFound, isUnreachable, type ObjectContext } from "binnacle";
import { ConfigMap } from "binnacle/resources";
import { type Arbitrary, array, assert, asyncProperty, constant, constantFrom, oneof, record } from "fast-check";
import { until } from "../../tests/support/until.ts";
import { available, type Json } from "../../tests/support/cluster.ts";
import { Behaviours, boxController, type BoxShape, Lab } from "../../tests/support/integration/lab.ts";
import type { ShapeOf } from "../controller/definition.ts";
import { compareVersions } from "../resource/meta.ts";

type Client = ObjectContext<BoxShape, ShapeOf<typeof ConfigMap>>["client"];

const MAPS = "/api/v1/namespaces/default/configmaps";
const LABELS = { random: "yes" };

const name = constantFrom("r-0", "r-1", "r-2");
const step = oneof(
  {
    weight: 4,
    arbitrary: record({ by: constant("us" as const), what: constantFrom("write", "delete"), name }),
  },
  {
    weight: 4,
    arbitrary: record({ by: constant("them" as const), what: constantFrom("write", "delete"), name }),
  },
  {
    weight: 2,
    arbitrary: record({
      by: constant("net" as const),
      what: constantFrom("slow", "fast", "cut", "expire"),
      name,
    }),
  },
);
type Step = typeof step extends Arbitrary<infer S> ? S : never;

/** What a read of the name must show at least. */
interface Known {
  /** The version of the last own write; empty after a foreign deletion, when anything may be shown. */
  version: string;
  /** Objects that this process deleted: none of them is ever shown again. */
  readonly deleted: Set<string>;
  /** A write was cut off: it may take place yet, between any two requests. */
  isUnsure: boolean;
}

describe.skipIf(!available)("reads after own writes", () => {
  const behaviours = new Behaviours();
  let lab: Lab;
  let turn = 0;

  beforeAll(async () => {
    const uses = [allow(ConfigMap, "create", "patch", "delete")];
    lab = await Lab.start(behaviours, [boxController(behaviours, { reads: [ConfigMap], uses })]);
  }, 240_000);
  afterAll(async () => await lab?.[Symbol.asyncDispose]());

  /** A cut may hit a write: then nobody knows whether it took place. */
  async function ours(client: Client, step: Step, known: Known): Promise<void> {
    try {
      await write(client, step, known);
    } catch (error) {
      const isOvertaken = known.isUnsure && (isNotFound(error) || isAlreadyExists(error));
      if (!isUnreachable(error) && !isOvertaken) throw error;
      known.version = "";
      known.isUnsure = true;
    }
  }

  async function write(client: Client, { what, name }: Step, known: Known): Promise<void> {
    const key = { namespace: "default", name };
    const there = await client.live.find(ConfigMap, key);
    if (what === "delete") {
      await client.delete(ConfigMap, key);
      if (there !== undefined) known.deleted.add(there.metadata.uid);
      known.version = "";
    } else if (there === undefined) {
      known.version = (
        await client.create(ConfigMap, { metadata: { ...key, labels: LABELS } })
      ).metadata.resourceVersion;
    } else {
      const body = { data: { turn: String(++turn) } };
      known.version = (await client.patch(ConfigMap, key, { type: "merge", body })).metadata.resourceVersion;
    }
  }

  async function theirs({ what, name }: Step, known: Known): Promise<void> {
    const path = `${MAPS}/${name}`;
    const there = await lab.cluster.get(path);
    if (what === "delete" && there !== undefined) {
      await lab.cluster.send("DELETE", path);
      known.version = "";
    } else if (what === "write" && there === undefined) {
      await lab.cluster.send("POST", MAPS, { body: { metadata: { name, labels: LABELS } } });
    } else if (what === "write") {
      await lab.cluster.patch(path, { data: { theirs: String(++turn) } });
    }
  }

  function net({ what }: Step): void {
    if (what === "slow") lab.proxy.delay = 60;
    else if (what === "fast") lab.proxy.delay = 0;
    else lab.proxy.cut({ expire: what === "expire" });
    if (what === "expire") setTimeout(() => lab.proxy.cut(), 20);
  }

  async function check(client: Client, name: string, known: Known): Promise<void> {
    const seen = await client.find(ConfigMap, { namespace: "default", name });
    const listed = (await client.list(ConfigMap, { namespace: "default", labels: LABELS })).find(
      ({ metadata }) => metadata.name === name,
    );
    expect(listed).toEqual(seen);
    if (seen !== undefined) expect([...known.deleted]).not.toContain(seen.metadata.uid);
    if (known.version === "") return;
    expect(seen).toBeDefined();
    expect(compareVersions(seen!.metadata.resourceVersion, known.version)).toBeGreaterThanOrEqual(0);
  }

  test("never show less than the last own write, and in the end what the server has", async () => {
    let problem: unknown;
    await lab.box("random", async (_, { client }) => {
      try {
        await assert(
          asyncProperty(array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
            const all = new Map<string, Known>();
            for (const one of steps) {
              const known = all.get(one.name) ?? { version: "", deleted: new Set(), isUnsure: false };
              all.set(one.name, known);
              if (one.by === "us") await ours(client, one, known);
              else if (one.by === "them") await theirs(one, known);
              else net(one);
              for (const [name, state] of all) await check(client, name, state);
            }
            lab.proxy.delay = 0;
            lab.proxy.cut();
            const versions = (
              maps: readonly { metadata: Json["metadata"] | { name: string; resourceVersion: string } }[],
            ) => maps.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`).toSorted();
            await until(
              async () => {
                const server = (await lab.cluster.get(`${MAPS}?labelSelector=random`))!.items!;
                const cached = await client.list(ConfigMap, { namespace: "default", labels: LABELS });
                return Bun.deepEquals(versions(cached), versions(server));
              },
              { within: 90_000, what: "a cache that equals the server" },
            );
          }),
          { numRuns: 12, interruptAfterTimeLimit: 40_000, endOnFailure: true },
        );
      } catch (error) {
        problem = error;
      }
    });
    if (problem !== undefined) throw problem;
  }, 180_000);
});
