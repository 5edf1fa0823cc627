/** What `manifests deploy` prints, and what it writes for kustomize and Helm; `npm run test:node` runs all three on a cluster. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { cli } from "../cli.ts";
import { handleSource } from "../handle-source.ts";

let folder: string;
const MODULES: Readonly<Record<string, string>> = {
  "shop/parcel.ts": `
    import { defineController, defineResource, z } from "binnacle";
    import { ConfigMap } from "binnacle/resources";
    export const Parcel = defineResource({ group: "a.b", version: "v1", kind: "Parcel",
      spec: z.object({ to: z.string().describe("Such as {{ .Values.to }}") }) });
    export const parcel = defineController({ for: Parcel, owns: [ConfigMap], async reconcile() {} });`,
  "hooked/policy.ts": `
    import { defineWebhook } from "binnacle";
    import { Pod } from "binnacle/resources";
    export const policy = defineWebhook({ for: Pod, validate() {} });`,
  "packages/small.ts": `
    import { defineKeyController } from "binnacle";
    import { pad } from "./_size.ts";
    export default defineKeyController({ name: pad("small"), async reconcile() {} });`,
  "packages/_size.ts": `import pad from "tiny-pad"; export { pad };`,
  "native/metal.ts": `
    import { defineKeyController } from "binnacle";
    import addon from "tiny-metal";
    export default defineKeyController({ name: addon.name ?? "metal", async reconcile() {} });`,
  "prebuilt/fast.ts": `
    import { defineKeyController } from "binnacle";
    import { name } from "tiny-fast";
    export default defineKeyController({ name, async reconcile() {} });`,
  "huge/huge.ts": `
    import { defineKeyController } from "binnacle";
    export default defineKeyController({ name: "huge", async reconcile() {} });
    export const text = "${"x".repeat(1_100_000)}";`,
  "large/large.ts": `
    import { defineKeyController } from "binnacle";
    export default defineKeyController({ name: "large", async reconcile() {} });
    export const text = "${"x".repeat(300_000)}";`,
  "alike/a/index.ts": `
    import { defineKeyController } from "binnacle";
    import { name } from "./b.ts";
    export default defineKeyController({ name, async reconcile() {} });`,
  "alike/a/b.ts": `export const name = "one";`,
  "alike/a__b.ts": `
    import { defineKeyController } from "binnacle";
    export default defineKeyController({ name: "two", async reconcile() {} });`,
  "elsewhere/controllers/certs.ts": `
    import { defineController } from "binnacle";
    import { Certificate } from "../types/cert-manager.io/certificate.ts";
    export default defineController({ name: "certs", for: Certificate, async reconcile() {} });`,
  "elsewhere/controllers/own.ts": `
    import { defineKeyController } from "binnacle";
    export default defineKeyController({ name: "own", async reconcile() {} });`,
  "elsewhere/types/cert-manager.io/certificate.ts": handleSource({
    group: "cert-manager.io",
    version: "v1",
    kind: "Certificate",
    plural: "certificates",
    scope: "Namespaced",
    schema: {
      type: "object",
      properties: { spec: { type: "object", properties: { secretName: { type: "string" } } } },
    },
  }),
  "node_modules/tiny-pad/package.json": `{ "name": "tiny-pad", "version": "1.0.0", "main": "index.js" }`,
  "node_modules/tiny-pad/index.js": `module.exports = (text) => text + "-padded" + (process.env.NODE_ENV === "production" ? "!" : "");`,
  "node_modules/tiny-fast/package.json": `{ "name": "tiny-fast", "version": "1.0.0", "main": "index.js", "gypfile": true }`,
  "node_modules/tiny-fast/index.js": `exports.name = "fast"; exports.load = (path) => require(path);`,
  "node_modules/tiny-metal/package.json": `{ "name": "tiny-metal", "version": "1.0.0", "main": "index.js" }`,
  "node_modules/tiny-metal/index.js": `exports.load = () => require("./metal.node"); exports.name = "metal";`,
  "node_modules/tiny-metal/metal.node": "\u007fELF",
};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "deploy-"));
  for (const [path, text] of Object.entries(MODULES)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

/** A manifest, as far as it is looked at here. */
interface Manifest {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly data?: Readonly<Record<string, string>>;
  readonly webhooks?: unknown;
  readonly rules?: readonly { readonly resources?: readonly string[]; readonly verbs: readonly string[] }[];
  readonly spec?: any; // oxlint-disable-line typescript/no-explicit-any -- of any kind
}

