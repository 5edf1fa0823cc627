import { expect, test } from "bun:test";
import { alwaysLeader } from "../client/leadership.ts";
import { createApiServer } from "binnacle-apiserver";
import { createTransport } from "../kube/transport/transport.ts";
import { createLog } from "../observe/log.ts";
import { createMetrics } from "../observe/metrics.ts";
import { Pod } from "../resource/builtin/core.ts";
import { HealthChecks } from "../server/health-checks.ts";
import { runSettings } from "../settings/run-options.ts";
import { eventually } from "../testing/eventually.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { CurrentCertificate } from "../webhook/certificates/trusted-source.ts";
import type { AnyWebhook } from "../webhook/definition.ts";
import { WebhookHost } from "../webhook/webhook-host.ts";
import { WebhookRegistrar } from "./webhook-registrar.ts";

const VALIDATING = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
const never = new AbortController().signal;

function unused(): never {
  throw new Error("nothing is read here");
}

async function world() {
  const server = await createApiServer();
  const transport = createTransport({
    server: "https://server",
    context: "x",
    user: "x",
    namespace: "default",
    tls: { ca: undefined, cert: undefined, key: undefined, serverName: undefined, rejectUnauthorized: true },
    answer: (request) => server.fetch(request),
    headers: () => ({}),
    reload: () => Promise.resolve(false),
  });
  const log = createLog({ level: "info", format: "json", write: () => {} });
  const metrics = createMetrics();
  const clock = new FakeClock(Date.now());
  const certificates = new CurrentCertificate();
  certificates.set({ cert: "c", key: "k", authorities: "ONE" });
  const host = new WebhookHost({
    runtime: { log, metrics, settings: runSettings() },
    scopeOf: (webhook) => ({
      scope: { name: "pod", webhook, log, clientOf: unused },
      notReady: undefined,
      [Symbol.dispose]: () => {},
    }),
    ensureListening: () => {},
    onError: () => {},
  });
  const registrar = new WebhookRegistrar(
    { reach: { host: "127.0.0.1", port: 9443 }, mode: "apply", ownNamespaces: [] },
    {
      transport,
      host,
      address: () => "127.0.0.1:9443",
      certificates,
      leadership: () => alwaysLeader,
      isComplete: () => true,
      metrics,
      readyz: new HealthChecks(),
      clock,
      log,
    },
  );
  const registered = async (): Promise<number> =>
    (await transport.request<{ items: readonly unknown[] }>({ method: "GET", path: VALIDATING })).items.length;
  return { clock, host, registrar, registered };
}

test("handlers stay until API servers know that a registration by URL is gone", async () => {
  const { clock, host, registrar, registered } = await world();
  const webhook = { for: Pod, validate: () => {} } as unknown as AnyWebhook;
  await host.put({ name: "a", webhooks: [webhook], resources: [], invoke: (call) => call() }, { signal: never });
  registrar.loaded();
  await eventually(async () => expect(await registered()).toBe(1));
  let isStopped = false;
  const stopped = registrar.stop(never).then(() => (isStopped = true));
  await eventually(async () => expect(await registered()).toBe(0));
  await clock.advanceInTurns(200);
  expect(isStopped).toBe(false);
  await eventually(() => {
    clock.advance(250);
    return isStopped;
  });
  await stopped;
});

test("nobody can say whom registrations trust before the modules are loaded", async () => {
  const { registrar } = await world();
  expect(await registrar.trusts("ONE", never)).toBe(false);
  registrar.loaded();
  expect(await registrar.trusts("ONE", never)).toBe(true);
  await registrar.stop(never);
});
