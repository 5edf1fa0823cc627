import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { cli } from "./cli.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "webhook-manifests-"));
  for (const name of ["policy", "plain"]) mkdirSync(join(folder, name));
  writeFileSync(
    join(folder, "policy/policy.ts"),
    `import { defineWebhook } from "binnacle";
    import { Pod } from "binnacle/resources";
    export const policy = defineWebhook({ for: Pod, failurePolicy: "Ignore", default() {}, validate() {} });`,
  );
  writeFileSync(
    join(folder, "plain/plain.ts"),
    `import { defineKeyController } from "binnacle"; export default defineKeyController({ name: "a", async reconcile() {} });`,
  );
});
afterAll(() => rmSync(folder, { recursive: true }));

/** A manifest, as far as it is looked at here. */
interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly annotations?: object };
  readonly webhooks?: readonly { readonly clientConfig: object; readonly failurePolicy: string }[];
  readonly spec?: unknown;
  readonly rules?: readonly {
    readonly resources: string[];
    readonly resourceNames?: string[];
    readonly verbs: string[];
  }[];
}

async function print(line: string, from = "policy") {
  let [out, err] = ["", ""];
  const index = await import("../index.ts");
  const resources = await import("../resource/builtin/index.ts");
  const status = await cli(
    ["manifests", ...line.split(" "), "--name", "binnacle", "--controllers", join(folder, from)],
    {
      embedded: {
        version: "1",
        offered: () => Promise.resolve({ binnacle: index, "binnacle/resources": resources }),
        sdk: () => Promise.resolve(undefined),
        source: undefined,
      },
      env: {},
      out: (text) => void (out += text),
      err: (text) => void (err += text),
    },
  );
  const documents = parseAllDocuments(out, { version: "1.1" }).map((one) => one.toJS() as Manifest);
  return { status, err, documents };
}

const names = (documents: readonly Manifest[]) =>
  documents.map(({ kind, metadata }) => [kind, metadata.namespace, metadata.name].filter(Boolean).join(" "));

test("manifests webhooks prints the configurations and the Service", async () => {
  const { documents, status } = await print("webhooks --webhook-service shop/hook");
  expect(status).toBe(0);
  expect(names(documents)).toEqual([
    "MutatingWebhookConfiguration hook.shop",
    "ValidatingWebhookConfiguration hook.shop",
    "Service shop hook",
  ]);
  expect(documents[1]?.webhooks?.[0]).toMatchObject({
    clientConfig: { service: { namespace: "shop", name: "hook", path: "/validate--v1-pod", port: 443 } },
    failurePolicy: "Ignore",
  });
  expect(documents[2]?.spec).toEqual({
    selector: { "app.kubernetes.io/name": "binnacle" },
    ports: [{ name: "webhook", port: 443, targetPort: "webhook" }],
  });
});

test("manifests webhooks for a process outside the cluster prints URLs and no Service", async () => {
  const { documents } = await print("webhooks --webhook-host 10.0.0.1");
  expect(names(documents)).toEqual([
    "MutatingWebhookConfiguration binnacle",
    "ValidatingWebhookConfiguration binnacle",
  ]);
  expect(documents[0]?.webhooks?.[0]?.clientConfig).toEqual({ url: "https://10.0.0.1:9443/mutate--v1-pod" });
});

test("manifests webhooks lets cert-manager inject its authority", async () => {
  const { documents } = await print("webhooks --inject-ca-from shop/hook");
  expect(documents[0]?.metadata.annotations).toEqual({ "cert-manager.io/inject-ca-from": "shop/hook" });
});

test("manifests webhooks says that there are none", async () => {
  const { status, err } = await print("webhooks", "plain");
  expect(status).toBe(1);
  expect(err).toContain("no module exports what defineWebhook returns");
});

test("manifests rbac grants the registration by name, and the Secret where the Service is", async () => {
  const { documents } = await print("rbac --webhook-service shop/hook");
  const cluster = documents.find(({ kind }) => kind === "ClusterRole");
  expect(cluster?.rules).toContainEqual({
    apiGroups: ["admissionregistration.k8s.io"],
    resources: ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"],
    resourceNames: ["hook.shop"],
    verbs: ["get", "watch", "create", "patch", "delete"],
  } as never);
  const role = documents.find(({ kind, metadata }) => kind === "Role" && metadata.namespace === "shop");
  expect(role?.rules).toEqual([
    { apiGroups: [""], resources: ["secrets"], verbs: ["create"] },
    { apiGroups: [""], resources: ["secrets"], resourceNames: ["hook-webhook-tls"], verbs: ["get", "watch", "update"] },
  ] as never);
  expect(JSON.stringify((await print("rbac", "plain")).documents)).not.toMatch(/webhook|secrets/);
});

test("manifests deploy serves and registers webhooks, with a Service in front", async () => {
  const { documents } = await print("deploy --image b --leader-elect=module");
  expect(names(documents)).toContain("Service binnacle-system binnacle");
  const deployment = documents.find(({ kind }) => kind === "Deployment")!;
  const text = JSON.stringify(deployment);
  expect(text).toContain('"--webhook-service=binnacle-system/binnacle","--register-webhooks"');
  expect(text).toContain('{"name":"webhook","containerPort":9443}');
  const other = JSON.stringify((await print("deploy --image b --webhook-service shop/hook:8443")).documents);
  expect(other).toContain('"--webhook-service=shop/hook:8443"');
  expect(other).toContain('{"name":"webhook","port":8443,"targetPort":"webhook"}');
  const leases = documents
    .flatMap(({ rules = [] }) => rules)
    .find(({ resourceNames = [] }) => resourceNames.includes("binnacle-policy"));
  expect(leases?.resourceNames).toHaveLength(2);
  expect(JSON.stringify((await print("deploy --image b", "plain")).documents)).not.toContain("webhook");
});

test("check says about which objects webhooks are not asked, although they do not say so", async () => {
  const checked = async (more: readonly string[]): Promise<string> => {
    let out = "";
    const index = await import("../index.ts");
    const resources = await import("../resource/builtin/index.ts");
    await cli(["check", "--no-types", "--controllers", join(folder, "policy"), ...more], {
      embedded: {
        version: "1",
        offered: () => Promise.resolve({ binnacle: index, "binnacle/resources": resources }),
        sdk: () => Promise.resolve(undefined),
        source: undefined,
      },
      env: {},
      out: (text) => void (out += text),
      err: () => {},
    });
    return out;
  };
  expect(await checked(["--webhook-service=shop/hook"])).toContain(
    "note: webhook pod is not asked about objects in shop, where its Service is\n",
  );
  expect(await checked(["--webhook-host=10.0.0.1"])).not.toContain("note:");
});
