/** What the OpenTelemetry Collector receives of the program, which runs a chain of controllers and a webhook on a real control plane. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createAuthority, issue } from "binnacle-apiserver";
import { Bench, type Operator } from "../support/binary.ts";
import { available, Cluster } from "../support/cluster.ts";
import { until } from "../support/until.ts";
import { Collector, collectorProgram, type ReceivedSpan } from "./collector.ts";

const program = available ? await collectorProgram() : undefined;

const CHAIN = `
import { conditions, defineController, defineResource, defineWebhook, Denied, of, z } from "binnacle";
import { Secret } from "binnacle/resources";

const kind = (kind) => defineResource({
  group: "trace.example.com",
  version: "v1",
  kind,
  spec: z.object({ size: z.int(), note: z.string().optional(), password: z.string().meta({ sensitive: true }).optional() }),
  status: z.object({ conditions: conditions("Ready") }),
});
export const Shop = kind("Shop");
export const Floor = kind("Floor");
export const Room = kind("Room");

export const shop = defineController({
  for: Shop,
  owns: [Floor],
  reads: [Secret],
  async reconcile({ metadata: { name, namespace }, spec: { size, note, password } }, { children, client, log, status }) {
    const { data = {} } = await client.get(Secret, { name: "token", namespace });
    if (size === 13) throw new RangeError(\`no luck with \${atob(data.token)} and \${password}\`);
    await children.sync({ floor: of(Floor, { metadata: { name }, spec: { size, note } }) });
    status.condition({ type: "Ready", status: true, reason: "Made" });
    log.info("Made a shop", { size });
  },
});
export const floor = defineController({
  for: Floor,
  owns: [Room],
  async reconcile({ metadata: { name }, spec: { size, note } }, { children }) {
    await children.sync({ room: of(Room, { metadata: { name }, spec: { size, note } }) });
  },
});
export const room = defineController({
  for: Room,
  async reconcile(room, { status, events }) {
    status.condition({ type: "Ready", status: true, reason: "Made" });
    events.normal("Filled", "The room is filled");
  },
});
export const rooms = defineWebhook({
  for: Room,
  validate({ spec: { size } }) {
    if (size > 100) throw new Denied("a room has 100 places", { code: 422, fields: { "spec.size": "at most 100" } });
  },
});
`;

/** Texts that no span may have. */
const MARKERS = { token: "marker-token-93f1", password: "marker-password-7c2e", note: "marker-note-5d80" };
const SHOPS = "/apis/trace.example.com/v1/namespaces/default/shops";

