/** Tests replicas of the binary that elect a leader: one works, and another takes over whatever happens to the first. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Bench, type Operator } from "../support/binary.ts";
import { goProgram } from "../../scripts/controlplane/go-program.ts";
import { until } from "../support/until.ts";
import { available, Cluster } from "../support/cluster.ts";

/** Records in the status which process has seen the object last. */
const NOTE = `
import { defineController, defineResource, z } from "binnacle";
export const Note = defineResource({ group: "demo.binnacle.dev", version: "v1", kind: "Note",
  spec: z.object({ text: z.string() }), status: z.object({ text: z.string().optional(), by: z.int().optional() }) });
export const note = defineController({ for: Note,
  async reconcile(note, { status }) { status.set({ text: note.spec.text, by: process.pid }); } });`;

/** The durations have the usual proportions, but no Lease takes long to expire. */
const LEASE_SECONDS = 9;
const quick = [
  `--leader-election-lease-duration=${LEASE_SECONDS}s`,
  `--leader-election-renew-deadline=${(LEASE_SECONDS * 2) / 3}s`,
  `--leader-election-retry-period=${(LEASE_SECONDS * 2) / 15}s`,
];
/** Longer than a Lease lasts. */
const LONGER = (LEASE_SECONDS + 1.5) * 1_000;
/** A process that dies is replaced when its Lease has expired; a busy machine adds to that. */
const TAKEN_OVER_WITHIN = LEASE_SECONDS * 2_000;

