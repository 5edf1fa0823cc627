/** Measures the cost of an election: requests at rest, and time at the start. */
import { describe, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { TcpProxy } from "../support/tcp-proxy.ts";
import { Bench, type Operator } from "../support/binary.ts";
import { until } from "../support/until.ts";
import { available, Cluster } from "../support/cluster.ts";

const NOTES = "/apis/demo.binnacle.dev/v1/namespaces/default/notes";

const NOTE = `
import { defineController, defineResource, z } from "binnacle";
export const Note = defineResource({ group: "demo.binnacle.dev", version: "v1", kind: "Note",
  spec: z.object({}), status: z.object({ by: z.int().optional() }) });
export const note = defineController({ for: Note,
  async reconcile(_, { status }) { status.set({ by: process.pid }); } });`;

const electing = (id: string): readonly string[] => [
  "--leader-elect",
  `--leader-election-id=${id}`,
  "--leader-election-namespace=default",
];

describe.skipIf(!available)("the cost of an election", () => {
  test("at rest a leader sends its renewals, one in 2 s, and a standby nearly nothing", async () => {
    await using cluster = await Cluster.start({ audit: true, controllers: false });
    await using bench = await Bench.create();
    await bench.write("controllers/note.ts", NOTE);
    await cluster.plane.apply(
      JSON.stringify({
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "ClusterRoleBinding",
        metadata: { name: "replicas" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
        subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "replicas" }],
      }),
    );
    await using cleanup = new AsyncDisposableStack();
    const start = async (user: string): Promise<Operator> => {
      const kubeconfig = await cluster.plane.userKubeconfig(user, { groups: ["replicas"] });
      const operator = cleanup.use(await bench.run({ kubeconfig, args: [...electing("notes"), "--install-crds"] }));
      await operator.ready();
      return operator;
    };
    const leader = await start("leader");
    await until(() => leader.metric("leader_election_master_status").then((value) => value === 1), {
      what: "it leads",
    });
    await start("standby");
    await Bun.sleep(2_000); // skips the Events of the election, and what else belongs to the start
    const began = (await cluster.plane.audit()).length;
    const seconds = 44;
    await Bun.sleep(seconds * 1_000);
    const requests = (await cluster.plane.audit()).slice(began);
    const of = (user: string) => requests.filter((one) => one.user.username === user);
    console.log(`in ${seconds} s the leader sent ${of("leader").length} requests, the standby ${of("standby").length}`);
    for (const [user, most] of [
      ["leader", 0.65],
      ["standby", 0.2],
    ] as const) {
      expect(
        of(user).length / seconds,
        JSON.stringify(of(user).map(({ verb, requestURI }) => [verb, requestURI])),
      ).toBeLessThan(most);
    }
    expect(of("leader").map(({ verb }) => verb)).toContain("update");
  }, 240_000);

  test("a replica that elects works one round trip later at most, when the Lease is free", async () => {
    await using cluster = await Cluster.start({ controllers: false });
    await using bench = await Bench.create();
    await bench.write("controllers/note.ts", NOTE);
    await using proxy = await TcpProxy.start(cluster.plane.url);
    const proxied = (await readFile(cluster.kubeconfig, "utf8")).replaceAll(cluster.plane.url, proxy.url);
    const kubeconfig = await bench.write("proxied.kubeconfig", proxied);
    {
      await using installer = await bench.run({ kubeconfig: cluster.kubeconfig, args: ["--install-crds"] });
      await installer.ready();
    }
    const roundTrip = 400;
    proxy.inject({ delay: roundTrip });
    let starts = 0;
    /** Returns the milliseconds until it is ready, and until it has reconciled an object that existed before. */
    const measure = async (elects: boolean): Promise<{ readonly ready: number; readonly worked: number }> => {
      const name = `note-${++starts}`;
      await until(
        () =>
          cluster
            .send("POST", NOTES, {
              body: { apiVersion: "demo.binnacle.dev/v1", kind: "Note", metadata: { name }, spec: {} },
            })
            .catch(() => undefined),
        { what: "the kind is served" },
      );
      await using operator = await bench.run({ kubeconfig, args: elects ? electing(`cost-${starts}`) : [] });
      const work = until(async () => (await cluster.get(`${NOTES}/${name}`))?.status?.["by"] === operator.child.pid, {
        what: () => `${name} is worked: ${operator.text}`,
        every: 5,
      }).then(() => performance.now() - operator.started);
      const [ready, worked] = await Promise.all([operator.ready(), work]);
      return { ready, worked };
    };
    const best = { plain: { ready: Infinity, worked: Infinity }, electing: { ready: Infinity, worked: Infinity } };
    const later = (what: "ready" | "worked"): number => best.electing[what] - best.plain[what];
    const isCheap = (): boolean => later("ready") < roundTrip / 2 && later("worked") < roundTrip * 1.5;
    // On a machine that is busy with other things it takes more rounds until both have had a good one.
    for (let round = 0; round < 3 || (round < 12 && !isCheap()); round++) {
      for (const kind of ["plain", "electing"] as const) {
        const { ready, worked } = await measure(kind === "electing");
        best[kind].ready = Math.min(best[kind].ready, ready);
        best[kind].worked = Math.min(best[kind].worked, worked);
      }
    }
    console.log(
      `with round trips of ${roundTrip} ms: ready ${Math.round(later("ready"))} ms later, worked ${Math.round(later("worked"))} ms later`,
    );
    expect(later("ready")).toBeLessThan(roundTrip / 2);
    expect(later("worked")).toBeLessThan(roundTrip * 1.5);
  }, 240_000);
});
