import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { cli } from "./cli.ts";

let folder: string;
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "binnacle-cli-")));
  mkdirSync(join(folder, "good/shop"), { recursive: true });
  mkdirSync(join(folder, "bad"));
  mkdirSync(join(folder, "empty"));
  writeFileSync(
    join(folder, "good/widget.ts"),
    `import { allow, defineController, defineResource, watch, z } from "binnacle";
    import { ConfigMap, Namespace, Secret } from "binnacle/resources";
    import { size } from "./shop/_size.ts";
    export const Widget = defineResource({ group: "a.b", version: "v1", kind: "Widget", spec: z.object({ size }) });
    export default defineController({
      for: Widget, owns: [ConfigMap], reads: [Namespace], uses: [allow(Secret, "get")],
      watches: [watch(Secret, { labels: "a=b", enqueue: () => [] })],
      async reconcile() {}, async finalize() {},
    });`,
  );
  writeFileSync(join(folder, "good/shop/_size.ts"), 'import { z } from "binnacle"; export const size = z.int();');
  mkdirSync(join(folder, "own"));
  writeFileSync(
    join(folder, "own/pods.ts"),
    `import { defineController, watch } from "binnacle";
    import { Pod } from "binnacle/resources";
    export default defineController({ for: watch(Pod, { namespaces: ["default"] }), async reconcile() {} });`,
  );
  mkdirSync(join(folder, "narrow"));
  writeFileSync(
    join(folder, "narrow/pods.ts"),
    `import { defineController, watch } from "binnacle";
    import { ConfigMap, Pod, Secret } from "binnacle/resources";
    export default defineController({
      for: watch(Pod, { namespaces: ["one", "two"] }),
      reads: [watch(Secret, { namespaces: ["one"] }), ConfigMap],
      async reconcile() {},
    });`,
  );
  mkdirSync(join(folder, "packages/node_modules/left-pad"), { recursive: true });
  writeFileSync(join(folder, "packages/node_modules/left-pad/index.js"), "module.exports = (text) => text;");
  writeFileSync(
    join(folder, "packages/_size.ts"),
    `import { join } from "node:path"; import pad from "left-pad"; export const name = pad(join("a", "b"));`,
  );
  writeFileSync(
    join(folder, "packages/pods.ts"),
    `import { defineKeyController } from "binnacle"; import { name } from "./_size.ts"; import type { T } from "only-types";
    export default defineKeyController({ name: name.replace("/", "-"), async reconcile() {} });`,
  );
  writeFileSync(join(folder, "bad/a.ts"), "export const a = 1;");
  writeFileSync(join(folder, "config.yaml"), `controllers: ["${folder}/good"]\n`);
  writeFileSync(
    join(folder, "all.yaml"),
    `controllers: ["${folder}/bad"]\ngrace-period: 3s\nserver: real\ncheck: { controllers: ["${folder}/good"] }\nmanifests: { image: x }\n`,
  );
  writeFileSync(join(folder, "typo.yaml"), `contrllers: ["${folder}/good"]\n`);
});
afterAll(() => rmSync(folder, { recursive: true }));

async function run(line: string, env: Record<string, string> = {}) {
  const out: string[] = [];
  const err: string[] = [];
  const offered = async () => ({
    binnacle: await import("../index.ts"),
    "binnacle/resources": await import("../resource/builtin/index.ts"),
  });
  const embedded = {
    version: "1.2.3+abc",
    offered,

    sdk: () => Promise.resolve(undefined),
    source: undefined,
  };
  const args = line
    .replaceAll("DIR", folder)
    .split(" ")
    .filter((word) => word !== "");
  const status = await cli(args, { embedded, env, out: (text) => out.push(text), err: (text) => err.push(text) });
  return { status, out: out.join(""), err: err.join("").replaceAll(folder, "DIR") };
}

