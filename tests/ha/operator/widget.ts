/** The operator under test: a ConfigMap and a status for each widget, and a record of each run. */
import { appendFileSync } from "node:fs";
import { defineController, defineResource, of, z } from "binnacle";
import { ConfigMap } from "binnacle/resources";

export const Widget = defineResource({
  group: "ha.binnacle.dev",
  version: "v1",
  kind: "Widget",
  spec: z.object({ size: z.int(), payload: z.string() }),
  status: z.object({ ready: z.boolean().optional(), child: z.string().optional() }),
});

const file = process.env["HA_RECORDS"]!;
let runs = 0;

export const widget = defineController({
  for: Widget,
  owns: [ConfigMap],
  concurrency: 16,
  async reconcile({ metadata: { name }, spec }, { children, signal, sleep, status }) {
    const run = ++runs;
    const record = (step: string): void => appendFileSync(file, `${Date.now()} ${run} ${name} ${step}\n`);
    record("begin");
    try {
      await sleep(Math.round(Math.random() * 60));
      record("step");
      const data = { size: String(spec.size), payload: spec.payload };
      await children.sync({ child: of(ConfigMap, { metadata: { name: `w-${name}` }, data }) });
      record("step");
      status.set({ ready: true, child: `w-${name}` });
      await status.flush();
    } finally {
      record(signal.aborted ? "cut" : "end");
    }
  },
});
