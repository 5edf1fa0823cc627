import { expect, test } from "bun:test";
import { createApiServer, createAuthority } from "binnacle-apiserver";
import type { ClusterConfig } from "../../kube/config/cluster-config.ts";
import { createTransport } from "../../kube/transport/transport.ts";
import { alwaysLeader, type Leadership } from "../../client/leadership.ts";
import { createLog } from "../../observe/log.ts";
import { systemClock } from "../../platform/clock.ts";
import { eventually } from "../../testing/eventually.ts";
import { CurrentCertificate } from "../certificates/trusted-source.ts";
import type { DeclaredWebhook } from "../declared-webhook.ts";
import { ownerMark } from "./owner-mark.ts";
import { Registration, type RegistrationOptions } from "./registration.ts";

const WEBHOOKS = "/apis/admissionregistration.k8s.io/v1";
const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const never = new AbortController().signal;

function declared(kind: string, type: DeclaredWebhook["type"] = "validating"): DeclaredWebhook {
  const resources = [`${kind}s`];
  return {
    type,
    name: `${kind}.core.binnacle.dev`,
    path: `/${type}--v1-${kind}`,
    rules: [{ apiGroups: [""], apiVersions: ["v1"], resources, operations: ["CREATE"], scope: "*" }],
    objectSelector: undefined,
    namespaceSelector: undefined,
    matchConditions: [],
    matchPolicy: "Equivalent",
    failurePolicy: "Fail",
    reinvocationPolicy: type === "mutating" ? "Never" : undefined,
    timeoutSeconds: 10,
    sideEffects: "None",
  };
}

const answers = (...webhooks: DeclaredWebhook[]) => ({ webhooks, converted: [], keepsOthers: false });

interface Configuration {
  readonly metadata: { readonly annotations?: Record<string, string>; readonly labels?: Record<string, string> };
  readonly webhooks: readonly {
    readonly name: string;
    readonly clientConfig: { readonly caBundle?: string; readonly url?: string };
    readonly failurePolicy: string;
  }[];
}

/** Makes a world. @param answersAfter milliseconds until a write's response; its watch event does not wait. */
async function world({ answersAfter = 0 } = {}) {
  const server = await createApiServer();
  const config: ClusterConfig = {
    server: "https://server",
    context: "x",
    user: "x",
    namespace: "default",
    tls: { ca: undefined, cert: undefined, key: undefined, serverName: undefined, rejectUnauthorized: true },
    answer: async (request) => {
      const answer = await server.fetch(request);
      if (request.method === "PATCH" && answersAfter > 0) await Bun.sleep(answersAfter);
      return answer;
    },
    headers: () => ({}),
    reload: () => Promise.resolve(false),
  };
  const transport = createTransport(config);
  const certificates = new CurrentCertificate();
  certificates.set({ cert: "c", key: "k", authorities: "ONE" });
  const repaired: string[] = [];
  const lines: string[] = [];
  const path = (side: "mutating" | "validating") => `${WEBHOOKS}/${side}webhookconfigurations/hook.shop`;
  return {
    transport,
    certificates,
    repaired,
    lines,
    path,
    registration: (more: Partial<RegistrationOptions> = {}) =>
      new Registration({
        transport: createTransport(config),
        leadership: alwaysLeader,
        clock: systemClock,
        log: createLog({ level: "info", format: "json", write: (line) => void lines.push(line) }),
        name: "hook.shop",
        target: { service: { namespace: "shop", name: "hook", port: 443 } },
        ownNamespaces: ["shop"],
        certificates,
        onRepaired: (kind) => void repaired.push(kind),
        ...more,
      }),
    find: (side: "mutating" | "validating") =>
      transport.request<Configuration>({ method: "GET", path: path(side) }).catch(() => undefined),
    bundles: async () =>
      (await transport.request<Configuration>({ method: "GET", path: path("validating") })).webhooks.map(
        ({ clientConfig }) => Buffer.from(clientConfig.caBundle ?? "", "base64").toString(),
      ),
    patch: (at: string, body: unknown, contentType = "application/merge-patch+json") =>
      transport.request({ method: "PATCH", path: at, body, contentType }),
  };
}

test("Registration writes nothing before it is told what is answered, and nothing without a certificate", async () => {
  const { find, registration, certificates: _ } = await world();
  const without = new CurrentCertificate();
  await using none = registration({ certificates: without });
  await Bun.sleep(20);
  expect(await find("validating")).toBeUndefined();
  none.set(answers(declared("pod")));
  await Bun.sleep(20);
  expect(await find("validating")).toBeUndefined();
  without.set({ cert: "c", key: "k", authorities: "ONE" });
  await eventually(async () => expect(await find("validating")).toBeDefined());
});