const usage: readonly [string, string][] = [
  ["", "Say what to do, such as `binnacle run`"],
  ["completion tcsh", "shell is 'tcsh': expected bash, zsh, fish"],
  ["rnu", "Unknown command 'rnu', did you mean 'run'?"],
  ["run --contrllers x", "Unknown flag --contrllers, did you mean --controllers?"],
  ["run -x", "Unknown flag -x"],
  ["run extra", "Unexpected argument 'extra'"],
  ["run --controllers", "--controllers needs a value"],
  ["run --controllers DIR/good --kube-api-burst 5", "without --kube-api-qps: add it"],
  ["run --controllers DIR/good --metrics-cert-path x", "--metrics-cert-path is given without --metrics-secure"],
  ["manifests", "Say what to print"],
  ["manifests all", "what is 'all': expected crds, rbac, webhooks, monitoring, deploy"],
  ["manifests rbac --service-account x", "--service-account is 'x': expected namespace/name"],
  ["check --config DIR/none.yaml", "Cannot read --config 'DIR/none.yaml': there is no such file"],
  ["check --config DIR/typo.yaml", "Unknown option 'contrllers' in DIR/typo.yaml, did you mean 'controllers'?"],
];
test.each(usage)("`binnacle %s` is a usage error of one line", async (line, message) => {
  const { status, err, out } = await run(line.includes("service-account") ? `${line} --controllers DIR/good` : line);
  expect(err).toContain(message);
  expect(err.trim().split("\n")).toHaveLength(1);
  expect([status, out]).toEqual([2, ""]);
});

const failures: readonly [string, string][] = [
  ["run --controllers DIR/none", "Cannot find the controllers folder 'DIR/none': create it, or name another"],
  ["run --controllers DIR/good,DIR/bad", "DIR/bad': name several folders with --controllers once for each"],
  ["run --controllers DIR/empty", "Cannot find a module in 'DIR/empty'"],
  ["run --controllers DIR/good --kubeconfig DIR/none", "Cannot read the kubeconfig DIR/none: there is no such file"],
  ["manifests crds --controllers DIR/bad", "DIR/bad/a.ts: Cannot find a definition"],
];
test.each(failures)("`binnacle %s` fails with one line", async (line, message) => {
  const { status, err } = await run(line);
  expect(err).toContain(message);
  expect(err.trim().split("\n")).toHaveLength(1);
  expect(status).toBe(1);
});

test("--help lists commands, and a command's flags", async () => {
  const { status, out } = await run("--help");
  expect(status).toBe(0);
  expect(out).toMatch(/binnacle manifests \[what\] +Print YAML for kubectl apply/);
  expect((await run("run --help")).out).toContain("--install-crds");
});

test("completion prints the script of the shell that is named, else of $SHELL, else of bash", async () => {
  expect((await run("completion zsh", { SHELL: "/bin/fish" })).out).toStartWith("#compdef binnacle");
  expect((await run("completion", { SHELL: "/usr/bin/fish" })).out).toContain("complete -f -c binnacle");
  expect((await run("completion", { SHELL: "/bin/sh" })).out).toContain("complete -o bashdefault");
  expect((await run("__complete zsh binnacle completion f")).out).toBe("fish\n");
  expect((await run("__complete zsh binnacle che")).out).toStartWith("check:Load and type-check");
  expect((await run("__complete fish binnacle che")).out).toStartWith("check\tLoad and type-check");
});

test("completion in bash completes commands, flags and values", async () => {
  const script = `${(await run("completion bash")).out}
    binnacle() { printf '%s\n' "$3,$4" "$5" "$#"; }
    COMP_WORDS=(binnacle run --log-level d more); COMP_CWORD=3; _binnacle; echo "\${COMPREPLY[@]}"`;
  const { stdout } = Bun.spawnSync(["bash", "--norc", "-c", script]);
  expect(stdout.toString()).toBe("binnacle,run --log-level 6\n");
});

test("version", async () => {
  const { status, out } = await run("version");
  expect(out).toStartWith("binnacle 1.2.3+abc (");
  expect(status).toBe(0);
});

test("check lists controllers, what they watch, and permissions", async () => {
  const { status, out } = await run("check --no-types --config DIR/config.yaml");
  expect(status).toBe(0);
  expect(out.replaceAll(folder, "DIR")).toMatchInlineSnapshot(`
    "DIR/good/widget.ts
      resource Widget (a.b/v1)
      controller widget
        for         Widget (a.b/v1)
        owns        ConfigMap (v1)
        watches     Secret (v1) [labels a=b]
        reads       Namespace (v1)
        finalizer   a.b/widget
        permissions configmaps: get list watch create update patch delete
                    namespaces secrets: get list watch
                    widgets.a.b: get list watch patch
                    widgets/finalizers.a.b: update
                    widgets/status.a.b: update patch
                    events.events.k8s.io: create patch
    "
  `);
});

