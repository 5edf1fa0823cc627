import { expect, test } from "bun:test";
import { RestMapper } from "../kube/api/mapper.ts";
import { createTransport } from "../kube/transport/transport.ts";
import { resource } from "../resource/handle.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { listOf, ScriptedServer } from "../../tests/support/scripted-server.ts";
import { until } from "../../tests/support/until.ts";
import { SharedInformer } from "./shared-informer.ts";

test("an informer of some namespaces recovers when a kind that was cluster-scoped comes back with namespaces", async () => {
  await using server = await ScriptedServer.start();
  let namespaced = false;
  server.onList = ({ path }) => {
    if (path !== "/apis/a.b/v1") return { body: listOf([], "5") };
    return { body: { kind: "APIResourceList", resources: [{ name: "things", kind: "Thing", namespaced }] } };
  };
  const transport = createTransport(server.config);
  const clock = new FakeClock();
  const mapper = new RestMapper(transport, { now: () => clock.now() });
  const informer = new SharedInformer(resource("a.b/v1", "Thing"), { transport, mapper, clock, namespaces: ["ns"] });
  informer.start();
  while (informer.state.kind !== "unavailable") await clock.advanceInTurns(100);
  expect(informer.state).toMatchObject({ message: expect.stringContaining("cluster-scoped") });
  namespaced = true;
  await until(() => {
    clock.advance(100);
    return informer.hasSynced;
  });
  expect(server.lists.at(-1)?.path).toBe("/apis/a.b/v1/namespaces/ns/things");
  await informer.stop();
  await transport.close();
});
