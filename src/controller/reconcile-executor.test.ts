import { expect, test } from "bun:test";
import { createLog } from "../observe/log.ts";
import { createMetrics } from "../observe/metrics.ts";
import { WorkQueue } from "../queue/work-queue.ts";
import { ConfigMap } from "../resource/builtin/core.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { controllerScope } from "./controller-scope.ts";
import type { AnyController } from "./definition.ts";
import { ReconcileExecutor, type ReconcileExecutorParts } from "./reconcile-executor.ts";
import type { Runtime } from "./runtime.ts";

test("a key that waits for its namespace to be listed keeps its causes and its priority", () => {
  const clock = new FakeClock();
  const queue = new WorkQueue({ name: "test", clock });
  const controller: AnyController = { for: ConfigMap, reconcile: async () => {} };
  let listed = false;
  const runtime = { clock, metrics: createMetrics(), log: createLog({ level: "error", format: "json" }) };
  const stopping = new AbortController().signal;
  const scope = controllerScope(controller, runtime as unknown as Runtime, {
    module: "test",
    invoke: (call) => call(),
    stopping,
  });
  const executor = new ReconcileExecutor(scope, {
    environment: { core: {} },
    kinds: { hasListed: () => listed, owned: [], primary: undefined },
    queue,
    share: undefined,
  } as unknown as ReconcileExecutorParts);
  const causes = ["for", "watches"].map((source) => ({ source, type: "create", kind: "ConfigMap" }));
  for (const cause of causes) queue.add("ns/a", { cause, priority: 7 });
  expect(executor.begin(queue.take()!)).toBeUndefined();
  queue.done("ns/a");
  listed = true;
  clock.advance(100);
  expect(queue.take()).toMatchObject({ key: "ns/a", priority: 7, causes });
});
