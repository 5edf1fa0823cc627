/** Tests the first example on a real cluster, end to end. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Bench, type Operator } from "../support/binary.ts";
import { available, Cluster, type Json } from "../support/cluster.ts";
import { until } from "../support/until.ts";

const GUESTBOOKS = "/apis/demo.binnacle.dev/v1/namespaces/default/guestbooks";
const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
const SERVICES = "/api/v1/namespaces/default/services";

const guestbook = (name: string, spec: object): object => ({
  apiVersion: "demo.binnacle.dev/v1",
  kind: "Guestbook",
  metadata: { name },
  spec,
});
const container = (deployment: Json): { env: { value: string }[] } =>
  (deployment.spec as unknown as { template: { spec: { containers: { env: { value: string }[] }[] } } }).template.spec
    .containers[0]!;

describe.skipIf(!available)("guestbook", () => {
  let cluster: Cluster;
  let bench: Bench;
  let operator: Operator;

  beforeAll(async () => {
    [cluster, bench] = await Promise.all([Cluster.start(), Bench.create()]);
    await bench.example("guestbook");
    const { stdout, stderr, code } = await bench.exec("manifests", "crds");
    if (code !== 0) throw new Error(stderr);
    await cluster.plane.apply(stdout);
    await cluster.kubectl("wait", "--for=condition=Established", "crd/guestbooks.demo.binnacle.dev", "--timeout=20s");
    await cluster.collectNewKinds();
    operator = await bench.run({ kubeconfig: cluster.kubeconfig });
    await operator.ready();
  }, 180_000);

  afterAll(async () => {
    await operator?.[Symbol.asyncDispose]();
    await bench?.[Symbol.asyncDispose]();
    await cluster?.[Symbol.asyncDispose]();
  });

  test("makes Deployment, Service and condition at once", async () => {
    await cluster.send("POST", GUESTBOOKS, { body: guestbook("hello", { message: "hi" }) });
    const began = performance.now(); // the server takes a while for the first object of a new kind
    await cluster.exists(`${DEPLOYMENTS}/hello`);
    await cluster.exists(`${SERVICES}/hello`);
    const object = await cluster.exists(`${GUESTBOOKS}/hello`, ({ status }) => status?.conditions !== undefined);
    console.log(`Deployment, Service and condition after ${Math.round(performance.now() - began)} ms`);
    expect(object.status).toMatchObject({
      observedGeneration: 1,
      readyReplicas: 0,
      conditions: [{ type: "Ready", status: "False", reason: "WaitingForReplicas", observedGeneration: 1 }],
    });
    expect(object.metadata.finalizers).toEqual(["demo.binnacle.dev/guestbook"]);
  });

  test("follows the children's status", async () => {
    await cluster.send("PATCH", `${DEPLOYMENTS}/hello/status`, {
      body: { status: { replicas: 1, readyReplicas: 1, availableReplicas: 1 } },
      type: "application/merge-patch+json",
    });
    // Without a kubelet the real Deployment controller sets it back; the run in between is what counts.
    await cluster.exists(`${GUESTBOOKS}/hello`, ({ status }) => Number(status?.["readyReplicas"]) >= 0);
  });

  test("brings a deleted child back", async () => {
    const before = await cluster.exists(`${DEPLOYMENTS}/hello`);
    await cluster.kubectl("delete", "deployment", "hello", "--wait=false");
    const after = await cluster.exists(`${DEPLOYMENTS}/hello`, ({ metadata }) => metadata.uid !== before.metadata.uid);
    expect(after.metadata.deletionTimestamp).toBeUndefined();
  });

  test("follows the spec, and leaves foreign labels alone", async () => {
    await cluster.kubectl("label", "deployment", "hello", "team=web");
    await cluster.patch(`${GUESTBOOKS}/hello`, { spec: { message: "bye", replicas: 2 } });
    const deployment = await cluster.exists(`${DEPLOYMENTS}/hello`, ({ spec }) => spec?.["replicas"] === 2);
    expect(container(deployment).env[0]!.value).toBe("bye");
    expect(deployment.metadata.labels).toMatchObject({ team: "web", guestbook: "hello" });
    await cluster.exists(
      `${GUESTBOOKS}/hello`,
      ({ status, metadata }) => status?.["observedGeneration"] === metadata.generation,
    );
  });

  test("sets a field back that somebody else changed", async () => {
    await cluster.kubectl("scale", "deployment", "hello", "--replicas=5");
    await cluster.exists(
      `${DEPLOYMENTS}/hello`,
      ({ spec, metadata }) => spec?.["replicas"] === 2 && metadata.generation! > 3,
    );
  });

  test("deletes a child that leaves the set", async () => {
    await cluster.patch(`${GUESTBOOKS}/hello`, { spec: { expose: false } });
    await cluster.gone(`${SERVICES}/hello`);
    await cluster.patch(`${GUESTBOOKS}/hello`, { spec: { expose: true } });
    await cluster.exists(`${SERVICES}/hello`);
  });

  test("refuses an object of a child's name that is not its own", async () => {
    const foreign = { metadata: { name: "taken" }, spec: { ports: [{ port: 1234 }] } };
    const known = (): Promise<number> => operator.metric("binnacle_informer_objects", { kind: "Service" });
    const others = await known();
    const before = await cluster.send("POST", SERVICES, { body: foreign });
    await until(async () => (await known()) > others, {
      what: "the watch shows it; before that only the Service is refused",
    });
    await cluster.send("POST", GUESTBOOKS, { body: guestbook("taken", { message: "m" }) });
    await cluster.exists(
      "/apis/demo.binnacle.dev/v1/namespaces/default/guestbooks/taken",
      ({ metadata }) => metadata.finalizers !== undefined,
    );
    await until(() => operator.text.includes("Cannot take over Service default/taken"), { what: () => operator.text });
    const after = await cluster.exists(`${SERVICES}/taken`);
    expect(after.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    expect(await cluster.get(`${DEPLOYMENTS}/taken`)).toBeUndefined(); // it is refused before the first write
    await cluster.send("DELETE", `${SERVICES}/taken`);
    await cluster.send("DELETE", `${GUESTBOOKS}/taken`);
    await cluster.gone(`${GUESTBOOKS}/taken`);
  });

  test("runs finalize, and the object goes with its children", async () => {
    await cluster.send("DELETE", `${GUESTBOOKS}/hello`);
    await cluster.gone(`${GUESTBOOKS}/hello`);
    await cluster.gone(`${DEPLOYMENTS}/hello`, 60_000); // the garbage collector looks for new kinds every 30 s
    expect(
      operator.log.filter(({ msg, key }) => msg === "The guestbook closes" && key === "default/hello"),
    ).toHaveLength(1);
  }, 180_000);

  test("makes no child again during a foreground deletion", async () => {
    await cluster.send("POST", GUESTBOOKS, { body: guestbook("front", { message: "m" }) });
    await cluster.exists(`${GUESTBOOKS}/front`, ({ status }) => status?.conditions !== undefined);
    const created = await cluster.requests({ verb: "APPLY", resource: "deployments", code: "201" });
    await cluster.kubectl("delete", "guestbook", "front", "--cascade=foreground", "--wait=true", "--timeout=60s");
    await cluster.gone(`${DEPLOYMENTS}/front`);
    expect(await cluster.requests({ verb: "APPLY", resource: "deployments", code: "201" })).toBe(created);
  });
});
