import { afterEach, expect, test } from "bun:test";
import { gunzipSync } from "node:zlib";
import { conditions, defineController, defineResource, of, z } from "binnacle";
import { ConfigMap } from "binnacle/resources";
import { until } from "../../tests/support/until.ts";
import { RunHistory } from "../history/run-history.ts";
import { Manager } from "../manager/manager.ts";
import { collectDefinitions } from "../module/module-definitions.ts";
import { createLog } from "../observe/log.ts";
import { systemClock } from "../platform/clock.ts";
import { startCluster } from "../testing/index.ts";
import { Traces } from "./traces.ts";
import { protocolOf, wantsTraces } from "./wanted.ts";

const stack: { current: AsyncDisposableStack } = { current: new AsyncDisposableStack() };
const variables = [
  "OTEL_EXPORTER_OTLP_ENDPOINT",
  "OTEL_EXPORTER_OTLP_PROTOCOL",
  "OTEL_EXPORTER_OTLP_TIMEOUT",
  "OTEL_SERVICE_NAME",
  "OTEL_RESOURCE_ATTRIBUTES",
  "OTEL_EXPORTER_OTLP_COMPRESSION",
  "OTEL_EXPORTER_OTLP_HEADERS",
  "OTEL_EXPORTER_OTLP_CERTIFICATE",
  "OTEL_BSP_MAX_QUEUE_SIZE",
  "OTEL_BSP_MAX_EXPORT_BATCH_SIZE",
  "OTEL_TRACES_SAMPLER",
  "OTEL_TRACES_SAMPLER_ARG",
  "OTEL_BSP_SCHEDULE_DELAY",
] as const;
afterEach(async () => {
  await stack.current.disposeAsync();
  stack.current = new AsyncDisposableStack();
  for (const name of variables) delete process.env[name];
});

interface Value {
  readonly stringValue?: string;
  readonly intValue?: number | string;
}
interface SentSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: Value }[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status: { readonly code?: number; readonly message?: string };
}
interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: SentSpan["attributes"] };
    readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[];
  }[];
}

function kind<const K extends string>(kind: K) {
  return defineResource({
    group: "chain.example.com",
    version: "v1",
    kind,
    spec: z.object({ size: z.int() }),
    status: z.object({ conditions: conditions("Ready") }),
  });
}
const Shop = kind("Shop");
const Floor = kind("Floor");

interface StartOptions {
  readonly recordsAll?: boolean;
  /** Answers what is sent to the collector. */
  readonly answer?: () => Response | Promise<Response>;
}