interface AlertGroup {
  readonly rules: readonly {
    readonly alert: string;
    readonly expr: string;
    readonly labels: object;
    readonly annotations: object;
  }[];
}

interface Dashboard {
  readonly title: string;
  readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[];
}

async function run(line: string, from = "shop", what = "deploy") {
  let [out, err] = ["", ""];
  const index = await import("../../index.ts");
  const resources = await import("../../resource/builtin/index.ts");
  const named = line.includes("--service-account") ? [] : ["--name", "binnacle"];
  const status = await cli(["manifests", what, "--controllers", join(folder, from), ...named, ...line.split(" ")], {
    embedded: {
      version: "1.2.3",
      offered: () => Promise.resolve({ binnacle: index, "binnacle/resources": resources }),
      sdk: () => Promise.resolve(undefined),
      source: undefined,
    },
    env: {},
    out: (text) => void (out += text),
    err: (text) => void (err += text),
  });
  return { status, out, err: err.replaceAll(folder, "DIR") };
}

async function print(line: string, from?: string): Promise<readonly Manifest[]> {
  const { out, err, status } = await run(line, from);
  expect([status, err]).toEqual([0, ""]);
  return documents(out);
}

function documents(text: string): readonly Manifest[] {
  return parseAllDocuments(text, { version: "1.1" }).map((one) => one.toJS() as Manifest);
}

function one(all: readonly Manifest[], kind: string): Manifest {
  const found = all.find((manifest) => manifest.kind === kind);
  if (found === undefined) throw new Error(`There is no ${kind} among ${all.map((manifest) => manifest.kind).join()}`);
  return found;
}

