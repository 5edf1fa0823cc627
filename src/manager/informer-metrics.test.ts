import { expect, test } from "bun:test";
import type { SharedInformer } from "../cache/shared-informer.ts";
import type { ModuleStatus } from "../module/module-status.ts";
import { createMetrics } from "../observe/metrics.ts";
import { addInformerMetrics } from "./informer-metrics.ts";
import { addModuleMetrics } from "./module-metrics.ts";

/** Returns the lines of these metrics without comments. */
async function lines(metrics: ReturnType<typeof createMetrics>, prefix: string): Promise<readonly string[]> {
  return (await metrics.text()).body.split("\n").filter((line) => line.startsWith(prefix));
}

test("metrics ask informers when they are read, and leave out what is unknown", async () => {
  const metrics = createMetrics();
  const informer = {
    resource: { group: "apps", version: "v1", kind: "Deployment" },
    namespaces: ["x", "y"],
    namespaceLabels: undefined,
    labels: 'a="b"\\',
    fields: undefined,
    portion: "uid",
    store: { size: 12 },
    bytes: 3456,
    lastEventAt: undefined as number | undefined,
    hasSynced: true,
    relists: { expired: 2 },
    differences: 0,
  };
  const all = () => [informer as unknown as SharedInformer];
  addInformerMetrics({ metrics, informers: { all }, connectionClock: { now: () => 5_000 } });
  const labels = String.raw`group="apps",version="v1",kind="Deployment",selector="namespaces=x|y labels=a=\"b\"\\ shardBy=uid"`;
  expect(await lines(metrics, "binnacle_informer_")).toEqual([
    `binnacle_informer_objects{${labels}} 12`,
    `binnacle_informer_bytes{${labels}} 3456`,
    `binnacle_informer_synced{${labels}} 1`,
    `binnacle_informer_differences_total{${labels}} 0`,
    `binnacle_informer_relists_total{${labels},reason="expired"} 2`,
  ]);
  informer.lastEventAt = 3_500;
  expect(await lines(metrics, "binnacle_informer_last_event_age_seconds")).toEqual([
    `binnacle_informer_last_event_age_seconds{${labels}} 1.5`,
  ]);
});

test("metrics ask modules when they are read", async () => {
  const metrics = createMetrics();
  const status = { name: "a", file: "a.ts", state: "running", errors: 3, reloads: { succeeded: 2, failed: 1 } };
  addModuleMetrics(metrics, { statuses: () => [status as unknown as ModuleStatus] });
  expect(await lines(metrics, "binnacle_module_")).toEqual([
    'binnacle_module_info{module="a",file="a.ts"} 1',
    'binnacle_module_state{module="a",state="running"} 1',
    'binnacle_module_reloads_total{module="a",result="success"} 2',
    'binnacle_module_reloads_total{module="a",result="error"} 1',
    'binnacle_module_errors_total{module="a"} 3',
  ]);
});
