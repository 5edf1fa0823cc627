import { expect, test } from "bun:test";
import { createLog } from "../observe/log.ts";
import { ConfigMap } from "../resource/builtin/index.ts";
import { apiClient } from "./api-client.ts";
import { eventually, startCluster } from "./index.ts";

const quiet = createLog({ level: "error", format: "json", write: () => {} });
const key = { namespace: "default", name: "one" };
const HOUR = 3_600_000;

test("latency carries requests out at once and delays their answers", async () => {
  await using cluster = await startCluster({ pods: false });
  const api = apiClient(cluster.config, { manager: "late", log: quiet });
  cluster.faults.latency(HOUR, { verbs: ["create"] });
  const giveUp = new AbortController();
  const creating = api.client.create(ConfigMap, { metadata: key }, { signal: giveUp.signal });
  let isAnswered = false;
  creating.then(
    () => (isAnswered = true),
    () => {},
  );
  await eventually(() => cluster.client.get(ConfigMap, key));
  expect(isAnswered).toBe(false);
  giveUp.abort(new Error("waited long enough"));
  await expect(creating).rejects.toThrow("waited long enough");
  await api.close();
});

test("latency delays refusals too", async () => {
  await using cluster = await startCluster({ pods: false });
  const api = apiClient(cluster.config, { manager: "late", log: quiet });
  cluster.faults.refuse(403, { kind: ConfigMap });
  using late = cluster.faults.latency(30, { kind: ConfigMap });
  const began = performance.now();
  await expect(api.client.live.get(ConfigMap, key)).rejects.toThrow("refused by a fault");
  expect(performance.now() - began).toBeGreaterThanOrEqual(30);
  expect(late.struck).toBe(1);
  await api.close();
});

test("a stalled request is not carried out before the end", async () => {
  await using cluster = await startCluster({ pods: false });
  const api = apiClient(cluster.config, { manager: "late", log: quiet });
  const stalled = cluster.faults.stall({ verbs: ["create"] });
  const creating = api.client.create(ConfigMap, { metadata: key });
  await eventually(() => stalled.struck === 1);
  expect(await cluster.client.find(ConfigMap, key)).toBeUndefined();
  stalled[Symbol.dispose]();
  expect((await creating).metadata.name).toBe("one");
  await api.close();
});