describe("printed", () => {
  test("in an order in which each finds what it needs, with labels on everything", async () => {
    const all = await print("--base-image b --service-monitor --network-policy");
    expect(all.map(({ kind }) => kind)).toEqual([
      "Namespace",
      "CustomResourceDefinition",
      "ServiceAccount",
      "ClusterRole",
      "ClusterRoleBinding",
      "Role",
      "RoleBinding",
      "ConfigMap",
      "NetworkPolicy",
      "Service",
      "ServiceMonitor",
      "Deployment",
      "PodDisruptionBudget",
    ]);
    for (const { metadata } of all) expect(metadata.labels).toMatchObject({ "app.kubernetes.io/name": "binnacle" });
  });

  test("the namespace takes restricted pods alone, and the pod is one", async () => {
    const all = await print("--base-image b");
    expect(one(all, "Namespace").metadata.labels).toMatchObject({ "pod-security.kubernetes.io/enforce": "restricted" });
    const { spec } = one(all, "Deployment").spec.template;
    expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
    expect(spec.containers[0].securityContext).toEqual({
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"] },
      readOnlyRootFilesystem: true,
    });
    expect(spec.containers[0].terminationMessagePolicy).toBe("FallbackToLogsOnError");
  });

  test("namespaces that every cluster has are left as they are", async () => {
    for (const namespace of ["default", "kube-system"]) {
      const all = await print(`--base-image b --service-account ${namespace}/shop`);
      expect(all.map(({ kind }) => kind)).not.toContain("Namespace");
      expect(one(all, "Deployment").metadata.namespace).toBe(namespace);
    }
  });

  test("names of images and namespaces that cannot be are refused", async () => {
    for (const [line, said] of [
      ["--image b --namespace a,B", "--namespace is 'a,B': expected lower-case letters, digits and '-', at most 63"],
      ["--image team/Shop:1", "--image is 'team/Shop:1': 'team/Shop' has capital letters, which no registry takes"],
      [
        "--base-image b@sha256:1",
        "--base-image is 'b@sha256:1': its digest 'sha256:1' is not sha256: and 64 hexadecimal digits",
      ],
    ] as const) {
      expect(await run(line)).toEqual({ status: 2, out: "", err: `binnacle: ${said}\n` });
    }
  });

  test("probes wait for a busy process", async () => {
    const [container] = one(await print("--base-image b"), "Deployment").spec.template.spec.containers;
    const { startupProbe, livenessProbe, readinessProbe } = container;
    for (const probe of [startupProbe, livenessProbe, readinessProbe]) expect(probe.timeoutSeconds).toBe(5);
    expect(livenessProbe.periodSeconds * livenessProbe.failureThreshold).toBeGreaterThanOrEqual(60);
    expect(startupProbe.periodSeconds * startupProbe.failureThreshold).toBeGreaterThanOrEqual(60);
  });

  test("limits are those of the command line, and nothing asks for more than it may have", async () => {
    const resources = async (line: string) =>
      one(await print(`--base-image b ${line}`), "Deployment").spec.template.spec.containers[0].resources as unknown;
    expect(await resources("--memory-limit 128Mi --cpu-limit 5m")).toEqual({
      requests: { cpu: "5m", memory: "96Mi" },
      limits: { cpu: "5m", memory: "128Mi" },
    });
    expect(await resources("--memory-limit 0")).toEqual({ requests: { cpu: "10m", memory: "96Mi" } });
    for (const [flags, said] of [
      ["--memory-limit much", "--memory-limit is 'much': expected a quantity such as 256Mi, or 0 for no limit"],
      ["--memory-limit 16Mi", "--memory-limit is '16Mi': the process needs at least 96Mi"],
      ["--cpu-limit -1", "--cpu-limit is '-1': expected a quantity such as 500m, or 0 for no limit"],
    ] as const) {
      const { status, err } = await run(`--base-image b ${flags.replace(" ", "=")}`);
      expect([status, err]).toEqual([2, `binnacle: ${said}\n`]);
    }
  });

  test("the Service of secured metrics, and who may read them", async () => {
    const all = await print("--base-image b --metrics-secure --service-monitor --network-policy");
    const [endpoint] = one(all, "ServiceMonitor").spec.endpoints;
    expect(endpoint).toMatchObject({ port: "https", scheme: "https", tlsConfig: { insecureSkipVerify: true } });
    expect(one(all, "Service").spec.ports).toEqual([
      { name: "https", port: 8443, targetPort: "metrics", protocol: "TCP" },
    ]);
    expect(one(all, "NetworkPolicy").spec.ingress).toHaveLength(1);
  });

  test("--debug listens in the pod alone, with the right to ask whose a token is", async () => {
    const all = await print("--base-image b --debug --network-policy --metrics-service");
    const plain = await print("--base-image b --network-policy --metrics-service");
    const [container] = one(all, "Deployment").spec.template.spec.containers;
    const [other] = one(plain, "Deployment").spec.template.spec.containers;
    expect(container).toEqual({ ...other, args: [...other.args, "--debug-bind-address=127.0.0.1:8082"] });
    const rules = [{ apiGroups: ["authentication.k8s.io"], resources: ["tokenreviews"], verbs: ["create"] }];
    const role = one(plain, "ClusterRole");
    expect(one(all, "ClusterRole").rules).toEqual([...role.rules!, ...rules] as never);
    // Nothing else differs: no port, no Service, no hole in the policy.
    const isSame = ({ kind }: Manifest) => !["ClusterRole", "Deployment"].includes(kind);
    expect(all.filter(isSame)).toEqual(plain.filter(isSame));
    const inNamespaces = await run("--debug --namespace x", "shop", "rbac");
    expect(one(documents(inNamespaces.out), "ClusterRole").rules).toEqual(rules);
    const secure = one(await print("--base-image b --debug --metrics-secure"), "ClusterRole").rules!;
    expect(secure.filter(({ resources }) => resources?.includes("tokenreviews"))).toHaveLength(1);
  });

  test("--monitoring brings what `manifests monitoring` prints, about this operator alone, for it to be deployed with", async () => {
    const alone = await run("--metrics-secure", "shop", "monitoring");
    expect([alone.status, alone.err]).toEqual([0, ""]);
    const watching = documents(alone.out);
    expect(watching.map(({ kind, metadata: { name } }) => `${kind} ${name}`)).toEqual([
      "Service binnacle-metrics",
      "ServiceMonitor binnacle",
      "PrometheusRule binnacle",
      "ConfigMap binnacle-dashboard-controllers",
      "ConfigMap binnacle-dashboard-process",
    ]);
    const all = await print("--base-image b --metrics-secure --monitoring");
    for (const manifest of watching) expect(all).toContainEqual(manifest);
    const own = 'namespace="binnacle-system",job="binnacle-metrics"';
    expect(one(watching, "Service").metadata).toMatchObject({ namespace: "binnacle-system", name: "binnacle-metrics" });
    for (const { rules } of one(watching, "PrometheusRule").spec.groups as readonly AlertGroup[]) {
      for (const { alert, expr, labels, annotations } of rules) {
        expect(expr.match(/\{[^}]*\}/g)!.filter((selector) => !selector.includes(own))).toEqual([]);
        expect(labels).toMatchObject({ operator: "binnacle", severity: expect.stringMatching(/^(critical|warning)$/) });
        expect([alert, Object.keys(annotations)]).toEqual([
          expect.stringMatching(/^Binnacle/),
          ["summary", "description"],
        ]);
      }
    }
    for (const { metadata, data } of watching.slice(3)) {
      expect(metadata.labels).toMatchObject({ grafana_dashboard: "1" });
      const [text] = Object.values(data!);
      const { title, panels } = JSON.parse(text!) as Dashboard;
      expect(title).toStartWith("binnacle: ");
      expect(panels.length).toBeGreaterThan(5);
      for (const { targets } of panels) for (const { expr } of targets) expect(expr).toContain(`{${own},pod=~"$pod"}`);
    }
  });

  test("registrations of webhooks come empty: who deletes the manifests deletes them, and nobody makes them anew", async () => {
    const all = await print("--base-image b --network-policy", "hooked");
    const kinds = all.map(({ kind }) => kind);
    expect(one(all, "ValidatingWebhookConfiguration").metadata.name).toBe("binnacle.binnacle-system");
    expect(one(all, "ValidatingWebhookConfiguration").webhooks).toBeUndefined();
    expect(kinds).not.toContain("MutatingWebhookConfiguration");
    // The right to write them goes first.
    expect(kinds.indexOf("ClusterRoleBinding")).toBeLessThan(kinds.indexOf("ValidatingWebhookConfiguration"));
    const rule = one(all, "ClusterRole").rules?.find(({ resources }) =>
      resources?.includes("validatingwebhookconfigurations"),
    );
    expect(rule?.verbs).toEqual(["get", "watch", "patch", "delete"]);
    expect(one(all, "NetworkPolicy").spec.ingress[1]).toEqual({ ports: [{ port: 9443, protocol: "TCP" }] });
  });

  test("the NetworkPolicy lets in the API servers alone whose addresses are given", async () => {
    const all = await print(
      "--base-image b --network-policy --webhook-clients 10.0.0.0/28 --webhook-clients fd00::/64",
      "hooked",
    );
    expect(one(all, "NetworkPolicy").spec.ingress[1]).toEqual({
      from: [{ ipBlock: { cidr: "10.0.0.0/28" } }, { ipBlock: { cidr: "fd00::/64" } }],
      ports: [{ port: 9443, protocol: "TCP" }],
    });
    for (const range of ["10.0.0.1", "10.0.0.0/33", "api.example/24", "10.0.0.0/8/8"]) {
      const { err } = await run(`--base-image b --network-policy --webhook-clients ${range}`, "hooked");
      expect(err).toContain(`--webhook-clients is '${range}': expected a range of addresses such as 10.0.0.0/28`);
    }
    expect((await run("--base-image b --webhook-clients 10.0.0.0/8", "hooked")).err).toContain(
      "without --network-policy",
    );
  });

  test("names what an earlier version had and this one has not", async () => {
    const former = join(folder, "former.yaml");
    writeFileSync(former, (await run("--base-image b --network-policy")).out);
    const { err, status, out } = await run(`--image b --install-crds --former ${former}`);
    expect(status).toBe(0);
    expect(out).not.toContain("kind: NetworkPolicy");
    expect(err).toBe(
      [
        "No longer part of the manifests; kubectl apply leaves it in the cluster. To remove it:",
        "  kubectl delete networkpolicy binnacle --namespace=binnacle-system",
        "  kubectl delete configmap binnacle --namespace=binnacle-system",
        "  kubectl delete customresourcedefinition parcels.a.b   # removes every object of the kind, too",
        "",
      ].join("\n"),
    );
    expect((await run(`--base-image b --network-policy --former ${former}`)).err).toBe("");
    const hostile = (kind: string, name: string, namespace = "a") =>
      JSON.stringify({ apiVersion: "rbac.authorization.k8s.io/v1", kind, metadata: { name, namespace } });
    const names = [
      hostile("Role", "a; touch $(id)"),
      hostile("Role", "--all"),
      hostile("Role; id", "b"),
      hostile("Role", "b", "; id"),
    ];
    writeFileSync(former, names.join("\n---\n"));
    expect((await run(`--image b --former ${former}`)).err.split("\n").slice(1)).toEqual([
      "  kubectl delete role/--all --namespace=a",
      "  kubectl delete role 'a; touch $(id)' --namespace=a",
      "",
    ]);
    const missing = await run("--image b --former nothing.yaml");
    expect(missing.status).toBe(1);
    expect(missing.err).toContain("Cannot read 'nothing.yaml' (--former): ");
  });
});

