import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type RunningApiServer, startApiServer } from "./start-api-server.ts";

const folder = mkdtempSync(join(tmpdir(), "binnacle-environment-"));
afterAll(() => rmSync(folder, { recursive: true }));

const widget = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {size: {type: integer, minimum: 1}}}}
`;

function file(name: string, text: string): string {
  const path = join(folder, name);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, text);
  return path;
}

async function get(server: RunningApiServer, path: string, token?: string): Promise<number> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const { status } = await fetch(server.url + path, { headers, tls: { ca: server.authority } } as BunFetchRequestInit);
  return status;
}

describe("startApiServer", () => {
  file(
    "crd/bases/widgets.yaml",
    `---\n${widget}---\n# nothing\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: no}\n`,
  );
  const namespace = file("objects/b.yml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n");
  file(
    "objects/a.json",
    JSON.stringify({
      apiVersion: "v1",
      kind: "List",
      items: [{ apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "w", namespace: "shop" }, size: 3 }],
    }),
  );

  test("has the kinds of its definitions and its objects when it is ready, and removes its kubeconfig", async () => {
    const kubeconfigFile = join(folder, "kubeconfig");
    const server = await startApiServer({
      crds: `${folder}/crd/**/*.yaml`,
      objects: [
        pathToFileURL(join(folder, "objects")),
        { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" } },
      ],
      kubeconfigFile,
    });
    try {
      expect(await get(server, "/apis/example.com/v1/namespaces/shop/widgets/w", server.token)).toBe(200);
      expect(await get(server, "/api/v1/namespaces/default/configmaps/c", server.token)).toBe(200);
      expect(await get(server, "/api/v1/namespaces/default/configmaps/no", server.token)).toBe(404);
      expect(statSync(kubeconfigFile).mode & 0o777).toBe(0o600);
      const [applied] = await server.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "more" } });
      expect(applied?.metadata.uid).toBeString();
      const answer = await server.fetch(new Request("https://server/api/v1/namespaces/more"));
      expect(answer.status).toBe(200);
    } finally {
      await server.stop();
    }
    expect(existsSync(kubeconfigFile)).toBe(false);
  });

  test("has users who may do what roles say", async () => {
    await using server = await startApiServer();
    const jane = server.addUser("jane", ["readers"]);
    expect(await get(server, "/api/v1/pods", jane.token)).toBe(403);
    const binding = {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRoleBinding",
      metadata: { name: "readers" },
      roleRef: {
        apiGroup: "rbac.authorization.k8s.io",
        kind: "ClusterRole",
        name: "system:controller:namespace-controller",
      },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "readers" }],
    };
    await server.apply(binding);
    expect(await get(server, "/api/v1/pods", jane.token)).toBe(200);
    expect(jane.kubeconfig).toContain(jane.token);
    expect(await get(server, "/api/v1/pods")).toBe(401);
  });

  test("says which file or object is wrong, and leaves no server", async () => {
    const failure = async (options: Parameters<typeof startApiServer>[0]): Promise<string> =>
      startApiServer(options).then(
        () => "none",
        (error: Error) => error.message,
      );
    expect(await failure({ crds: join(folder, "absent") })).toBe(
      `Cannot read ${join(folder, "absent")}: there is no such file`,
    );
    expect(await failure({ crds: `${folder}/*/none-*.yaml` })).toEndWith("no file matches");
    const broken = file("broken.yaml", "a: [\n");
    expect(await failure({ objects: broken })).toStartWith(`Cannot read ${broken}: yaml: line `);
    const unknown = { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "w" } };
    expect(await failure({ objects: unknown })).toBe(
      "Cannot apply Widget 'w': the server has no kind Widget in example.com/v1; apply its definition, too",
    );
    const refused = file("refused.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: Shop}\n");
    expect(await failure({ objects: [namespace, refused] })).toStartWith(
      `Cannot apply Namespace 'Shop' of ${refused}: `,
    );
    expect(await failure({ host: "0.0.0.0" })).toContain("other machines reach 0.0.0.0");
    expect(await failure({ signal: AbortSignal.abort(new Error("too late")) })).toBe("too late");
  });

  test("serves other machines by any of its addresses and by further names", async () => {
    await using server = await startApiServer({ host: "0.0.0.0", remote: true, names: ["Api.test"] });
    expect(server.url).toStartWith("https://127.0.0.1:");
    expect(await get(server, "/api/v1/pods", server.token)).toBe(200);
    const headers = { host: "api.test", authorization: `Bearer ${server.token}` };
    const tls = { ca: server.authority, serverName: "api.test" };
    const named = await fetch(`${server.url}/api`, { headers, tls } as BunFetchRequestInit);
    expect(named.status).toBe(200);
  });

  test("ends with its signal", async () => {
    const end = new AbortController();
    const server = await startApiServer({ signal: end.signal });
    end.abort();
    await server.stop();
    expect(get(server, "/readyz")).rejects.toThrow();
  });

  test("leads webhooks to this machine, those of its objects and those that convert", async () => {
    const clientConfig = { service: { namespace: "system", name: "webhooks", path: "/deny" } };
    await using server = await startApiServer({
      webhooks: {
        manifests: {
          apiVersion: "admissionregistration.k8s.io/v1",
          kind: "ValidatingWebhookConfiguration",
          metadata: { name: "deny" },
          webhooks: [
            {
              name: "deny.example.com",
              clientConfig,
              rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
              sideEffects: "None",
              admissionReviewVersions: ["v1"],
            },
          ],
        } as object as { apiVersion: string; kind: string },
      },
    });
    const { host, port, cert, key } = server.webhooks!;
    const paths: string[] = [];
    const program = createServer({ cert, key }, (request, response) => {
      paths.push(request.url!.split("?")[0]!);
      const chunks: Buffer[] = [];
      request
        .on("data", (chunk: Buffer) => chunks.push(chunk))
        .on("end", () => {
          const { request: review } = JSON.parse(Buffer.concat(chunks).toString()) as { request: { uid: string } };
          const answer = { uid: review.uid, allowed: false, status: { message: "not today" } };
          const body = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response: answer };
          response.setHeader("content-type", "application/json").end(JSON.stringify(body));
        });
    });
    await new Promise<void>((resolve) => program.listen(port, host, resolve));
    try {
      expect((program.address() as AddressInfo).port).toBe(port);
      const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" } };
      const refusal = await server.apply(map).catch((error: Error) => error.message);
      expect(refusal).toContain("not today");
      expect(paths).toEqual(["/deny"]);
      const [definition] = await server.apply({
        ...(JSON.parse(JSON.stringify(Bun.YAML.parse(widget))) as { apiVersion: string; kind: string; spec: object }),
        spec: {
          ...(Bun.YAML.parse(widget) as { spec: object }).spec,
          conversion: { strategy: "Webhook", webhook: { conversionReviewVersions: ["v1"], clientConfig } },
        },
      } as { apiVersion: string; kind: string });
      const { conversion } = definition!["spec"] as { conversion: { webhook: { clientConfig: { url: string } } } };
      expect(conversion.webhook.clientConfig.url).toBe(`https://${host}:${port}/deny`);
    } finally {
      program.close();
    }
  });
});