describe.skipIf(program === undefined)("the OpenTelemetry Collector", () => {
  const cleanup = new AsyncDisposableStack();
  let cluster: Cluster;
  let bench: Bench;

  beforeAll(async () => {
    cluster = cleanup.use(await Cluster.start());
    bench = cleanup.use(await Bench.create());
    await bench.write("controllers/chain.ts", CHAIN);
    const data = { token: btoa(MARKERS.token) };
    await cluster.send("POST", "/api/v1/namespaces/default/secrets", {
      body: { apiVersion: "v1", kind: "Secret", metadata: { name: "token" }, data },
    });
  }, 180_000);
  afterAll(() => cleanup.disposeAsync(), 60_000);

  async function start(env: Readonly<Record<string, string>>): Promise<Operator> {
    const webhooks = ["--register-webhooks", "--webhook-bind-address", "127.0.0.1:0", "--webhook-host", "127.0.0.1"];
    const operator = await bench.run({ kubeconfig: cluster.kubeconfig, args: ["--install-crds", ...webhooks], env });
    await operator.ready();
    return operator;
  }

  async function create(name: string, size: number): Promise<void> {
    const metadata = { name, namespace: "default" };
    const spec = { size, note: MARKERS.note, password: MARKERS.password };
    await cluster.send("POST", SHOPS, { body: { apiVersion: "trace.example.com/v1", kind: "Shop", metadata, spec } });
  }

  /** Waits until the last controller of the chain is done with an object. */
  async function filled(name: string): Promise<void> {
    const path = `/apis/trace.example.com/v1/namespaces/default/rooms/${name}`;
    await until(async () => (await cluster.get(path))?.status?.conditions?.[0]?.status === "True", {
      what: `the room ${name} is filled`,
      within: 20_000,
    });
  }

  test("receives the runs of a chain by https, with a token, compressed, and the last ones when the process ends", async () => {
    const authority = createAuthority("collector");
    const tls = issue(authority, { subject: { name: "collector" }, hosts: ["127.0.0.1"] });
    await using collector = await Collector.start(program!, { tls, token: "sesame" });
    await using operator = await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
      OTEL_EXPORTER_OTLP_CERTIFICATE: await bench.write("collector.crt", authority.cert),
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20sesame",
      OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
      OTEL_SERVICE_NAME: "shops",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test",
      OTEL_BSP_SCHEDULE_DELAY: "600000", // so that all of them are the last ones
    });
    await create("one", 2);
    await filled("one");
    await create("unlucky", 13);
    await create("wide", 101);
    await until(() => ["unlucky", "wide"].every((name) => failures(operator, name) > 0), {
      what: () => `both have failed:\n${operator.text}`,
      within: 20_000,
    });
    expect(await collector.text()).toBe("");
    expect(await operator.stop()).toBe(0);
    const spans = await until(() => collector.written(), { what: () => `spans are written:\n${operator.text}` });

    const run = (controller: string, name: string): ReceivedSpan =>
      spans.find(
        (span) => span.name === `reconcile ${controller}` && span.attributes["binnacle.object.name"] === name,
      )!;
    const childrenOf = ({ trace, id }: ReceivedSpan): readonly ReceivedSpan[] =>
      spans.filter((span) => span.trace === trace && span.parent === id);
    const [shop, floor, room] = [run("shop", "one"), run("floor", "one"), run("room", "one")];
    expect(shop).toMatchObject({ kind: "internal", parent: "", scope: "binnacle", status: {} });
    expect(shop.attributes).toMatchObject({
      "binnacle.controller": "shop",
      "binnacle.module": "chain.ts",
      "binnacle.key": "default/one",
      "binnacle.object.api_version": "trace.example.com/v1",
      "binnacle.object.kind": "Shop",
      "k8s.namespace.name": "default",
      "binnacle.run.attempt": 1,
      "binnacle.run.causes": ["for Shop create"],
      "binnacle.run.phase": "reconcile",
      "binnacle.run.result": "success",
    });
    expect(shop.resource).toMatchObject({
      "service.name": "shops",
      "service.version": expect.any(String),
      "service.instance.id": expect.any(String),
      "deployment.environment.name": "test",
      "telemetry.sdk.name": "opentelemetry",
    });
    const requests = childrenOf(shop).filter(({ kind }) => kind === "client");
    expect(requests.map(({ name }) => name)).toEqual(expect.arrayContaining(["create Floor", "patch Shop/status"]));
    for (const { trace, start, end, attributes } of requests) {
      expect(trace).toBe(shop.trace);
      expect(start).toBeGreaterThanOrEqual(shop.start);
      expect(end).toBeLessThanOrEqual(shop.end + 1_000_000n);
      expect(attributes).toMatchObject({
        "http.response.status_code": expect.any(Number),
        "server.address": "127.0.0.1",
        "server.port": expect.any(Number),
      });
    }
    const writeOf = (span: ReceivedSpan, name: string): ReceivedSpan =>
      childrenOf(span).find((child) => child.name === name)!;
    for (const [cause, write, effect] of [
      [shop, "create Floor", floor],
      [floor, "create Room", room],
    ] as const) {
      const { trace, id } = writeOf(cause, write);
      expect(effect.trace).not.toBe(cause.trace);
      expect(effect.links).toEqual([
        {
          trace,
          id,
          attributes: expect.objectContaining({ "binnacle.controller": cause.attributes["binnacle.controller"] }),
        },
      ]);
    }
    expect(room.events).toContainEqual({
      name: "event",
      attributes: {
        "binnacle.event.type": "Normal",
        "binnacle.event.reason": "Filled",
        "binnacle.event.message": "The room is filled",
      },
    });
    const review = spans.find(({ kind }) => kind === "server")!;
    expect(review).toMatchObject({ name: "POST /validate-trace-example-com-v1-room", status: {} });
    expect(review.attributes).toMatchObject({
      "http.request.method": "POST",
      "http.route": "/validate-trace-example-com-v1-room",
      "http.response.status_code": 200,
      "url.scheme": "https",
    });

    const failed = run("shop", "unlucky");
    expect(failed.status).toEqual({ code: 2, message: "RangeError: no luck with [redacted] and [redacted]" });
    expect(failed.attributes).toMatchObject({ "error.type": "RangeError", "binnacle.run.result": "error" });
    expect(failed.events).toContainEqual({
      name: "exception",
      attributes: {
        "exception.type": "RangeError",
        "exception.message": "RangeError: no luck with [redacted] and [redacted]",
        "exception.stacktrace": expect.stringContaining("chain.ts"),
      },
    });
    const refused = childrenOf(run("floor", "wide")).find(({ name }) => name === "create Room")!;
    expect(refused.status).toMatchObject({ code: 2, message: expect.stringContaining("at most 100") });
    expect(refused.attributes).toMatchObject({ "http.response.status_code": 422, "error.type": expect.any(String) });

    const line = operator.log.find(({ msg, key }) => msg === "Made a shop" && key === "default/one")!;
    expect([line["trace_id"], line["span_id"]]).toEqual([shop.trace, shop.id]);
    const text = await collector.text();
    for (const marker of Object.values(MARKERS)) {
      for (const form of [marker, btoa(marker)]) expect(text).not.toContain(form);
    }
  }, 120_000);

  test("that refuses spans costs no run, and the log says so once", async () => {
    await using collector = await Collector.start(program!, { token: "sesame" });
    await using operator = await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20wrong",
      OTEL_BSP_SCHEDULE_DELAY: "20",
    });
    for (const name of ["refused-1", "refused-2", "refused-3"]) {
      await create(name, 1);
      await filled(name);
    }
    const lost = () => operator.log.filter(({ msg }) => msg === "Cannot send spans to the collector: they are lost");
    await until(() => lost().length > 0);
    await create("refused-4", 1);
    await filled("refused-4");
    expect(lost()).toMatchObject([{ level: "warn", reason: expect.stringContaining("Unauthorized") }]);
    expect(await operator.stop()).toBe(0);
    expect(await collector.text()).toBe("");
  }, 120_000);

  test("receives a part of the runs as JSON, whole traces only", async () => {
    await using collector = await Collector.start(program!);
    await using operator = await start({
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.endpoint}/v1/traces`,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
      OTEL_TRACES_SAMPLER_ARG: "0.5",
    });
    const names = Array.from({ length: 20 }, (_, at) => `part-${at}`);
    for (const name of names) await create(name, 1);
    for (const name of names) await filled(name);
    expect(await operator.stop()).toBe(0);
    const spans = await until(() => collector.written(), { what: "spans are written" });
    const runs = spans.filter(({ name }) => name.startsWith("reconcile "));
    const sampled = new Set(
      runs.map(
        ({ attributes }) => `${String(attributes["binnacle.controller"])} ${String(attributes["binnacle.key"])}`,
      ),
    );
    expect(sampled.size).toBeGreaterThan(5);
    expect(sampled.size).toBeLessThan(55);
    const known = new Set(spans.map(({ id }) => id));
    expect(spans.filter(({ parent }) => parent !== "" && !known.has(parent))).toEqual([]);
  }, 120_000);

  test("receives nothing while OTEL_SDK_DISABLED is true", async () => {
    await using collector = await Collector.start(program!);
    await using operator = await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
      OTEL_SDK_DISABLED: "true",
    });
    await create("disabled", 1);
    await filled("disabled");
    expect(await operator.stop()).toBe(0);
    expect(await collector.text()).toBe("");
  }, 120_000);
});

/** How often a run of an object has failed. */
function failures(operator: Operator, name: string): number {
  return operator.log.filter((line) => line.msg === "Reconcile failed" && line["key"] === `default/${name}`).length;
}