/** A process with two controllers, one after the other, whose spans go to a collector of this test. */
async function start(
  env: Readonly<Record<string, string>> = {},
  { recordsAll = false, answer = () => Response.json({}) }: StartOptions = {},
) {
  const exports: Export[] = [];
  const headers: Headers[] = [];
  const collector = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      if (new URL(request.url).pathname !== "/v1/traces") return new Response("", { status: 404 });
      headers.push(request.headers);
      const body = await request.bytes();
      const isPacked = request.headers.get("content-encoding") === "gzip";
      exports.push(JSON.parse((isPacked ? gunzipSync(body) : Buffer.from(body)).toString()) as Export);
      return await answer();
    },
  });
  stack.current.defer(() => collector.stop(true));
  Object.assign(process.env, {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.port}`,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
    OTEL_BSP_SCHEDULE_DELAY: "20",
    ...env,
  });
  const cluster = stack.current.use(await startCluster({ pods: false }));
  const lines: { readonly msg: string; readonly trace_id?: string; readonly problem?: string }[] = [];
  const log = createLog({ level: "info", format: "json", write: (line) => void lines.push(JSON.parse(line)) });
  const traces = stack.current.use(
    new Traces({ env: process.env, version: "1.2.3", log, server: cluster.config.server, service: "shops" }),
  );
  const history = new RunHistory({ bytes: 2 ** 20, clock: systemClock, replica: "here", traces, recordsAll });
  const manager = new Manager({
    cluster: cluster.config,
    log,
    history,
    requestTraces: traces,
    settings: { "grace-period": 1_000, "install-crds": true, "metrics-bind-address": "127.0.0.1:0" },
    isolate: false,
  });
  stack.current.defer(() => manager.stop());
  await manager.start();
  const definitions = collectDefinitions([
    Shop,
    Floor,
    defineController({
      for: Shop,
      owns: [Floor],
      async reconcile({ metadata: { name }, spec: { size } }, { children, status, log: own }) {
        if (size < 0) throw new RangeError("a shop needs a size");
        const floors = Array.from({ length: size }, (_, at) =>
          of(Floor, { metadata: { name: `${name}-${at}` }, spec: { size: at } }),
        );
        await children.sync(Object.fromEntries(floors.map((floor) => [floor.metadata.name, floor])));
        status.condition({ type: "Ready", status: true, reason: "Made" });
        own.info("Made", { size });
      },
    }),
    defineController({
      for: Floor,
      owns: [ConfigMap],
      async reconcile({ metadata: { name }, spec: { size } }, { children }) {
        await children.sync({ sign: of(ConfigMap, { metadata: { name }, data: { size: String(size) } }) });
      },
    }),
  ]);
  await manager.add({ name: "shops.ts", file: "shops.ts", definitions, invoke: (fn) => fn(), dispose() {} });
  manager.loaded();
  await until(() => manager.modules.controllers.every(({ hasSynced }) => hasSynced));
  const spans = (): readonly SentSpan[] =>
    exports.flatMap(({ resourceSpans }) =>
      resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((one) => one.spans)),
    );
  return { cluster, exports, headers, spans, lines, manager, history, traces };
}

function attributesOf(attributes: SentSpan["attributes"]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]));
}

const key = { namespace: "default", name: "one" };
const sign = { namespace: "default", name: "one-0" };

test("a run is a span with its requests as children, and links to the write that caused it", async () => {
  const { cluster, exports, spans, lines, manager } = await start();
  await cluster.client.create(Shop, { metadata: key, spec: { size: 2 } });
  await until(() => spans().some(({ name }) => name === "reconcile floor"));
  await until(() => spans().filter(({ name }) => name === "create Floor").length === 2);
  const shop = spans().find(({ name }) => name === "reconcile shop")!;
  expect(attributesOf(shop.attributes)).toMatchObject({
    "binnacle.controller": "shop",
    "binnacle.module": "shops.ts",
    "binnacle.key": "default/one",
    "k8s.namespace.name": "default",
    "binnacle.object.kind": "Shop",
    "binnacle.object.name": "one",
    "binnacle.run.result": "success",
  });
  const create = spans().find(({ name }) => name === "create Floor")!;
  expect([create.parentSpanId, create.traceId, create.kind]).toEqual([shop.spanId, shop.traceId, 3]);
  expect(attributesOf(create.attributes)).toMatchObject({
    "http.request.method": "POST",
    "http.response.status_code": 201,
    "binnacle.request.by": "runtime",
  });
  expect(BigInt(create.startTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(shop.startTimeUnixNano));
  expect(BigInt(create.endTimeUnixNano)).toBeLessThanOrEqual(BigInt(shop.endTimeUnixNano) + 1_000_000n);
  const floor = spans().find(({ name }) => name === "reconcile floor")!;
  expect(floor.traceId).not.toBe(shop.traceId);
  const cause = spans().find(({ spanId }) => spanId === floor.links?.[0]?.spanId);
  expect(cause).toMatchObject({ name: "create Floor", traceId: shop.traceId });
  expect(attributesOf(exports[0]!.resourceSpans[0]!.resource.attributes)).toMatchObject({
    "service.name": "shops",
    "service.version": "1.2.3",
  });
  expect(lines.find(({ msg }) => msg === "Made")).toMatchObject({ trace_id: shop.traceId, span_id: shop.spanId });
  const { body } = await manager.metrics.text("application/openmetrics-text; version=1.0.0");
  expect(body).toContain(`# {trace_id="${shop.traceId}"`);
  expect((await manager.metrics.text()).body).not.toContain("trace_id");
});

test("each of many writes at once is linked to from the run that it causes", async () => {
  const { cluster, spans } = await start();
  await cluster.client.create(Shop, { metadata: key, spec: { size: 12 } });
  const runs = (): readonly SentSpan[] => spans().filter(({ name, links }) => name === "reconcile floor" && links);
  await until(() => runs().length >= 12 && spans().filter(({ name }) => name === "create Floor").length === 12);
  const byId = new Map(spans().map((span) => [span.spanId, span]));
  const objectOf = (span: SentSpan): unknown => attributesOf(span.attributes)["binnacle.object.name"];
  const writers = runs().map(({ links }) => links!.map(({ spanId }) => byId.get(spanId)!));
  expect(writers.map((one) => one.map(objectOf))).toEqual(runs().map((run) => [objectOf(run)]));
});

test("the environment's names and attributes of the service go before those of the operator", async () => {
  const attributes = "deployment.environment.name=test,service.version=9";
  const { cluster, exports } = await start({ OTEL_SERVICE_NAME: "mine", OTEL_RESOURCE_ATTRIBUTES: attributes });
  await cluster.client.create(Shop, { metadata: key, spec: { size: 1 } });
  await until(() => exports.length > 0);
  expect(attributesOf(exports[0]!.resourceSpans[0]!.resource.attributes)).toMatchObject({
    "service.name": "mine",
    "service.version": "9",
    "service.instance.id": expect.any(String),
    "deployment.environment.name": "test",
  });
});

test("a run that fails is an error span with the exception", async () => {
  const { cluster, spans } = await start();
  await cluster.client.create(Shop, { metadata: key, spec: { size: -1 } });
  await until(() => spans().some(({ status }) => status.code === 2));
  const span = spans().find(({ name }) => name === "reconcile shop")!;
  expect(span.status).toEqual({ code: 2, message: "RangeError: a shop needs a size" });
  expect(attributesOf(span.attributes)).toMatchObject({ "error.type": "RangeError", "binnacle.run.result": "error" });
});