test("Registration with the mark of its process rests once it has written", async () => {
  const { path, registration, transport } = await world({ answersAfter: 5 });
  await using kept = registration({ owner: ownerMark(systemClock) });
  kept.set(answers(declared("pod")));
  const version = async () => {
    const found = await transport.request<{ metadata: { resourceVersion: string } }>({
      method: "GET",
      path: path("validating"),
    });
    return found.metadata.resourceVersion;
  };
  const first = await eventually(version);
  await Bun.sleep(200);
  // The expiry changes every minute, so one more write may fall into this time.
  expect(Number(await version()) - Number(first)).toBeLessThanOrEqual(1);
});

test("Registration registers, changes and takes back what is answered", async () => {
  const { find, registration } = await world();
  await using kept = registration();
  kept.set(answers(declared("pod"), declared("pod", "mutating")));
  await kept.inForce(never);
  expect((await find("validating"))?.webhooks.map(({ name }) => name)).toEqual(["pod.core.binnacle.dev"]);
  expect((await find("mutating"))?.webhooks).toHaveLength(1);
  kept.set(answers(declared("pod"), declared("secret")));
  await kept.inForce(never);
  expect((await find("validating"))?.webhooks).toHaveLength(2);
  expect(await find("mutating")).toBeUndefined();
  await kept.withdraw([declared("pod").path], never);
  expect((await find("validating"))?.webhooks.map(({ name }) => name)).toEqual(["secret.core.binnacle.dev"]);
  await kept.withdraw([declared("secret").path], never);
  expect(await find("validating")).toBeUndefined();
});

test("a new set of authorities is injected, and what somebody changes by hand is put right", async () => {
  const { bundles, certificates, find, patch, path, registration, repaired, transport } = await world();
  await using kept = registration();
  kept.set(answers(declared("pod")));
  await kept.inForce(never);
  expect(await bundles()).toEqual(["ONE"]);
  expect(await kept.trusts("ONE", never)).toBe(true);
  certificates.set({ cert: "c", key: "k", authorities: "TWO\nONE" });
  await kept.inForce(never);
  expect(await bundles()).toEqual(["TWO\nONE"]);
  expect(await kept.trusts("TWO", never)).toBe(true);
  expect(await kept.trusts("THREE", never)).toBe(false);
  expect(repaired).toEqual([]);

  const empty = [{ op: "replace", path: "/webhooks/0/clientConfig/caBundle", value: "" }];
  await patch(path("validating"), empty, "application/json-patch+json");
  await eventually(async () => expect(await bundles()).toEqual(["TWO\nONE"]));
  expect(repaired).toEqual(["ValidatingWebhookConfiguration"]);
  await transport.request({ method: "DELETE", path: path("validating") });
  await eventually(async () => expect(await find("validating")).toBeDefined());
  await eventually(() => expect(repaired).toHaveLength(2));
});

test("authorities that somebody else injects are left alone", async () => {
  const { bundles, certificates, patch, path, registration } = await world();
  certificates.set({ cert: "c", key: "k", authorities: undefined });
  await using kept = registration();
  kept.set(answers(declared("pod")));
  await kept.inForce(never);
  const value = Buffer.from("THEIRS").toString("base64");
  const injected = [{ op: "add", path: "/webhooks/0/clientConfig/caBundle", value }];
  await patch(path("validating"), injected, "application/json-patch+json");
  kept.set(answers(declared("pod"), declared("secret")));
  await kept.inForce(never);
  expect(await bundles()).toEqual(["THEIRS", ""]);
});

test("what is registered for modules that do not run stays, with authorities that are trusted", async () => {
  const { bundles, certificates, find, registration } = await world();
  {
    await using before = registration();
    before.set(answers(declared("pod"), declared("secret")));
    await before.inForce(never);
  }
  certificates.set({ cert: "c", key: "k", authorities: "TWO" });
  await using kept = registration();
  kept.set({ ...answers(declared("pod")), keepsOthers: true });
  await kept.inForce(never);
  expect((await find("validating"))?.webhooks).toHaveLength(2);
  expect(await bundles()).toEqual(["TWO", "TWO"]);
  await kept.withdraw([declared("pod").path], never);
  expect((await find("validating"))?.webhooks.map(({ name }) => name)).toEqual(["secret.core.binnacle.dev"]);
  kept.set(answers(declared("pod")));
  await kept.inForce(never);
  expect((await find("validating"))?.webhooks.map(({ name }) => name)).toEqual(["pod.core.binnacle.dev"]);
});

