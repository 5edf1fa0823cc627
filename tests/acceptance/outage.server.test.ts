/**
 * Tests an API server that is killed and comes back on its port: reconciling continues, and changes around the outage
 * end right.
 *
 * `OUTAGE_SECONDS=120 bun test tests/acceptance/outage.server.test.ts` takes longer than the 5 seconds of the test run.
 */
import { describe, expect, test } from "bun:test";
import { Bench } from "../support/binary.ts";
import { until } from "../support/until.ts";
import { available, Cluster } from "../support/cluster.ts";

const seconds = Number(process.env["OUTAGE_SECONDS"] ?? 5);

const COPY = `
import { defineController, defineResource, of, z } from "binnacle";
import { ConfigMap } from "binnacle/resources";
export const Note = defineResource({ group: "demo.binnacle.dev", version: "v1", kind: "Note",
  spec: z.object({ text: z.string() }), status: z.object({ copied: z.string().optional() }) });
export const note = defineController({ for: Note, owns: [ConfigMap],
  async reconcile(note, { children, status }) {
    await children.sync({ copy: of(ConfigMap, { metadata: { name: note.metadata.name }, data: { text: note.spec.text } }) });
    status.set({ copied: note.spec.text });
  } });`;

const NOTES = "/apis/demo.binnacle.dev/v1/namespaces/default/notes";
const CONFIGMAPS = "/api/v1/namespaces/default/configmaps";

describe.skipIf(!available)("outage", () => {
  test(
    `${seconds} s without the API server`,
    async () => {
      await using cluster = await Cluster.start();
      await using bench = await Bench.create();
      await bench.write("controllers/note.ts", COPY);
      await using operator = await bench.run({ kubeconfig: cluster.kubeconfig, args: ["--install-crds"] });
      await operator.ready();
      await cluster.collectNewKinds();
      const note = (name: string, text: string) =>
        cluster.send("POST", NOTES, {
          body: { apiVersion: "demo.binnacle.dev/v1", kind: "Note", metadata: { name }, spec: { text } },
        });
      const copied = (name: string, text: string, within = 60_000) =>
        cluster.exists(`${CONFIGMAPS}/${name}`, ({ data }) => data?.["text"] === text, within);
      for (const name of ["kept", "changed", "deleted", "tampered"]) await note(name, "before");
      await Promise.all(["kept", "changed", "deleted", "tampered"].map((name) => copied(name, "before")));

      // It is changed so shortly before the end that the watch may not have shown it.
      await cluster.patch(`${NOTES}/changed`, { spec: { text: "after" } });
      await cluster.send("DELETE", `${NOTES}/deleted`);
      await cluster.patch(`${CONFIGMAPS}/tampered`, { data: { text: "foreign" } });
      await cluster.plane.kill("kube-apiserver");
      const verbose = await until(
        async () => {
          const { body } = await operator.health("/readyz?verbose");
          return body.includes("Cannot reach") && body;
        },
        { what: "the outage is shown" },
      );
      expect(verbose).toContain("note");
      await Bun.sleep(seconds * 1_000);
      await cluster.plane.restart("kube-apiserver");
      const back = performance.now();
      await note("new", "new");
      await copied("new", "new");
      console.log(`at work ${Math.round(performance.now() - back)} ms after the API server's return from ${seconds} s`);
      expect(performance.now() - back).toBeLessThan(30_000); // 2 s on a quiet machine
      await copied("changed", "after");
      await copied("tampered", "before");
      await cluster.gone(`${CONFIGMAPS}/deleted`, 60_000);
      await copied("kept", "before");
      await cluster.exists(`${NOTES}/changed`, ({ status }) => status?.["copied"] === "after");
      expect(await operator.stop()).toBe(0);
    },
    (seconds + 120) * 1_000,
  );
});
