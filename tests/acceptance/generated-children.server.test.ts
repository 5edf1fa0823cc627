/** Children with generated names, while what the operator is told of the cluster is two seconds old. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { allow, defineController, defineResource, type ObjectOf, z } from "binnacle";
import { ConfigMap } from "binnacle/resources";
import { FaultyProxy } from "../support/integration/faulty-proxy.ts";
import { InProcess } from "../support/integration/in-process.ts";
import { until } from "../support/until.ts";
import { available, Cluster } from "../support/cluster.ts";

const OBJECTS = 250;

const Ticket = defineResource({
  group: "generated.binnacle.dev",
  version: "v1",
  kind: "Ticket",
  spec: z.object({}),
  status: z.object({ child: z.string().optional(), runs: z.int().optional() }),
});
const TICKETS = "/apis/generated.binnacle.dev/v1/namespaces/default/tickets";
const LABEL = "ticket";

let runs = 0;
const ticket = defineController({
  for: Ticket,
  owns: [ConfigMap],
  uses: [allow(ConfigMap, "create")],
  concurrency: 16,
  async reconcile(object: ObjectOf<typeof Ticket>, { client, status }) {
    runs++;
    const { name, namespace, uid } = object.metadata;
    const [child, ...others] = await client.list(ConfigMap, { namespace, labels: { [LABEL]: name } });
    if (others.length > 0) throw new Error(`${name} has ${others.length + 1} children`);
    const owner = { apiVersion: object.apiVersion, kind: object.kind, name, uid, controller: true };
    const metadata = { namespace, generateName: `${name}-`, labels: { [LABEL]: name }, ownerReferences: [owner] };
    const created = child ?? (await client.create(ConfigMap, { metadata, data: { of: name } }));
    status.set({ child: created.metadata.name });
  },
});

describe.skipIf(!available)("children with generated names", () => {
  let cluster: Cluster;
  let proxy: FaultyProxy;
  let operator: InProcess;

  beforeAll(async () => {
    cluster = await Cluster.start({ controllers: false });
    proxy = await FaultyProxy.start(cluster.plane);
    operator = await InProcess.start({ cluster: proxy.cluster, definitions: [Ticket, ticket] });
  }, 240_000);
  afterAll(async () => {
    await operator?.[Symbol.asyncDispose]();
    await proxy?.[Symbol.asyncDispose]();
    await cluster?.[Symbol.asyncDispose]();
  });

  test(`exactly one for each of ${OBJECTS} objects, without a conflict`, async () => {
    const counts = async (): Promise<{ conflicts: number; created: number; statuses: number }> => ({
      // A test of a JSON patch that fails is answered with 422, as are some writes of the control plane itself.
      conflicts:
        (await cluster.requests({ code: "409" })) + (await cluster.requests({ resource: "tickets", code: "422" })),
      created: await cluster.requests({ verb: "POST", resource: "configmaps", code: "201" }),
      statuses: await cluster.requests({ resource: "tickets", subresource: "status", code: "200" }),
    });
    await Bun.sleep(1_000); // the server makes some objects of its own when it starts
    const before = await counts();
    proxy.delay = 2_000;
    const names = Array.from({ length: OBJECTS }, (_, index) => `t-${index}`);
    const creating = async (): Promise<void> => {
      for (let name = names.pop(); name !== undefined; name = names.pop()) {
        await cluster.send("POST", TICKETS, {
          body: { apiVersion: Ticket.apiVersion, kind: "Ticket", metadata: { name }, spec: {} },
        });
        // A second event for each while the first run's writes are not yet to be seen.
        await cluster.patch(`${TICKETS}/${name}`, { metadata: { annotations: { again: "yes" } } });
      }
    };
    await Promise.all(Array.from({ length: 8 }, creating));
    const done = async (): Promise<boolean> => {
      const list = await cluster.get(TICKETS);
      return list!.items!.every(({ status }) => status?.["child"] !== undefined);
    };
    await until(done, { within: 60_000, every: 500, what: "a child of each" });
    await Bun.sleep(2_500);
    await operator.idle(500);
    const { items = [] } = (await cluster.get("/api/v1/namespaces/default/configmaps?labelSelector=ticket"))!;
    const after = await counts();
    const created = after.created - before.created;
    const statuses = after.statuses - before.statuses;
    const conflicts = after.conflicts - before.conflicts;
    console.log(`${runs} runs, ${created} children created, ${statuses} status writes, ${conflicts} conflicts`);
    expect(new Set(items.map(({ metadata }) => metadata.labels![LABEL])).size).toBe(OBJECTS);
    expect(items).toHaveLength(OBJECTS);
    expect(created).toBe(OBJECTS);
    expect(conflicts).toBe(0);
    expect(statuses).toBe(OBJECTS);
    expect(operator.lines("error")).toEqual([]);
  }, 180_000);
});