test("check lists what is permitted in a controller's own namespaces alone", async () => {
  const { status, out } = await run("check --no-types --controllers DIR/narrow");
  expect(status).toBe(0);
  expect(out.replaceAll(folder, "DIR")).toMatchInlineSnapshot(`
    "DIR/narrow/pods.ts
      controller pod
        for         Pod (v1) [namespaces one two]
        reads       Secret (v1) [namespaces one], ConfigMap (v1)
        permissions configmaps: get list watch
                    pods secrets: get list watch in namespace one
                    pods/status: patch in namespaces one two
                    events.events.k8s.io: create patch in namespaces one two
                    pods: get list watch in namespace two
    "
  `);
});

test("one --config file serves all commands, and has a section for each", async () => {
  const checked = await run("check --no-types --config DIR/all.yaml");
  expect(checked).toMatchObject({ status: 0, err: "" });
  expect((await run("version --config DIR/all.yaml")).status).toBe(0);
  const { err } = await run("manifests crds --config DIR/all.yaml");
  expect(err).toContain("DIR/bad/a.ts: Cannot find a definition");
});

test("check fails for a module that cannot be loaded", async () => {
  const { status, err } = await run("check --no-types", { BINNACLE_CONTROLLERS: `${folder}/bad` });
  expect(err).toContain("error: DIR/bad/a.ts: Cannot find a definition");
  expect(status).toBe(1);
});