/** @param namespace in which the replicas elect and work */
async function setUp(cleanup: AsyncDisposableStack, cluster: Cluster, namespace: string) {
  const notes = `/apis/demo.binnacle.dev/v1/namespaces/${namespace}/notes`;
  const lease = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/notes`;
  const elect = ["--leader-elect", "--leader-election-id=notes", `--leader-election-namespace=${namespace}`];
  await cluster.send("POST", "/api/v1/namespaces", {
    body: { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
  });
  const bench = cleanup.use(await Bench.create());
  await bench.write("controllers/note.ts", NOTE);
  const start = async (): Promise<Operator> => {
    const operator = cleanup.use(
      await bench.run({
        kubeconfig: cluster.kubeconfig,
        args: [...elect, ...quick, "--install-crds", `--namespace=${namespace}`],
      }),
    );
    await operator.ready();
    return operator;
  };
  const leads = (operator: Operator): Promise<boolean> =>
    operator.metric("leader_election_master_status", { name: "notes" }).then((value) => value === 1);
  let written = 0;
  /** Returns the milliseconds until a replica has reconciled a new object, and which one. */
  const worked = async (within: number): Promise<{ readonly by: number; readonly ms: number }> => {
    const name = `note-${++written}`;
    const began = performance.now();
    await until(
      async () => {
        const body = { apiVersion: "demo.binnacle.dev/v1", kind: "Note", metadata: { name }, spec: { text: name } };
        return cluster.send("POST", notes, { body }).catch(() => undefined);
      },
      { what: "the kind is served" },
    );
    const note = await cluster.exists(`${notes}/${name}`, ({ status }) => status?.["by"] !== undefined, within);
    return { by: Number(note.status!["by"]), ms: Math.round(performance.now() - began) };
  };
  return { lease, start, leads, worked };
}

/** A candidate of client-go. */
const clientGo = available
  ? await goProgram("client-go-elector", join(import.meta.dirname, "../support/integration/client-go-elector"))
  : undefined;
if (available && clientGo === undefined)
  console.log("Skipped: the election beside a candidate of client-go (Go is not on PATH)");

describe.skipIf(!available)("leader election", () => {
  let cluster: Cluster;

  beforeAll(async () => {
    cluster = await Cluster.start({ controllers: false });
  });
  afterAll(() => cluster?.[Symbol.asyncDispose]());

  test.skipIf(clientGo === undefined)(
    "takes turns with a candidate of client-go on one Lease",
    async () => {
      await using cleanup = new AsyncDisposableStack();
      const { lease, start, leads, worked } = await setUp(cleanup, cluster, "client-go");
      const ours = await start();
      await until(() => leads(ours), { what: "ours leads" });
      const theirs = Bun.spawn([clientGo!, cluster.kubeconfig, "client-go", "notes", "client-go", `${LEASE_SECONDS}`], {
        stdout: "pipe",
      });
      cleanup.defer(() => theirs.kill("SIGKILL"));
      const holder = (identity: (name: string) => boolean, within: number) =>
        cluster.exists(lease, ({ spec }) => identity(String(spec?.["holderIdentity"])), within);

      // It follows while we renew, for longer than a lease duration.
      await Bun.sleep(LONGER);
      expect(await leads(ours)).toBe(true);
      await ours.stop();
      await holder((name) => name === "client-go", TAKEN_OVER_WITHIN);
      expect((await cluster.get(lease))?.spec).toMatchObject({
        leaseTransitions: 1,
        leaseDurationSeconds: LEASE_SECONDS,
      });

      const next = await start();
      await Bun.sleep(LONGER);
      expect(await leads(next)).toBe(false);
      theirs.kill("SIGTERM");
      await until(() => leads(next), { what: "ours leads after client-go has released the Lease" });
      expect((await worked(15_000)).by).toBe(next.child.pid);
      expect((await cluster.get(lease))?.spec).toMatchObject({ leaseTransitions: 2 });
    },
    180_000,
  );

  test("takes turns with a candidate of client-node on one Lease", async () => {
    await using cleanup = new AsyncDisposableStack();
    const { lease, start, leads, worked } = await setUp(cleanup, cluster, "client-node");
    const ours = await start();
    await until(() => leads(ours), { what: "ours leads" });
    const plain = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      async fetch({ method, url, headers, body }) {
        const { pathname, search } = new URL(url);
        const type = headers.get("content-type") ?? "application/json";
        const init = { method, headers: { "content-type": type }, ...(body !== null && { body }) };
        const answer = await cluster.plane.request(`${pathname}${search}`, init);
        return new Response(answer.body, { status: answer.status, headers: { "content-type": "application/json" } });
      },
    });
    cleanup.defer(() => plain.stop(true));
    const elector = `${import.meta.dir}/../../tests/support/integration/client-node-elector.ts`;
    const command = [
      process.execPath,
      elector,
      plain.url.origin,
      "client-node",
      "notes",
      "client-node",
      `${LEASE_SECONDS}`,
    ];
    const theirs = Bun.spawn(command, { stderr: "inherit" });
    cleanup.defer(() => theirs.kill("SIGKILL"));
    // Each follows while the other renews, for longer than a lease duration.
    await Bun.sleep(LONGER);
    expect(await leads(ours)).toBe(true);
    await ours.stop();
    await cluster.exists(lease, ({ spec }) => spec?.["holderIdentity"] === "client-node");
    expect((await cluster.get(lease))?.spec).toMatchObject({ leaseTransitions: 1 });

    const next = await start();
    await Bun.sleep(LONGER);
    expect(await leads(next)).toBe(false);
    theirs.kill("SIGTERM");
    await until(() => leads(next), { what: "ours leads after client-node has released the Lease" });
    expect((await worked(15_000)).by).toBe(next.child.pid);
    expect((await cluster.get(lease))?.spec).toMatchObject({ leaseTransitions: 2 });
  }, 240_000);

  test("one replica works; another takes over after SIGTERM, a crash, and a stop of the whole process", async () => {
    await using cleanup = new AsyncDisposableStack();
    const { lease, start, leads, worked } = await setUp(cleanup, cluster, "replicas");
    const first = await start();
    expect((await worked(15_000)).by).toBe(first.child.pid);
    const second = await start();
    expect(await leads(second)).toBe(false);
    await until(async () => (await second.health("/readyz?verbose")).body.includes("leaderElection/notes following"), {
      what: "the second replica to have seen who leads",
    });
    expect((await second.health("/healthz?verbose")).body).toContain("[+]leaderElection ok");

    expect(await first.stop()).toBe(0);
    const handedOver = await worked(10_000);
    expect(handedOver.by).toBe(second.child.pid);
    expect(handedOver.ms).toBeLessThan(LEASE_SECONDS * 1_000);

    const third = await start();
    second.signal("SIGKILL");
    const crashed = await worked(30_000);
    expect(crashed.by).toBe(third.child.pid);
    expect(crashed.ms).toBeLessThan(TAKEN_OVER_WITHIN);

    const fourth = await start();
    third.signal("SIGSTOP");
    const stopped = await worked(30_000);
    expect(stopped.by).toBe(fourth.child.pid);
    expect(stopped.ms).toBeLessThan(TAKEN_OVER_WITHIN);
    third.signal("SIGCONT");
    await until(() => third.log.some(({ msg }) => msg.startsWith("This replica has lost the lead")), {
      what: () => `the replica that was stopped notices it:\n${third.text}`,
    });
    expect(await leads(third)).toBe(false);
    for (let round = 0; round < 5; round++) expect((await worked(10_000)).by).toBe(fourth.child.pid);
    expect(third.child.exitCode).toBeNull();

    console.log(`taken over after SIGTERM ${handedOver.ms} ms, a crash ${crashed.ms} ms, SIGSTOP ${stopped.ms} ms`);
    expect(await fourth.stop()).toBe(0);
    expect((await worked(10_000)).by).toBe(third.child.pid);
    expect(await third.stop()).toBe(0);
    expect((await cluster.get(lease))?.spec).toMatchObject({ holderIdentity: "" });
  }, 180_000);
});
