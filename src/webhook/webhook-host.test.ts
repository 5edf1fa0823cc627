import { expect, test } from "bun:test";
import { createLog } from "../observe/log.ts";
import { createMetrics } from "../observe/metrics.ts";
import { runSettings } from "../settings/run-options.ts";
import { Pod } from "../resource/builtin/core.ts";
import type { AdmissionReview } from "./admission-review.ts";
import { webhookName } from "./declared-webhook.ts";
import type { AnyWebhook } from "./definition.ts";
import { Denied } from "./denied.ts";
import { WebhookHost } from "./webhook-host.ts";

type Validate = (object: { metadata?: unknown }, context: { old?: { spec?: unknown } | undefined }) => Promise<void>;

/** Makes a host whose webhooks read nothing. */
function newHost(failurePolicy?: "Ignore") {
  const log = createLog({ level: "info", format: "json", write: () => {} });
  const released: string[] = [];
  const host = new WebhookHost({
    runtime: { log, metrics: createMetrics(), settings: runSettings() },
    failurePolicy,
    scopeOf: (webhook, module) => ({
      scope: {
        name: webhookName(webhook),
        module: module.name,
        webhook,
        log,
        clientOf: () => {
          throw new Error("nothing is read here");
        },
      },
      notReady: undefined,
      [Symbol.dispose]: () => void released.push(webhookName(webhook)),
    }),
    ensureListening: () => {},
    onError: () => {},
  });
  const app = host.routes.app();
  return {
    host,
    released,
    /** Calls the webhook with a pod. */
    ask: async (more: object = {}): Promise<string> => {
      const kind = { group: "", version: "v1", kind: "Pod" };
      const request = { uid: "1", operation: "CREATE", kind, object: {}, ...more };
      const response = await app.request("/validate--v1-pod", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ request }),
      });
      if (response.status !== 200) return `HTTP ${response.status}`;
      const review = (await response.json()) as AdmissionReview;
      return review.response!.status.message ?? "allowed";
    },
  };
}

function module(name: string, ...validates: readonly Validate[]) {
  const webhooks = validates.map((validate) => ({ for: Pod, validate }) as unknown as AnyWebhook);
  return { name, webhooks, resources: [], invoke: <T>(call: () => T) => call() };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const refusing =
  (message: string): Validate =>
  () =>
    Promise.reject(new Denied(message));
const never = { signal: new AbortController().signal };

test("a request under way is answered by all webhooks of the version that it began with", async () => {
  const { host, ask } = newHost();
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const first: Validate = () => {
    asked.resolve();
    return answered.promise;
  };
  const second: Validate = async () => {
    await turn();
    throw new Denied("the second one of the old version");
  };
  await host.put(module("a", first, second), never);
  const began = ask();
  await asked.promise;
  const replaced = host.put(module("a", refusing("the new version")), never);
  await turn();
  expect(await ask()).toBe("the new version");
  answered.resolve();
  expect(await began).toBe("the second one of the old version");
  await replaced;
});

test("a module that is back before its registration could be taken away stays", async () => {
  const { host, ask, released } = newHost();
  const away = Promise.withResolvers<void>();
  using _leaving = host.beforeLeaving(() => away.promise);
  await host.put(module("a", refusing("the old version")), never);
  const removed = host.remove("a", never);
  await host.put(module("a", refusing("the new version")), never);
  away.resolve();
  await removed;
  expect(await ask()).toBe("the new version");
  expect(released).toHaveLength(1);
});

test("a module that is changed twice while the API server is away leaves nothing behind", async () => {
  const { host, ask, released } = newHost();
  const away = Promise.withResolvers<void>();
  using _leaving = host.beforeLeaving(() => away.promise);
  const named = (message: string) => {
    const { webhooks, ...rest } = module("a", refusing(message));
    return { ...rest, webhooks: webhooks.map((webhook) => ({ ...webhook, name: message })) };
  };
  await host.put(named("one"), never);
  const changes = [host.put(named("two"), never), host.put(module("a", refusing("three")), never)];
  away.resolve();
  await Promise.all(changes);
  expect(await ask()).toBe("three");
  expect(released).toEqual(["one", "two"]);
  expect(host.modules()).toHaveLength(1);
});

test("a call that is cut off is refused, or a failure of the webhook where failures are ignored", async () => {
  const cut = AbortSignal.abort();
  for (const [policy, said] of [
    [undefined, "the module a has left"],
    ["Ignore", "HTTP 503"],
  ] as const) {
    const { host, ask } = newHost(policy);
    const asked = Promise.withResolvers<void>();
    const hanging: Validate = () => {
      asked.resolve();
      return new Promise(() => {});
    };
    await host.put(module("a", hanging), never);
    const began = ask();
    await asked.promise;
    const removed = host.remove("a", { signal: cut });
    expect(await began).toBe(said);
    await removed;
    // What the author decides is a refusal under either policy.
    await host.put(module("a", refusing("no")), never);
    expect(await ask()).toBe("no");
  }
});

test("a definition that changes its objects changes nothing that the next one gets", async () => {
  const { host, ask } = newHost();
  const seen: string[] = [];
  const changing: Validate = async (object, { old }) => {
    seen.push(JSON.stringify([object, old]));
    object.metadata = "changed";
    if (old !== undefined) old.spec = "changed";
  };
  await host.put(module("a", changing, changing), never);
  await host.put(module("b", changing), never);
  expect(await ask({ object: { metadata: {} } })).toBe("allowed");
  expect(await ask({ operation: "UPDATE", object: { metadata: {} }, oldObject: { spec: 1 } })).toBe("allowed");
  expect(seen).toEqual([
    ...Array.from({ length: 3 }, () => '[{"metadata":{}},null]'),
    ...Array.from({ length: 3 }, () => '[{"metadata":{}},{"spec":1}]'),
  ]);
});

test("the answer for a `validate` that returns something names the module", async () => {
  const { host, ask } = newHost();
  await host.put(module("policy.ts", (() => Promise.resolve(false)) as unknown as Validate), never);
  expect(await ask()).toContain("`validate` of the module policy.ts returned false, which decides nothing");
});