describe("modules in a ConfigMap", () => {
  test("packages from npm are bundled, and the module keeps its name", async () => {
    const { data = {} } = one(await print("--base-image b", "packages"), "ConfigMap");
    expect(Object.keys(data)).toEqual(["small.ts__index.js"]);
    expect(data["small.ts__index.js"]).toContain("-padded");
    // It is asked for where the module runs.
    expect(data["small.ts__index.js"]).toContain("process.env.NODE_ENV");
    expect(data["small.ts__index.js"]).toMatch(/from\s*"binnacle"/);
    const { volumes } = one(await print("--base-image b", "packages"), "Deployment").spec.template.spec;
    expect(volumes[0].configMap.items).toEqual([{ key: "small.ts__index.js", path: "small.ts/index.js" }]);
  });

  test("what a module imports from outside of the folder, as `binnacle types` writes it, is bundled", async () => {
    const { data = {} } = one(await print("--base-image b", "elsewhere/controllers"), "ConfigMap");
    expect(Object.keys(data).sort()).toEqual(["certs.ts__index.js", "own.ts"]);
    expect(data["certs.ts__index.js"]).toContain('group:"cert-manager.io",version:"v1"');
    expect(data["certs.ts__index.js"]).toMatch(/from\s*"binnacle"/);
  });

  test("what is no text is refused, with what to do", async () => {
    const { status, err, out } = await run("--base-image b", "native");
    expect([status, out]).toEqual([1, ""]);
    expect(err).toMatch(
      /^binnacle: Cannot put 'DIR\/native\/metal\.ts' into a ConfigMap: it needs the file metal\S*\.node of a package, which is no JavaScript; build an image that holds its node_modules, and pass --image\n$/,
    );
  });

  test("a package that looks for its native addon when it runs is refused", async () => {
    const { status, err, out } = await run("--base-image b", "prebuilt");
    expect([status, out]).toEqual([1, ""]);
    expect(err).toMatch(
      /^binnacle: Cannot put 'DIR\/prebuilt\/fast\.ts' into a ConfigMap: it imports the package 'tiny-fast', a native addon; build an image that holds its node_modules, and pass --image\n$/,
    );
  });

  test("more than the API server takes is refused", async () => {
    const { status, err, out } = await run("--base-image b", "huge");
    expect([status, out]).toEqual([1, ""]);
    expect(err).toMatch(
      /^binnacle: Cannot put the modules into a ConfigMap: they take \d+ bytes of 1044480; build an image and pass --image\n$/,
    );
  });
});

