import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { assets, type ControlPlane, lendPlane } from "../../../tests/support/control-plane.ts";
import { resource } from "../../resource/handle.ts";
import { isForbidden, isUnauthorized, isUnreachable } from "../errors/api-error.ts";
import { loadKubeconfig } from "../config/kubeconfig.ts";
import { listPages } from "../api/list.ts";
import { collectionPath, objectPath, RestMapper, type Mapping } from "../api/mapper.ts";
import { createTransport, type Transport } from "./transport.ts";
import { watch } from "../api/watch.ts";

const bin = await assets();

describe.skipIf(!bin)("kube against a real kube-apiserver", () => {
  let controlPlane: ControlPlane;
  let transport: Transport;
  let configMaps: Mapping;
  const stack = new AsyncDisposableStack();

  beforeAll(async () => {
    controlPlane = stack.use(await lendPlane(false));
    transport = await connect(controlPlane.kubeconfig);
    configMaps = await new RestMapper(transport).resolve(resource("v1", "ConfigMap"));
  });
  afterAll(() => stack.disposeAsync());

  async function connect(kubeconfig: string): Promise<Transport> {
    const made = createTransport(await loadKubeconfig({ kubeconfig }), { switches: { http2: true } });
    stack.defer(() => made.close());
    return made;
  }

  function create(name: string): Promise<{ metadata: { resourceVersion: string } }> {
    const path = collectionPath(configMaps, "default");
    return transport.request({
      method: "POST",
      path,
      body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name } },
    });
  }

  test("a refusal keeps the id under which the server's audit log has it", async () => {
    const path = objectPath(configMaps, { namespace: "default", name: "none" });
    const error = await transport.request({ method: "GET", path }).catch((refused: unknown) => refused);
    expect((error as { auditId?: string }).auditId).toMatch(/^[0-9a-f-]{36}$/);
  });

  test("listPages and watch give every object and every change once, in order", async () => {
    const names = Array.from({ length: 25 }, (_, i) => `page-${String(i).padStart(2, "0")}`);
    for (const name of names) await create(name);
    const path = collectionPath(configMaps, "default");
    const listed: string[] = [];
    const { resourceVersion, pages } = await listPages<{ kind: string; metadata: { name: string } }>(transport, {
      path,
      limit: 10,
      onPage: (items) => void listed.push(...items.map(({ kind, metadata }) => `${kind} ${metadata.name}`)),
    });
    expect(pages).toBe(3);
    expect(listed.filter((name) => name.includes("page-"))).toEqual(names.map((name) => `ConfigMap ${name}`));
    const seen: string[] = [];
    const controller = new AbortController();
    const { promise: done, resolve } = Promise.withResolvers<void>();
    const watching = watch(transport, {
      path,
      resourceVersion,
      signal: controller.signal,
      onEvent: (type, { metadata }) => {
        seen.push(`${type} ${metadata.name}`);
        if (type === "DELETED") resolve();
      },
    }).catch((error: unknown) => error);
    await create("watched");
    const key = { namespace: "default", name: "watched" };
    const patch = {
      method: "PATCH",
      path: objectPath(configMaps, key),
      contentType: "application/merge-patch+json",
    } as const;
    await transport.request({ ...patch, body: { data: { long: "ü".repeat(400_000) } } });
    await transport.request({ method: "DELETE", path: objectPath(configMaps, key) });
    await done;
    controller.abort("enough");
    expect(await watching).toBe("enough");
    expect(seen.filter((line) => !line.startsWith("BOOKMARK"))).toEqual([
      "ADDED watched",
      "MODIFIED watched",
      "DELETED watched",
    ]);
  });

  test("a streaming list ends with the bookmark that says so", async () => {
    const controller = new AbortController();
    let added = 0;
    const ended = await watch(transport, {
      path: collectionPath(configMaps),
      sendInitialEvents: true,
      signal: controller.signal,
      onEvent: (type, { metadata }) => {
        if (type === "ADDED") added++;
        if (type === "BOOKMARK" && metadata.annotations?.["k8s.io/initial-events-end"] === "true")
          controller.abort("end");
      },
    }).catch((reason: unknown) => reason);
    expect(ended).toBe("end");
    expect(added).toBeGreaterThan(25);
  });

  test("a forbidden request says who may not do what, and what would allow it", async () => {
    const jane = await connect(await controlPlane.userKubeconfig("jane"));
    const path = "/apis/apps/v1/namespaces/shop/deployments/web/scale";
    const error = await jane.request({ method: "PUT", path, body: {} }).catch((thrown: unknown) => thrown);
    expect(isForbidden(error)).toBe(true);
    expect(String(error)).toBe(
      'ApiError: Cannot update deployments.apps/scale shop/web: Forbidden (403): deployments.apps "web" is forbidden: User "jane" ' +
        'cannot update resource "deployments/scale" in API group "apps" in the namespace "shop". Grant it in a Role: ' +
        'apiGroups ["apps"], resources ["deployments/scale"], verbs ["update"]',
    );
  });

  test("a token that is wrong is refused with 401", async () => {
    const { server, tls } = await loadKubeconfig({ kubeconfig: controlPlane.kubeconfig });
    const config = {
      server,
      context: "c",
      user: "u",
      namespace: "default",
      tls: { ...tls, cert: undefined, key: undefined },
    };
    const headers = { authorization: "Bearer wrong" };
    const wrong = createTransport({ ...config, headers: () => headers, reload: async () => false });
    stack.defer(() => wrong.close());
    expect(await wrong.request({ method: "GET", path: "/api/v1/pods" }).catch(isUnauthorized)).toBe(true);
  });

  test("200 watches take three sessions, and a GET beside them is answered at once", async () => {
    const controller = new AbortController();
    let open = 0;
    const { promise: all, resolve } = Promise.withResolvers<void>();
    const watches = Array.from({ length: 200 }, () =>
      watch(transport, {
        path: collectionPath(configMaps),
        signal: controller.signal,
        onOpen: () => void (++open === 200 && resolve()),
        onEvent() {},
      }).catch(() => {}),
    );
    await all;
    expect(transport.stats).toMatchObject({ sessions: 3, streams: 200 });
    // On a session with 100 watches it would wait until one of them ends.
    await transport.request({ method: "GET", path: "/api/v1/namespaces/default" });
    controller.abort();
    await Promise.all(watches);
  });

  test("a killed server is noticed at once, and again when it is back on its port", async () => {
    const controller = new AbortController();
    const { promise: open, resolve } = Promise.withResolvers<void>();
    const path = collectionPath(configMaps);
    const cut = watch(transport, { path, signal: controller.signal, onOpen: resolve, onEvent() {} }).catch(
      isUnreachable,
    );
    await open;
    await controlPlane.kill("kube-apiserver");
    expect(await cut).toBe(true);
    expect(await transport.request({ method: "GET", path }).catch(isUnreachable)).toBe(true);
    const back = transport.reachability.wait(AbortSignal.timeout(60_000));
    await controlPlane.restart("kube-apiserver");
    await back;
    await transport.request({ method: "GET", path });
    expect(transport.reachability.reachable).toBe(true);
  }, 180_000);
});