test("a replica that does not lead writes nothing, and waits for the leader before it answers less", async () => {
  const { find, registration } = await world();
  const listeners = new Set<(isLeader: boolean) => void>();
  let isLeader = false;
  const following: Leadership = {
    refused: undefined,
    get isLeader() {
      return isLeader;
    },
    onChange: (listener) => {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
  };
  await using leader = registration();
  await using follower = registration({ leadership: following });
  follower.set(answers(declared("pod")));
  await Bun.sleep(20);
  expect(await find("validating")).toBeUndefined();
  leader.set(answers(declared("pod")));
  await leader.inForce(never);
  const waiting = follower.withdraw([declared("pod").path], never).then(() => "done");
  expect(await Promise.race([waiting, Bun.sleep(50)])).toBeUndefined();
  await leader.withdraw([declared("pod").path], never);
  expect(await waiting).toBe("done");

  follower.set(answers(declared("secret")));
  isLeader = true;
  for (const listener of listeners) listener(true);
  await eventually(async () => expect((await find("validating"))?.webhooks).toHaveLength(1));
});

test("a registration by URL is this process's: it is marked, ignores failures, and is removed at the end", async () => {
  const { find, registration } = await world();
  const clock = { now: () => Date.parse("2026-01-01T00:00:00Z") };
  const target = { url: "https://172.18.0.1:9443" };
  const owner = ownerMark(clock, { host: "desk", pid: 7, began: 70 });
  await using kept = registration({ target, owner, failurePolicy: "Ignore", ownNamespaces: [] });
  kept.set(answers(declared("pod")));
  await kept.inForce(never);
  const found = await find("validating");
  expect(found?.metadata.annotations).toEqual({
    "binnacle.dev/owner": "desk/7/70",
    "binnacle.dev/expires": "2026-01-01T00:05:00.000Z",
  });
  expect(found?.metadata.labels?.["binnacle.dev/webhooks"]).toBe("process");
  expect(found?.webhooks[0]).toMatchObject({
    clientConfig: { url: "https://172.18.0.1:9443/validating--v1-pod" },
    failurePolicy: "Ignore",
  });
  await kept.end(never);
  expect(await find("validating")).toBeUndefined();
});

test("a registration that replicas share stays at the end", async () => {
  const { find, registration } = await world();
  {
    await using kept = registration();
    kept.set(answers(declared("pod")));
    await kept.inForce(never);
    await kept.end(never);
  }
  expect(await find("validating")).toBeDefined();
});

test("authorities are injected into CustomResourceDefinitions that this binary converts, and into no others", async () => {
  const { certificates, patch, registration, transport } = await world();
  const crd = (plural: string, service: object) => ({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.a.io` },
    spec: {
      group: "a.io",
      scope: "Namespaced",
      names: { plural, singular: plural.slice(0, -1), kind: `K${plural}`, listKind: `K${plural}List` },
      versions: ["v1", "v2"].map((name) => ({
        name,
        served: true,
        storage: name === "v1",
        schema: { openAPIV3Schema: { type: "object" } },
      })),
      conversion: {
        strategy: "Webhook",
        webhook: { conversionReviewVersions: ["v1"], clientConfig: { service: { ...service, path: "/convert" } } },
      },
    },
  });
  await transport.request({ method: "POST", path: CRDS, body: crd("ours", { namespace: "shop", name: "hook" }) });
  await transport.request({ method: "POST", path: CRDS, body: crd("theirs", { namespace: "shop", name: "other" }) });
  type Converted = { spec: { conversion: { webhook: { clientConfig: { caBundle?: string } } } } };
  const bundle = async (name: string) => {
    const found = await transport.request<Converted>({ method: "GET", path: `${CRDS}/${name}.a.io` });
    return Buffer.from(found.spec.conversion.webhook.clientConfig.caBundle ?? "", "base64").toString();
  };
  // The API server requires PEM here.
  const { cert } = createAuthority("webhooks");
  certificates.set({ cert: "c", key: "k", authorities: cert });
  await using kept = registration();
  kept.set({ webhooks: [], converted: ["ours.a.io", "theirs.a.io", "absent.a.io"], keepsOthers: false });
  await kept.inForce(never);
  expect([await bundle("ours"), await bundle("theirs")]).toEqual([cert, ""]);
  await patch(`${CRDS}/ours.a.io`, { spec: { conversion: { webhook: { clientConfig: { caBundle: null } } } } });
  await eventually(async () => expect(await bundle("ours")).toBe(cert));
});

test("where somebody else applies the configurations, the authorities are injected and nothing else is done", async () => {
  const { bundles, certificates, find, path, patch, registration, transport } = await world();
  certificates.set({ cert: "c", key: "k", authorities: undefined });
  {
    await using theirs = registration();
    theirs.set(answers(declared("pod"), declared("secret")));
    await theirs.inForce(never);
  }
  certificates.set({ cert: "c", key: "k", authorities: "ONE" });
  await using kept = registration({ injectsOnly: true });
  kept.set(answers(declared("pod"), declared("pod", "mutating")));
  await kept.inForce(never);
  expect(await bundles()).toEqual(["ONE", "ONE"]);
  expect(await find("mutating")).toBeUndefined();
  const empty = [{ op: "remove", path: "/webhooks/1/clientConfig/caBundle" }];
  await patch(path("validating"), empty, "application/json-patch+json");
  await eventually(async () => expect(await bundles()).toEqual(["ONE", "ONE"]));
  await kept.withdraw([declared("pod").path], never);
  expect((await find("validating"))?.webhooks).toHaveLength(2);
  await transport.request({ method: "DELETE", path: path("validating") });
  await kept.inForce(never);
  expect(await find("validating")).toBeUndefined();
});

/** A leadership that a test gives and takes. */
class Turn implements Leadership {
  #isLeader = false;
  readonly #listeners = new Set<(isLeader: boolean) => void>();

  get isLeader(): boolean {
    return this.#isLeader;
  }

  get refused(): string | undefined {
    return this.#isLeader ? undefined : "this process is not the leader";
  }

  onChange(listener: (isLeader: boolean) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  set(isLeader: boolean): void {
    this.#isLeader = isLeader;
    for (const listener of this.#listeners) listener(isLeader);
  }
}

test("of replicas with addresses of their own the one that leads is registered, and takes over from one that was killed", async () => {
  const { registration, find, transport } = await world();
  const name = "orders.shop.example.com";
  const version = (of: string) => ({
    name: of,
    served: true,
    storage: of === "v1",
    schema: { openAPIV3Schema: { type: "object" } },
  });
  const crd = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name, annotations: { "binnacle.dev/converted-by": "elsewhere/1/2" } },
    spec: {
      group: "shop.example.com",
      names: { kind: "Order", listKind: "OrderList", plural: "orders", singular: "order" },
      scope: "Namespaced",
      versions: [version("v1"), version("v2")],
      conversion: {
        strategy: "Webhook",
        webhook: { clientConfig: { url: "https://first:9443/convert" }, conversionReviewVersions: ["v1"] },
      },
    },
  };
  await transport.request({ method: "POST", path: CRDS, body: crd });
  const convertedAt = async (): Promise<string | undefined> => {
    const live = await transport.request<typeof crd>({ method: "GET", path: `${CRDS}/${name}` });
    return live.spec.conversion.webhook.clientConfig.url;
  };
  const addressOf = async () => (await find("validating"))?.webhooks[0]?.clientConfig.url;
  const replica = (host: string, leadership: Turn) =>
    registration({
      leadership,
      owner: ownerMark(systemClock),
      target: { url: `https://${host}:9443` },
      ownNamespaces: [],
    });
  const [first, second] = [new Turn(), new Turn()];
  await using one = replica("first", first);
  await using two = replica("second", second);
  first.set(true);
  for (const each of [one, two]) each.set({ ...answers(declared("pod")), converted: [name] });
  await eventually(async () => expect(await addressOf()).toMatch(/^https:\/\/first:9443\//));
  expect(await convertedAt()).toBe("https://first:9443/convert");
  first.set(false); // as one that was killed
  second.set(true);
  await eventually(async () => expect(await addressOf()).toMatch(/^https:\/\/second:9443\//));
  await eventually(async () => expect(await convertedAt()).toBe("https://second:9443/convert"));
  // A Service that somebody applies beside the mark stays.
  const clientConfig = { url: null, service: { namespace: "shop", name: "hook", path: "/convert", port: 443 } };
  const body = { spec: { conversion: { webhook: { clientConfig } } } };
  await transport.request({
    method: "PATCH",
    path: `${CRDS}/${name}`,
    contentType: "application/merge-patch+json",
    body,
  });
  two.set({ ...answers(declared("pod")), converted: [name] });
  await two.inForce(AbortSignal.timeout(5_000));
  expect(await convertedAt()).toBeUndefined();
  // The end of a process that does not lead removes nothing, and that of the leader what is registered.
  await one.end(AbortSignal.timeout(5_000));
  expect(await addressOf()).toBeDefined();
  await two.end(AbortSignal.timeout(5_000));
  expect(await find("validating")).toBeUndefined();
});