test("two files that a ConfigMap would give the same key are refused", async () => {
  const { status, err, out } = await run("--base-image b", "alike");
  expect([status, out]).toEqual([1, ""]);
  expect(err).toMatch(
    /^binnacle: Cannot put '.*' and '.*' into one ConfigMap: both would have the key 'a__b\.ts'; rename one, or build an image and pass --image\n$/,
  );
});

test("a ConfigMap that kubectl apply cannot annotate with a copy of itself is named", async () => {
  const { status, err, out } = await run("--base-image b", "large");
  expect([status, documents(out).length > 0]).toEqual([0, true]);
  expect(err).toMatch(
    /^The ConfigMap binnacle takes 30\d{4} bytes: apply the manifests with kubectl apply --server-side\n$/,
  );
});

describe("--kustomize", () => {
  test("writes a base; what is no longer part of it goes, and nobody's files are touched", async () => {
    const base = join(folder, "base");
    const first = await run(`--base-image b --network-policy --kustomize ${base}`);
    expect(first).toMatchObject({ status: 0, err: "" });
    const { resources } = parse(readFileSync(join(base, "kustomization.yaml"), "utf8")) as { resources: string[] };
    expect(resources).toEqual([
      "namespace.yaml",
      "crds.yaml",
      "rbac.yaml",
      "modules.yaml",
      "network.yaml",
      "deployment.yaml",
    ]);
    const written = resources.flatMap((file) => documents(readFileSync(join(base, file), "utf8")));
    expect(written).toEqual([...(await print("--base-image b --network-policy"))]);

    writeFileSync(join(base, "mine.yaml"), "mine");
    const second = await run(`--image b --kustomize ${base}`);
    expect(second.out).toContain("Removed modules.yaml, which is no longer part of it\n");
    expect(existsSync(join(base, "network.yaml"))).toBe(false);
    expect(readFileSync(join(base, "mine.yaml"), "utf8")).toBe("mine");
  });

  test("leaves nothing behind where it cannot write", async () => {
    const file = join(folder, "file");
    writeFileSync(file, "");
    const { status, err } = await run(`--image b --kustomize ${file}/base`);
    expect([status, err]).toEqual([
      1,
      expect.stringMatching(/^binnacle: Cannot use 'DIR\/file\/base' \(--kustomize\): /),
    ]);
    const locked = join(folder, "locked");
    mkdirSync(join(locked, "base"), { recursive: true });
    writeFileSync(join(locked, "base", ".binnacle-files"), "old.yaml\n");
    mkdirSync(join(locked, "base", `rbac.yaml.${process.pid}.new`));
    expect((await run(`--image b --kustomize ${join(locked, "base")}`)).err).toContain("Cannot write into");
    expect(readdirSync(join(locked, "base")).filter((name) => name.endsWith(".yaml"))).toEqual([]);
  });

  test("writes and removes nothing that a link leads to", async () => {
    const outside = join(folder, "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "precious.yaml"), "theirs");
    for (const [flag, inner, listed] of [
      ["--kustomize", "linked", "linked/precious.yaml"],
      ["--helm", "templates", "Chart.yaml"],
    ] as const) {
      const base = join(folder, `link-${inner}`);
      mkdirSync(base);
      symlinkSync(outside, join(base, inner));
      writeFileSync(join(base, ".binnacle-files"), `${listed}\n`);
      const { status, err } = await run(`--image b ${flag} ${base}`);
      expect([status, err]).toEqual([
        1,
        expect.stringContaining(`/${inner}' is a link; remove it, or name another folder`),
      ]);
      expect(readdirSync(base).sort()).toEqual([".binnacle-files", inner]);
    }
    expect(readdirSync(outside)).toEqual(["precious.yaml"]);
    rmSync(outside, { recursive: true });
  });

  test("refuses a folder that somebody else has filled", async () => {
    const { status, err } = await run(`--image b --kustomize ${join(folder, "shop")}`);
    expect([status, err]).toEqual([
      1,
      "binnacle: Cannot write into 'DIR/shop' (--kustomize): it holds files that are not of this command; name a folder of its own\n",
    ]);
    expect(readdirSync(join(folder, "shop"))).toEqual(["parcel.ts"]);
  });
});

describe("--helm", () => {
  test("writes a chart whose values are what the command line said", async () => {
    const chart = join(folder, "chart");
    const line = `--base-image registry.example.com:5000/shop/binnacle:1.4 --replicas 3 --memory-limit 128Mi --namespace x --helm ${chart}`;
    expect(await run(`${line} --service-account shop/parcels`)).toMatchObject({ status: 0, err: "" });
    const read = (file: string): string => readFileSync(join(chart, file), "utf8");
    expect(parse(read("Chart.yaml"))).toMatchObject({ name: "parcels", version: "0.1.0", appVersion: "1.2.3" });
    expect(parse(read("values.yaml"))).toMatchObject({
      image: { repository: "registry.example.com:5000/shop/binnacle", tag: "1.4", digest: "" },
      replicas: 3,
      namespaces: ["x"],
      resources: { limits: { memory: "128Mi" } },
      crds: { install: true, keep: true },
      terminationGracePeriodSeconds: 45,
    });
    const schema = JSON.parse(read("values.schema.json")) as { properties: Record<string, { properties: object }> };
    expect(Object.keys(schema.properties["flags"]!.properties)).toContain("log-level");
    expect(Object.keys(schema.properties["flags"]!.properties)).not.toContain("controllers");
    // Every value has a schema, and nothing is left of the marks.
    const values = Object.keys(parse(read("values.yaml")) as object);
    expect(Object.keys(schema.properties)).toEqual(expect.arrayContaining(values));
    const templates = readdirSync(join(chart, "templates"))
      .map((file) => read(`templates/${file}`))
      .join("");
    expect(templates).not.toMatch(/template-mark|name-mark|namespace-mark/);
    expect(templates).toContain('Such as {{ "{{" }} .Values.to }}');
    expect(templates).toContain('namespace: "{{ $.Release.Namespace }}"');
    expect(templates).toContain(
      "terminationGracePeriodSeconds: {{ int (default 45 $.Values.terminationGracePeriodSeconds) }}",
    );
    expect(read("modules/parcel.ts")).toBe(MODULES["shop/parcel.ts"]!);
    expect(parse(read("values.yaml"))).toMatchObject({
      metrics: { serviceMonitor: false, alerts: false, dashboards: false },
    });
    expect(templates.split("{{- with $.Values.metrics.labels }}")).toHaveLength(3);
    // The values decide about the debug listener, and about the right that it needs.
    expect(parse(read("values.yaml"))).toMatchObject({ debug: { enabled: false } });
    const listens = /{{- if \$\.Values\.debug\.enabled }}\n\s+- --debug-bind-address=127\.0\.0\.1:8082\n\s+{{- end }}/;
    expect(read("templates/deployment.yaml")).toMatch(listens);
    expect(read("templates/debug.yaml")).toStartWith("{{- if $.Values.debug.enabled }}\n");
    expect(read("templates/debug.yaml")).toContain('name: "{{ $.Release.Name }}-debug"');
    expect(read("templates/rbac.yaml")).not.toContain("tokenreviews");
    expect(await run(`${line} --debug --service-account shop/parcels`)).toMatchObject({ status: 0 });
    expect(parse(read("values.yaml"))).toMatchObject({ debug: { enabled: true } });
    expect(read("templates/rbac.yaml")).not.toContain("tokenreviews");
    expect(read("templates/deployment.yaml").match(/--debug-bind-address/g)).toHaveLength(1);
    // Prometheus, and not Helm, fills in what alerts and dashboards tell.
    expect(templates).toContain('The module {{ "{{" }} $labels.module }} is {{ "{{" }} $labels.state }}.');
    expect(templates).toContain(
      'absent(up{namespace=\\"{{ $.Release.Namespace }}\\",job=\\"{{ $.Release.Name }}-metrics\\"} == 1)',
    );
    expect(await run(`${line} --monitoring --service-account shop/parcels`)).toMatchObject({ status: 0 });
    expect(parse(read("values.yaml"))).toMatchObject({
      metrics: { serviceMonitor: true, alerts: true, dashboards: true },
    });
  });

  test("refuses options that mean nothing to it", async () => {
    for (const [line, said] of [
      ["--image b --helm a --kustomize b", "--kustomize and --helm are both given: write one at a time"],
      ["--image b --helm a --chart-version one", "--chart-version is 'one': expected a version such as 1.2.3"],
    ] as const) {
      expect(await run(line)).toEqual({ status: 2, out: "", err: `binnacle: ${said}\n` });
    }
  });
});