test("a run that is not sampled is not recorded, unless somebody looks at the histories", async () => {
  const { cluster, spans, history } = await start({ OTEL_TRACES_SAMPLER: "always_off" });
  await cluster.client.create(Shop, { metadata: key, spec: { size: 2 } });
  await until(async () => (await cluster.client.find(ConfigMap, sign)) !== undefined);
  expect(history.stats).toMatchObject({ runs: 0, bytes: 0 });
  expect(spans()).toEqual([]);
  await stack.current.disposeAsync();
  stack.current = new AsyncDisposableStack();
  const other = await start(
    { OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "0" },
    { recordsAll: true },
  );
  await other.cluster.client.create(Shop, { metadata: key, spec: { size: 2 } });
  await until(() => other.history.stats.runs >= 2);
  expect(other.spans()).toEqual([]);
});

test("a request to a webhook is a span of its sender's trace", async () => {
  process.env["OTEL_EXPORTER_OTLP_TIMEOUT"] = "200"; // nobody hears of these spans
  const traces = stack.current.use(
    new Traces({
      env: {},
      version: undefined,
      server: "https://127.0.0.1:6443",
      log: createLog({ level: "error", format: "json", write: () => {} }),
    }),
  );
  const trace = "0af7651916cd43dd8448eb211c80319c";
  const headers = new Headers({ traceparent: `00-${trace}-b7ad6b7169203331-01` });
  const span = traces.request("/validate-x", headers);
  expect(span.ref).toMatchObject({ trace });
  span.end(200);
  expect(
    traces.request("/validate-x", new Headers({ traceparent: `00-${trace}-b7ad6b7169203331-00` })).ref,
  ).toBeUndefined();
  for (const wrong of ["", "00-x", `00-${"0".repeat(32)}-b7ad6b7169203331-01`])
    expect(traces.request("/validate-x", new Headers({ traceparent: wrong })).ref?.trace).not.toBe(trace);
});

test("traces are wanted when a collector is named and nothing switches them off", () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" };
  expect(
    [
      {},
      { OTEL_EXPORTER_OTLP_ENDPOINT: "" },
      endpoint,
      { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://collector:4318/v1/traces" },
      { ...endpoint, OTEL_SDK_DISABLED: "true" },
      { ...endpoint, OTEL_TRACES_EXPORTER: "none" },
    ].map(wantsTraces),
  ).toEqual([false, false, true, true, false, false]);
  expect(protocolOf({})).toEqual({ isJson: false });
  expect(protocolOf({ OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" })).toEqual({ isJson: true });
  const { problem } = protocolOf({ OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" });
  expect(problem).toContain("usually to port 4318");
});

test("spans are compressed, with the headers that the environment names", async () => {
  const { cluster, headers, spans } = await start({
    OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
    OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20a,x-tenant=shops",
  });
  await cluster.client.create(Shop, { metadata: key, spec: { size: 1 } });
  await until(() => spans().length > 0);
  expect(Object.fromEntries(headers[0]!)).toMatchObject({
    authorization: "Bearer a",
    "content-encoding": "gzip",
    "content-type": "application/json",
    "x-tenant": "shops",
  });
});

test("a collector that does not answer costs no run, and the end of the process waits two seconds for it", async () => {
  const unanswered = Promise.withResolvers<Response>();
  const { cluster, exports, lines, traces } = await start(
    { OTEL_BSP_MAX_QUEUE_SIZE: "4", OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "2" },
    { answer: () => unanswered.promise },
  );
  for (let at = 0; at < 20; at++) {
    const metadata = { ...key, name: `shop-${at}` };
    await cluster.client.create(Shop, { metadata, spec: { size: 1 } });
    await until(
      async () => (await cluster.client.find(ConfigMap, { ...metadata, name: `shop-${at}-0` })) !== undefined,
    );
  }
  expect(exports.length).toBe(1);
  const began = performance.now();
  await traces[Symbol.asyncDispose]();
  expect(performance.now() - began).toBeWithin(1_900, 3_000);
  unanswered.resolve(new Response());
  expect(lines.filter(({ msg }) => msg.includes("spans"))).toEqual([]);
});

test("a variable without a usable value is told in the log", async () => {
  const { lines } = await start({ OTEL_TRACES_SAMPLER: "sometimes", OTEL_EXPORTER_OTLP_CERTIFICATE: "/nowhere" });
  const problems = lines.filter(({ msg }) => msg === "OpenTelemetry reports a problem with traces");
  expect(problems.map(({ problem }) => problem)).toEqual([
    expect.stringContaining("Failed to read root certificate file"),
    expect.stringContaining('OTEL_TRACES_SAMPLER value "sometimes" invalid'),
  ]);
});

test("a collector that is away is told in the log, and costs no run", async () => {
  const { cluster, lines } = await start({
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1",
    OTEL_EXPORTER_OTLP_TIMEOUT: "200",
  });
  await cluster.client.create(Shop, { metadata: key, spec: { size: 2 } });
  await until(async () => (await cluster.client.find(ConfigMap, sign)) !== undefined);
  await until(() => lines.some(({ msg }) => msg === "Cannot send spans to the collector: they are lost"));
});
