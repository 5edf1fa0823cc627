/**
 * Follows one event: a controller in this process gets a changed object over HTTP/2 and answers with a child and a
 * status. Prints the files of src that were called before its `reconcile` and from there on.
 */
import { defineController, defineResource, of, z } from "binnacle";
import { ConfigMap } from "binnacle/resources";
import { createApiServer } from "binnacle-apiserver";
import { Manager } from "../../src/manager/manager.ts";
import { collectDefinitions } from "../../src/module/module-definitions.ts";
import { createLog } from "../../src/observe/log.ts";
import { ApiObjects } from "../support/cluster.ts";
import { FaultyProxy } from "../support/integration/faulty-proxy.ts";
import { until } from "../support/until.ts";
import { takeCalls } from "./recorded-calls.ts";

/** The turn that is followed; before it, everything has been called that is called once. */
const FOLLOWED = 4;
/** Milliseconds in which the echoes of the writes arrive. */
const ECHO_MS = 200;
const BOXES = "/apis/path.binnacle.dev/v1/namespaces/default/boxes";

let before: readonly string[] = [];
const Box = defineResource({
  group: "path.binnacle.dev",
  version: "v1",
  kind: "Box",
  spec: z.object({ turn: z.int() }),
  status: z.object({ turn: z.int().optional() }),
});
const boxes = defineController({
  for: Box,
  owns: [ConfigMap],
  async reconcile({ metadata, spec }, context) {
    if (spec.turn === FOLLOWED) before = takeCalls();
    const data = { turn: String(spec.turn) };
    await context.children.sync({ note: of(ConfigMap, { metadata: { name: metadata.name }, data }) });
    context.status.set({ turn: spec.turn });
  },
});

const server = await createApiServer();
const objects = new ApiObjects({
  request: (path: string, init?: RequestInit) => server.fetch(new Request(`http://embedded${path}`, init)),
  stop: () => server.stop(),
});
const proxy = await FaultyProxy.start(objects.plane);
const log = createLog({ level: "warn", format: "json", write: (line) => process.stderr.write(`${line}\n`) });
const manager = new Manager({ cluster: proxy.cluster, log, settings: { "install-crds": true } });
await manager.add({
  name: "path",
  file: "path.ts",
  definitions: collectDefinitions([Box, boxes]),
  invoke: (call) => call(),
  dispose: () => {},
});
manager.loaded();
await until(() => manager.modules.controllers.every(({ hasSynced }) => hasSynced));
const type = "application/merge-patch+json";
for (let turn = 1; turn <= FOLLOWED; turn++) {
  const spec = { turn };
  takeCalls();
  if (turn > 1) await objects.send("PATCH", `${BOXES}/a`, { body: { spec }, type });
  else await objects.send("POST", BOXES, { body: { ...Box, metadata: { name: "a" }, spec } });
  await until(async () => (await objects.get(`${BOXES}/a`))?.status?.turn === turn);
  await Bun.sleep(ECHO_MS);
}
console.log(JSON.stringify({ before, after: takeCalls() }));
process.exit(0);