describe("manifests", () => {
  type Rule = { apiGroups: string[]; resources: string[]; verbs: string[] };
  const documents = async (line: string) => {
    const named = line.includes("--service-account") ? "" : "--name binnacle";
    const { out, status } = await run(`manifests ${line} ${named} --controllers DIR/good`);
    expect(status).toBe(0);
    return parseAllDocuments(out, { version: "1.1" }).map((one) => one.toJS() as Record<string, any>); // oxlint-disable-line typescript/no-explicit-any -- YAML of any kind
  };

  test("crds", async () => {
    expect((await documents("crds")).map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
      "CustomResourceDefinition widgets.a.b",
    ]);
  });

  test("rbac grants what is declared, and nothing by wildcard", async () => {
    const [namespace, role, binding, leases] = await documents("rbac");
    expect(namespace).toMatchObject({ kind: "Namespace", metadata: { name: "binnacle-system" } });
    expect(leases).toMatchObject({
      kind: "Role",
      metadata: { namespace: "binnacle-system" },
      rules: [
        { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["create"] },
        {
          apiGroups: ["coordination.k8s.io"],
          resources: ["leases"],
          resourceNames: ["binnacle"],
          verbs: ["get", "watch", "update"],
        },
        { apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create", "patch"] },
      ],
    });
    const rules = (role!["rules"] as Rule[]).map(
      ({ apiGroups, resources, verbs }) => `${apiGroups.join()} ${resources.join()}: ${verbs.join(" ")}`,
    );
    expect(rules).toEqual([
      " configmaps: get list watch create update patch delete",
      " namespaces,secrets: get list watch",
      "a.b widgets: get list watch patch",
      "a.b widgets/finalizers: update",
      "a.b widgets/status: update patch",
      "events.k8s.io events: create patch",
    ]);
    expect(role!["kind"]).toBe("ClusterRole");
    expect(binding!["subjects"]).toEqual([{ kind: "ServiceAccount", name: "binnacle", namespace: "binnacle-system" }]);
  });

  test("rbac says what rare verbs are for", async () => {
    const { out } = await run("manifests rbac --name binnacle --controllers DIR/good");
    expect(out).toContain(
      "# for owner references, where the admission plugin OwnerReferencesPermissionEnforcement is on",
    );
    expect(out).toContain("# patch: where an Event that repeats becomes a series");
    expect(out).toContain("# get: after a conflict, and where a cache has no answer");
  });

  test("rbac with namespaces: Roles there, a ClusterRole only for kinds without a namespace", async () => {
    const all = await documents("rbac --namespace x --namespace y");
    expect(all.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ""}`.trim())).toEqual([
      "Namespace",
      "ClusterRole",
      "ClusterRoleBinding",
      "Role x",
      "RoleBinding x",
      "Role y",
      "RoleBinding y",
      "Role binnacle-system",
      "RoleBinding binnacle-system",
    ]);
    expect((all[1]!["rules"] as Rule[]).flatMap(({ resources }) => resources)).toEqual(["namespaces"]);
  });

  test("rbac grants what a controller watches in namespaces of its own there, and only there", async () => {
    const { out, status } = await run("manifests rbac --name binnacle --namespace x --controllers DIR/own");
    expect(status).toBe(0);
    const all = parseAllDocuments(out, { version: "1.1" }).map((one) => one.toJS() as Record<string, any>); // oxlint-disable-line typescript/no-explicit-any -- YAML of any kind
    const roles = all.filter(({ kind }) => kind === "Role" || kind === "ClusterRole");
    expect(
      roles.map(
        ({ metadata, rules }) =>
          `${metadata.namespace}: ${(rules as Rule[]).flatMap(({ resources }) => resources).join()}`,
      ),
    ).toEqual(["default: pods,pods/status,events", "binnacle-system: leases,leases,events"]);
  });

  test("secured metrics need reviews, and come with a role for those who read them", async () => {
    const all = await documents("deploy --metrics-secure --base-image example.com/binnacle:1");
    const rules = all.find(({ kind }) => kind === "ClusterRole")!["rules"] as (Rule & { readonly verbs: string[] })[];
    expect(rules.map(({ resources, verbs }) => `${resources.join()} ${verbs.join()}`)).toContain("tokenreviews create");
    expect(rules.map(({ resources, verbs }) => `${resources.join()} ${verbs.join()}`)).toContain(
      "subjectaccessreviews create",
    );
    const reader = all.find(({ metadata }) => metadata.name === "binnacle-metrics-reader")!;
    expect(reader).toMatchObject({ kind: "ClusterRole", rules: [{ nonResourceURLs: ["/metrics"], verbs: ["get"] }] });
    const [container] = all.find(({ kind }) => kind === "Deployment")!["spec"].template.spec.containers;
    expect(container.args).toContain("--metrics-secure");
    expect(container.ports[1]).toEqual({ name: "metrics", containerPort: 8443 });
  });

  test("deploy from a ConfigMap holds the modules' files, and the kinds they define", async () => {
    const all = await documents("deploy --service-account ops/shop --base-image example.com/binnacle:1");
    expect(all.map(({ kind }) => kind)).toEqual([
      "Namespace",
      "CustomResourceDefinition",
      "ServiceAccount",
      "ClusterRole",
      "ClusterRoleBinding",
      "Role",
      "RoleBinding",
      "ConfigMap",
      "Deployment",
      "PodDisruptionBudget",
    ]);
    expect(Object.keys(all[7]!["data"])).toEqual(["shop___size.ts", "widget.ts"]);
    const pod = all[8]!["spec"].template.spec;
    expect(pod.volumes[0].configMap.items[0]).toEqual({ key: "shop___size.ts", path: "shop/_size.ts" });
    expect(pod.containers[0]).toMatchObject({
      image: "example.com/binnacle:1",
      args: ["run", "--controllers=/controllers", "--leader-elect=process", "--leader-election-id=shop"],
      readinessProbe: { httpGet: { path: "/readyz" } },
    });
    expect(all[8]!["spec"]).toMatchObject({ replicas: 2, strategy: { type: "RollingUpdate" } });
  });

  test("deploy with --install-crds grants what that takes, for its kinds alone", async () => {
    const all = await documents("deploy --image example.com/shop:1 --install-crds --namespace x");
    expect(all.map(({ kind }) => kind)).not.toContain("CustomResourceDefinition");
    const [container] = all.find(({ kind }) => kind === "Deployment")!["spec"].template.spec.containers;
    expect(container.args.slice(0, 4)).toEqual([
      "run",
      "--controllers=/controllers",
      "--namespace=x",
      "--install-crds",
    ]);
    const { rules } = all.find(({ kind }) => kind === "ClusterRole") as { readonly rules?: Rule[] };
    expect(rules?.slice(-2)).toEqual([
      {
        apiGroups: ["apiextensions.k8s.io"],
        resources: ["customresourcedefinitions"],
        resourceNames: ["widgets.a.b"],
        verbs: ["get", "create", "patch"],
      },
      { apiGroups: ["a.b"], resources: ["widgets"], verbs: ["list"] },
    ] as never);
    const granted = (await documents("rbac --install-crds")).find(({ kind }) => kind === "ClusterRole");
    expect(JSON.stringify(granted)).toContain("customresourcedefinitions");
  });

  test("deploy of one replica without an election has no Lease, and two of those are refused", async () => {
    const all = await documents("deploy --image b --replicas 1 --leader-elect=false");
    expect(JSON.stringify(all)).not.toContain("lease");
    expect(all.at(-1)).toMatchObject({ kind: "Deployment", spec: { replicas: 1, strategy: { type: "Recreate" } } });
    const { status, err } = await run(
      "manifests deploy --name binnacle --controllers DIR/good --image b --leader-elect=false",
    );
    expect([status, err]).toEqual([
      2,
      "binnacle: --replicas is 2 with --leader-elect=false: they would reconcile the same objects; leave one of the two out\n",
    ]);
    // A chart with this value would be refused by its own schema.
    expect(
      await run("manifests deploy --name binnacle --controllers DIR/good --image b --replicas 65 --helm DIR/chart"),
    ).toMatchObject({
      status: 2,
      err: "binnacle: --replicas is 65: expected at most 64\n",
    });
  });

  test("deploy with shards rolls replicas that all work, and grants their Leases by name", async () => {
    const all = await documents("deploy --image b --shards 3 --replicas 3");
    expect(all.map(({ kind }) => kind)).toContain("PodDisruptionBudget");
    const { spec } = all.find(({ kind }) => kind === "Deployment")!;
    expect(spec).toMatchObject({ replicas: 3, strategy: { type: "RollingUpdate" } });
    expect(spec.template.spec.containers[0].args).toContain("--shards=3");
    expect(spec.template.spec.containers[0].args).toContain("--leader-election-id=binnacle");
    const { rules } = all.find(({ kind }) => kind === "Role") as { readonly rules?: Rule[] };
    expect(rules).toEqual([
      { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["list", "watch", "create"] },
      {
        apiGroups: ["coordination.k8s.io"],
        resources: ["leases"],
        resourceNames: ["binnacle-shard-0", "binnacle-shard-1", "binnacle-shard-2"],
        verbs: ["get", "update"],
      },
    ] as never);
    for (const [flags, said] of [
      ["--shards 0", "--shards is '0': expected auto, or a number from 1 to 64"],
      ["--shards some", "--shards is 'some': expected auto, or a number from 1 to 64"],
      [
        "--shards 2 --leader-elect=module",
        "--shards and --leader-elect=module exclude each other: each replica works a part of all modules, or some of them; leave one out",
      ],
    ]) {
      const { status, err } = await run(`manifests deploy --controllers DIR/good --image b ${flags}`);
      expect([status, err]).toEqual([2, `binnacle: ${said}\n`]);
    }
  });

  test("deploy with an election for each module grants the Lease of each", async () => {
    const all = await documents("deploy --image b --leader-elect=module");
    const role = all.find(({ kind }) => kind === "Role") as {
      readonly rules?: (Rule & { resourceNames?: string[] })[];
    };
    expect(role.rules?.flatMap(({ resourceNames }) => resourceNames ?? [])).toContain("binnacle-widget");
  });

  test("deploy of several folders grants the Leases of modules that are in one folder in the pod", async () => {
    const all = await documents("deploy --image b --leader-elect=module --controllers DIR/own");
    const roles = all.filter(({ kind, metadata }) => kind === "Role" && metadata.namespace === "binnacle-system");
    const rules = roles.flatMap((role) => role["rules"] as readonly { readonly resourceNames?: readonly string[] }[]);
    expect(rules.flatMap(({ resourceNames }) => resourceNames ?? []).sort()).toEqual([
      "binnacle-pods",
      "binnacle-widget",
    ]);
  });

  test("deploy names no image that nobody builds", async () => {
    const { status, err, out } = await run("manifests deploy --name binnacle --controllers DIR/good");
    expect([status, out]).toEqual([2, ""]);
    expect(err).toBe(
      "binnacle: Say which image to run: --base-image of one that holds the binary, with the modules in a ConfigMap, or --image of " +
        "one that holds both\n",
    );
  });

  test("deploy puts a module with npm packages into a ConfigMap as one file, of the module's name", async () => {
    const { status, out } = await run("manifests deploy --name binnacle --controllers DIR/packages --base-image b");
    expect(status).toBe(0);
    expect(out).toContain("path: pods.ts/index.js");
    expect(out).not.toContain("left-pad");
  });

  test("deploy from an image has no ConfigMap", async () => {
    const all = await documents("deploy --image example.com/shop:1 --namespace x");
    expect(all.some(({ kind }) => kind === "ConfigMap")).toBe(false);
    const [container] = all.find(({ kind }) => kind === "Deployment")!["spec"].template.spec.containers;
    expect(container.image).toBe("example.com/shop:1");
    expect(container.volumeMounts).toBeUndefined();
  });
});
