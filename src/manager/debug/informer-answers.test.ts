import { expect, test } from "bun:test";
import { ConfigMap } from "binnacle/resources";
import { until } from "../../../tests/support/until.ts";
import { InformerRegistry } from "../../cache/informer-registry.ts";
import { RestMapper } from "../../kube/api/mapper.ts";
import { createTransport } from "../../kube/transport/transport.ts";
import { createLog } from "../../observe/log.ts";
import { startCluster } from "../../testing/index.ts";
import { informerAnswers } from "./informer-answers.ts";

test("an informer whose watch is silent for longer than bookmarks take is stalled", async () => {
  await using cluster = await startCluster({ pods: false });
  await using stack = new AsyncDisposableStack();
  const transport = createTransport(cluster.config, {});
  stack.defer(() => transport.close());
  const log = createLog({ level: "error", format: "json", write: () => {} });
  const informers = new InformerRegistry({ transport, mapper: new RestMapper(transport), log });
  stack.defer(() => informers.stop());
  informers.acquire(ConfigMap, { needs: { bodies: "all", managers: [] }, user: "a test" });
  await until(() => informers.all()[0]!.state.kind === "watching");
  const at = informers.all()[0]!.lastEventAt!;
  expect(informerAnswers(informers, at + 140_000)).toMatchObject([{ state: "watching", message: undefined }]);
  expect(informerAnswers(informers, at + 172_000)).toMatchObject([
    { state: "stalled", message: expect.stringContaining("its watch has been silent for 2m52s") as string },
  ]);
});
